"""Statements that follow from annotators' drawings (Gu et al. 2023, section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError, RequestError
from tacit.sources.drawings import is_things, read_drawings
from tacit.sources.statements import agreed, all_statements, drawing_statements

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import polars as pl

    from tacit.sources.drawings import Drawing


def enriched_drawings(
    path: Path, things: Sequence[str] | None = None
) -> tuple[pl.DataFrame, dict[str, Any]]:
    """Return the gold-labelled statements of annotators' drawings, and their counts."""
    if is_things(path):
        raise RequestError(
            f"{path} contains things and parts but no relations, so no statements follow; expected "
            "an annotations file or a folder of drawings"
        )
    ontology = Ontology.load("parts")
    found = read_drawings(path, ontology.relations, things)
    try:
        enriched = enrich(drawing_statements(found), ontology)
    except DataError as error:
        raise DataError(str(error), path) from error
    return enriched, _summary(found, enriched, ontology)


def _summary(found: list[Drawing], enriched: pl.DataFrame, ontology: Ontology) -> dict[str, Any]:
    """Return the counts that ``tacit drawings enrich`` prints."""
    asked = all_statements(found, ontology.relations)
    together = agreed(enriched)
    drawn = _by_category(drawing_statements(found), ontology)
    labelled = _by_category(enriched, ontology)
    return {
        "things": len({drawing.thing for drawing in found}),
        "drawings": len(found),
        "parts": sum(len(drawing.parts) for drawing in found),
        "relations": sum(len(drawing.relations) for drawing in found),
        "repeated_rows": sum(drawing.repeated for drawing in found),
        **_labels(enriched),
        "agreed": _labels(together),
        "categories": {
            name: {"relations": drawn.get(name, 0), "statements": count}
            for name, count in labelled.items()
        },
        "table_1": _as_table_1(enriched, labelled),
        "to_ask": {
            "statements": asked.height,
            "distinct": asked.n_unique(["thing", "subject", "relation", "object"]),
        },
    }


def _labels(labelled: pl.DataFrame) -> dict[str, int]:
    true = int(labelled["label"].sum())
    return {"statements": labelled.height, "true": true, "false": labelled.height - true}


def _by_category(statements: pl.DataFrame, ontology: Ontology) -> dict[str, int]:
    """Count the statements in each category of relations, in the order of the ontology."""
    counts = dict(statements["relation"].value_counts().iter_rows())
    totals: dict[str, int] = {}
    for name, relation in ontology.relations.items():
        category = relation.category or "no category"
        totals[category] = totals.get(category, 0) + counts.get(name, 0)
    return totals


def _as_table_1(enriched: pl.DataFrame, categories: dict[str, int]) -> dict[str, int]:
    """Count ``required by`` as spatial, not functional, as in Table 1 of Gu et al. (2023)."""
    moved = enriched.filter(enriched["relation"] == "required by").height
    shift = {"spatial": moved, "functional": -moved}
    return {name: count + shift.get(name, 0) for name, count in categories.items()}
