"""Build tables of retrieval prompts and elicitation prompts from feature norms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.elicitation import elicit
from tacit.probes.assumptions.properties import Filters, choose_concepts, word_properties
from tacit.probes.assumptions.retrieval import Asking, retrieval_prompts
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.vocabulary import read_words
from tacit.sources.norms import read_norms

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.elicitation import Phrasing
    from tacit.probes.assumptions.options import NormsOptions
    from tacit.probes.assumptions.properties import WordedNorms
    from tacit.sources.norms import Norms


def left_out_of(worded: WordedNorms) -> pl.DataFrame:
    """List the properties excluded from prompts, by decreasing production frequency."""
    import polars as pl

    rows = [(one.concept, one.feature, one.frequency, why) for one, why in worded.left_out]
    names = dict.fromkeys(("concept", "feature", "pf", "reason"), pl.String) | {"pf": pl.Int64}
    table = pl.DataFrame(rows, names, orient="row")
    return table.sort("pf", descending=True, maintain_order=True)


def retrieval_prompts_of(
    options: NormsOptions, wording: str, vocabulary: Path | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    """Build a table of retrieval prompts, which ask for a concept by its properties."""
    import polars as pl

    norms, own = read_norms(options.norms), options.own_wordings()
    worded = word_properties(norms, own, people=options.least_people, words=options.most_words)
    words = None if vocabulary is None else read_words(vocabulary).words
    filters = Filters(options.concepts, options.articles, words, options.least)
    chosen = choose_concepts(worded, filters).limited(options.limit)
    prompts = retrieval_prompts(chosen.concepts, Asking(wording, options.articles))
    table = pl.DataFrame(
        [(one.word, one.n, one.text, one.answer) for one in prompts],
        {"concept": pl.String, "n": pl.Int64, "text": pl.String, "answer": pl.String},
        orient="row",
    )
    if options.articles == "fixed":
        table = table.drop("answer")  # equals the concept
    properties = {
        "usable": worded.usable,
        **worded.dropped,
        "corrected": worded.corrected,
        **{f"by the feature: {why}": count for why, count in worded.from_feature.items()},
    }
    found = {
        "properties": properties,
        "namings": worded.namings,
        "filters": [step.to_json() for step in chosen.steps],
        "concepts": len(chosen.concepts),
    }
    return table, left_out_of(worded), _summary(norms, own, found, table)


def elicitation_prompts(
    options: NormsOptions, phrasing: Phrasing
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Build a table of elicitation prompts, which ask for the properties of a concept."""
    import polars as pl

    norms, own = read_norms(options.norms), options.own_wordings()
    asked = elicit(
        norms,
        phrasing,
        own,
        concepts=options.concepts,
        responses=options.responses,
        people=options.least_people,
    ).limited(norms, options.limit)
    published = load_templates().published if norms.layout == "cslb" else {}
    rows = [
        (
            prompt.relation,
            prompt.concept,
            prompt.text,
            json.dumps({one.word: one.frequency for one in prompt.responses}, ensure_ascii=False),
        )
        for prompt in asked.prompts
    ]
    columns = ("relation", "concept", "text", "responses")
    table = pl.DataFrame(rows, dict.fromkeys(columns, pl.String), orient="row")
    relations = {
        relation: {
            "prompts": count,
            "published": published.get(relation),
            "without": asked.without[relation],
        }
        for relation, count in asked.counts().items()
    }
    found = {
        "relations": relations,
        "filters": [step.to_json() for step in asked.steps],
        "responses": dict(asked.notes),
        "concepts": len({prompt.concept for prompt in asked.prompts}),
    }
    return table, _summary(norms, own, found, table)


def _summary(
    norms: Norms, own: tuple[Correction, ...], found: dict[str, Any], table: pl.DataFrame
) -> dict[str, Any]:
    about = {
        "layout": norms.layout,
        "rows": norms.rows,
        "properties": len(norms.properties),
        "concepts": len(norms.by_concept()),
        "skipped": dict(norms.skipped),
        "uncounted": {problem: list(lines) for problem, lines in norms.uncounted.items()},
    }
    unmatched = [one.shown for one in Corrections(norms, own).unmatched]
    return {
        "norms": about,
        **found,
        "unmatched_corrections": unmatched,
        "prompts": table.height,
    }
