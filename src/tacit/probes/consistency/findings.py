"""The findings of a run: from the scores of all prompts to every table."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.findings.findings import Findings, votes_summary
from tacit.knowledge.frequency import mean_zipf
from tacit.probes.consistency import background, consistency, intervention, predictors
from tacit.probes.consistency.answers import (
    ModelAnswers,
    anchor_answers,
    anchors_with_answers,
    answers_about_facts,
    labelled,
    score_tables,
    scored_words,
    scores_of_choices,
)
from tacit.probes.consistency.baselines import anchor_baselines
from tacit.probes.consistency.block import verdict_of
from tacit.probes.consistency.controls import Controls
from tacit.probes.consistency.details import negative_examples
from tacit.probes.consistency.features import by_choice, features
from tacit.probes.consistency.no_knowledge import no_knowledge
from tacit.probes.consistency.questions import BACKGROUND, anchor_frame, in_context
from tacit.probes.consistency.summary import counts, intervals, score_counts
from tacit.probes.consistency.tables import TABLES
from tacit.probes.consistency.variants import background_variants
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.base import Answers
    from tacit.probes.consistency.probe import ConsistencyProbe


def findings(probe: ConsistencyProbe, answers: Answers) -> Findings:
    """Compute the findings of a probe from scores, or from the votes of sampled replies."""
    scores = scored(probe, answers)
    found = answered(probe, scores)
    yes = background.answered(found)
    rows = predictors.Rows.of(features(found), found.anchors)
    tables = _tables(probe, scores, found, yes) | predictors.tables(rows, Bootstrap())
    every = [one for name in answers.groups for one in answers.votes(name)]
    summary = {
        "verdict": verdict_of(yes, tables).to_json(),
        "prompts": len(probe.prompts),
        **counts(found),
        **({"votes": votes_summary(every)} if answers.sampled else score_counts(scores)),
        **_how(probe, tables),
        "predictor": predictors.summary(rows),
    }
    asked = TABLES["questions"].frame(scored_words(scores[BACKGROUND], "question"))
    return Findings(asked, tables, summary)


def scored(probe: ConsistencyProbe, answers: Answers) -> dict[str, pl.DataFrame]:
    return {
        name: labelled(answers.frame(name), probe.templates.pairs)
        if {"question", "choice"} & set(group.keys.columns)
        else scores_of_choices(answers.frame(name))
        for name, group in answers.groups.items()
    }


def answered(probe: ConsistencyProbe, scores: Mapping[str, pl.DataFrame]) -> ModelAnswers:
    links, first = probe.asked.links, probe.anchoring[0]
    about_facts = answers_about_facts(probe.asked.questions, scores[BACKGROUND], probe.method)
    linked = links.join(about_facts, on="fact", maintain_order="left")
    frequency = mean_zipf(probe.background.concepts, len(probe.anchors))
    anchors, others = anchors_with_answers(
        anchor_frame(probe.anchors).with_columns(frequency=frequency),
        background.by_anchor(linked),
        {group: anchor_answers(scores[group]) for group in probe.anchoring},
    )
    choices = by_choice(probe.anchors, scores, first)
    return ModelAnswers(probe.asked.facts, links, about_facts, anchors, choices, others)


def _tables(
    probe: ConsistencyProbe,
    scores: Mapping[str, pl.DataFrame],
    found: ModelAnswers,
    yes: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Compute all tables of findings but those on prediction."""
    how, bootstrap = Permutations(), Bootstrap()
    anchors = found.anchors
    relations = background.by_relation(found, bootstrap)
    tables = {
        "facts": found.facts,
        "fact_answers": found.fact_answers,
        "links": found.links,
        "anchors": anchors,
        **score_tables(scores),
        "consistency": consistency.overall(anchors, how),
        "adjusted": consistency.adjusted(anchors, how),
        "controls": Controls(probe.anchors, probe.background, found).table(how),
        "consistency_by_relation": consistency.by_relation(found, how),
        "consistency_by_concept": consistency.by_concept(found, how),
        "background_by_relation": relations,
        "background_score": background.overall(relations, anchors),
        "anchor_accuracy": background.anchor_accuracy(anchors, bootstrap),
        "relevance": background.relevance(found, how),
        "background_variants": background_variants(scores[BACKGROUND], found),
        "background_answers": background.background_answers(yes, bootstrap),
        "accuracy_by_score": consistency.accuracy_by_score(anchors, bootstrap),
        "anchor_baselines": anchor_baselines(probe.anchors, found, bootstrap),
        "negative_examples": negative_examples(found),
    }
    if found.others is not None:
        tables["other_answers"] = found.others
    if probe.background.tails is not None:
        tables["no_knowledge"] = no_knowledge(probe.background.tails, found, bootstrap)
    if probe.contexts is not None:
        texts = probe.contexts.texts
        chosen = {name: anchor_answers(scores[in_context(name)]) for name in texts}
        tables |= intervention.tables(probe.contexts, chosen, found)
    return tables


def _how(probe: ConsistencyProbe, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return for the summary how the facts were found, stated and asked about."""
    found: dict[str, Any] = {
        "repeated_choices": sum(anchor.repeated for anchor in probe.anchors),
        "intervals": intervals(Permutations(), Bootstrap()),
    }
    if probe.background.counts is not None:
        found |= asdict(probe.background.counts)
    if probe.options.fast:
        found["fast"] = (
            "every question is asked in one prompt variant alone (meta-prompt "
            f"{probe.method.meta}, {probe.method.pair})"
        )
    if probe.contexts is not None:
        found["intervention"] = intervention.summary(
            probe.contexts, probe.anchoring[0], tables["intervention"]
        )
    return found
