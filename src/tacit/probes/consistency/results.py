"""The findings of a run: from the scores of all prompts to every table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.findings.findings import Findings, votes_summary
from tacit.knowledge.background import mean_zipf
from tacit.probes.base import Answers
from tacit.probes.consistency import TABLES, background, intervention, lift, predictors
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
from tacit.probes.consistency.questions import (
    BACKGROUND,
    CHOICE,
    VERIFY,
    anchor_frame,
    in_context,
)
from tacit.probes.consistency.variants import background_variants
from tacit.statistics import Bootstrap
from tacit.statistics.permutation import Permutations

if TYPE_CHECKING:
    from tacit.probes.consistency.probe import ConsistencyProbe


def findings(probe: ConsistencyProbe, answers: Answers) -> Findings:
    """Compute the findings of a probe from scores, or from the votes of sampled replies."""
    scores = scored(probe, answers)
    answered = model_answers(probe, scores)
    yes = background.distinct_answers(answered)
    rows = predictors.TrainingSet.of(features(answered), answered.anchors)
    tables = _tables(probe, scores, answered, yes) | predictors.tables(rows, Bootstrap())
    every = [one for group in answers.groups.values() for one in group.answers]
    summary = {
        "verdict": verdict_of(yes, tables).to_json(),
        "prompts": len(probe.prompts),
        **_counts(answered),
        **({"votes": votes_summary(every)} if answers.sampled else _score_counts(scores)),
        **_how(probe, tables),
        "predictor": predictors.summary(rows),
    }
    asked = TABLES["questions"].frame(scored_words(scores[BACKGROUND], "question"))
    return Findings(asked, tables, summary)


def scored(probe: ConsistencyProbe, answers: Answers) -> dict[str, pl.DataFrame]:
    """Return the scores of each group: of words like "yes", or of the texts of choices."""
    return {
        name: labelled(answers.frame(name), probe.templates.pairs)
        if {"question", "choice"} & set(group.keys.columns)
        else scores_of_choices(answers.frame(name))
        for name, group in answers.groups.items()
    }


def model_answers(probe: ConsistencyProbe, scores: Mapping[str, pl.DataFrame]) -> ModelAnswers:
    """Decide all answers, and join the anchors' with the background scores."""
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
    answered: ModelAnswers,
    yes: pl.DataFrame,
) -> dict[str, pl.DataFrame]:
    """Compute all tables of findings but those on prediction."""
    how, bootstrap = Permutations(), Bootstrap()
    anchors = answered.anchors
    relations = background.by_relation(answered, bootstrap)
    tables = {
        "facts": answered.facts,
        "fact_answers": answered.fact_answers,
        "links": answered.links,
        "anchors": anchors,
        **score_tables(scores),
        "consistency": lift.overall(anchors, how),
        "adjusted": lift.adjusted(anchors, how),
        "controls": Controls(probe.anchors, probe.background, answered).table(how),
        "consistency_by_relation": lift.by_relation(answered, how),
        "consistency_by_concept": lift.by_concept(answered, how),
        "background_by_relation": relations,
        "background_score": background.mean_over_relations(relations, anchors),
        "anchor_accuracy": background.anchor_accuracy(anchors, bootstrap),
        "relevance": background.relevance(answered, how),
        "background_variants": background_variants(scores[BACKGROUND], answered),
        "background_answers": background.background_answers(yes, bootstrap),
        "accuracy_by_score": lift.accuracy_by_score(anchors, bootstrap),
        "anchor_baselines": anchor_baselines(probe.anchors, answered, bootstrap),
        "negative_examples": negative_examples(answered),
    }
    if answered.others is not None:
        tables["other_answers"] = answered.others
    if probe.background.tails is not None:
        tables["no_knowledge"] = no_knowledge(probe.background.tails, answered, bootstrap)
    if probe.contexts is not None:
        texts = probe.contexts.texts
        chosen = {name: anchor_answers(scores[in_context(name)]) for name in texts}
        tables |= intervention.tables(probe.contexts, chosen, answered)
    return tables


def _how(probe: ConsistencyProbe, tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return for the summary how the facts were found, stated and asked about."""
    about: dict[str, Any] = {
        "repeated_choices": sum(anchor.repeated for anchor in probe.anchors),
        "intervals": _intervals(Permutations(), Bootstrap()),
    }
    about |= probe.background.counts
    if probe.options.fast:
        about["fast"] = (
            "every question is asked in one prompt variant alone (meta-prompt "
            f"{probe.method.meta}, {probe.method.pair})"
        )
    if probe.contexts is not None:
        about["intervention"] = intervention.summary(
            probe.contexts, probe.anchoring[0], tables["intervention"]
        )
    return about


def _counts(answered: ModelAnswers) -> dict[str, int]:
    """Count facts and questions: all, unanswered, tied, or answered without a margin."""
    anchors, answers = answered.anchors, answered.fact_answers
    distinct = answers.unique("question")
    return {
        "anchors": anchors.height,
        "without_facts": anchors.filter(facts=0).height,
        "without_background_score": anchors.filter(pl.col("facts") > 0)[
            "background_score"
        ].null_count(),
        "without_answer": anchors["right"].null_count(),
        "tied_anchors": int(anchors["tied"].sum()),
        "facts": answered.facts.height,
        "without_negative": answered.facts["negative"].null_count(),
        "facts_without_answer": answers.filter(background.YES)["right"].null_count(),
        "negatives_without_answer": answers.filter(~background.YES)["right"].null_count(),
        "questions": distinct.height,
        "missing_questions": distinct["right"].null_count(),
        "tied_questions": int(distinct["tied"].sum()),
        "without_margin": distinct.drop_nulls("right")["margin"].null_count(),
    }


def _score_counts(scores: Mapping[str, pl.DataFrame]) -> dict[str, int]:
    """Count candidate answers: all, unscored, multi-token, merged with the prompt."""
    words = scores[BACKGROUND]
    anchors = [scores[name] for name in (CHOICE, VERIFY) if name in scores]
    return {
        "inputs": words.height,
        "inputs_of_several_tokens": int((words["tokens"] > 1).sum()),
        "inputs_without_score": words["score"].null_count(),
        "anchor_inputs": sum(each.height for each in anchors),
        "anchor_inputs_without_score": sum(each["score"].null_count() for each in anchors),
        "spanned": sum(int(each["spanned"].sum()) for each in (words, *anchors)),
    }


def _intervals(how: Permutations, bootstrap: Bootstrap) -> dict[str, Any]:
    by_concept = {"clusters": "question concept"}
    of_facts = {**bootstrap.to_json(), "clusters": "first concept of the fact"}
    return {
        "consistency": {**how.to_json(), **by_concept},
        "background_score": {"method": "Student's t", "over": "relations"},
        "background_by_relation": of_facts,
        "no_knowledge": of_facts,
        "others": {**bootstrap.to_json(), **by_concept},
    }
