"""Build tables of retrieval prompts and elicitation prompts from feature norms."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.elicitation import elicit, elicitation_text
from tacit.probes.assumptions.properties import choose_concepts, word_properties
from tacit.probes.assumptions.retrieval import Asking, retrieval_prompts
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.vocabulary import read_words
from tacit.sources.norms import read_norms

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.options import NormsOptions
    from tacit.probes.assumptions.properties import WordedNorms
    from tacit.sources.norms import Norms


def left_out_of(worded: WordedNorms) -> pl.DataFrame:
    """List the properties excluded from prompts, by decreasing production frequency."""
    rows = [
        {"concept": one.concept, "feature": one.feature, "pf": one.frequency, "reason": why}
        for one, why in worded.left_out
    ]
    table = _frame(rows, "concept", "feature", "pf", "reason")
    return table.sort("pf", descending=True, maintain_order=True)


def retrieval_table(
    options: NormsOptions, wording: str, vocabulary: Path | None = None
) -> tuple[pl.DataFrame, pl.DataFrame, dict[str, Any]]:
    """Return retrieval prompts, the properties that are left out, and counts."""
    norms, own = read_norms(options.norms), options.own_wordings()
    worded = word_properties(norms, options, own)
    words = None if vocabulary is None else read_words(vocabulary).words
    chosen = choose_concepts(worded, options, words)
    prompts = retrieval_prompts(chosen.concepts, Asking(wording, options.articles))
    rows = [
        {"concept": one.word, "n": one.n, "text": one.text, "answer": one.answer} for one in prompts
    ]
    # A fixed article is no part of the answer, which then equals the concept.
    answer = ("answer",) if options.articles == "candidate" else ()
    table = _frame(rows, "concept", "n", "text", *answer)
    found = {
        "properties": {
            **worded.counts,
            **{f"by the feature: {why}": count for why, count in worded.from_feature.items()},
        },
        "namings": worded.namings,
        "filters": [step.to_json() for step in chosen.steps],
        "concepts": len(chosen.concepts),
    }
    return table, left_out_of(worded), _summary(norms, own, found, table)


def elicitation_table(
    options: NormsOptions, wording: str, *, preface: bool
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return elicitation prompts with people's responses, and counts."""
    norms, own = read_norms(options.norms), options.own_wordings()
    asked = elicit(norms, options, own)
    rows = [
        {
            "relation": one.relation,
            "concept": one.concept,
            "text": elicitation_text(one.relation, one.concept, wording, preface=preface),
            "responses": json.dumps(
                {each.word: each.frequency for each in one.responses}, ensure_ascii=False
            ),
        }
        for one in asked.prompts
    ]
    table = _frame(rows, "relation", "concept", "text", "responses")
    published = load_templates().published if norms.layout == "cslb" else {}
    found = {
        "relations": {
            relation: {
                "prompts": count,
                "published": published.get(relation),
                "without": asked.without[relation],
            }
            for relation, count in asked.counts().items()
        },
        "filters": [step.to_json() for step in asked.steps],
        "responses": dict(asked.notes),
        "concepts": table["concept"].n_unique(),
    }
    return table, _summary(norms, own, found, table)


def _summary(
    norms: Norms, own: tuple[Correction, ...], found: dict[str, Any], table: pl.DataFrame
) -> dict[str, Any]:
    return {
        "norms": {
            "layout": norms.layout,
            "rows": norms.rows,
            "properties": len(norms.properties),
            "concepts": len(norms.by_concept()),
            "skipped": dict(norms.skipped),
            "uncounted": {problem: list(lines) for problem, lines in norms.uncounted.items()},
        },
        **found,
        "unmatched_corrections": [one.shown for one in Corrections(norms, own).unmatched],
        "prompts": table.height,
    }


def _frame(rows: list[dict[str, Any]], *names: str) -> pl.DataFrame:
    """Return a table with the columns ``names``; there may be no rows."""
    import polars as pl

    return pl.DataFrame(
        rows, {name: pl.Int64 if name in {"n", "pf"} else pl.String for name in names}
    )
