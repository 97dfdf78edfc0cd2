"""Build tables of statements from annotators' drawings, and measure annotators' agreement."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import polars as pl

from tacit.coherence.enrich import enrich
from tacit.coherence.ontology import Ontology
from tacit.errors import DataError, RequestError
from tacit.sources.drawings import Drawing, is_things, read_drawings
from tacit.strings import strings

_COLUMNS = ("thing", "annotator", "subject", "relation", "object")


def drawing_statements(drawings: Iterable[Drawing]) -> pl.DataFrame:
    """Return one true statement for each relation in the annotators' drawings."""
    return _frame(
        (drawing.thing, drawing.annotator, *relation)
        for drawing in drawings
        for relation in drawing.relations
    )


def all_statements(drawings: Iterable[Drawing], relations: Collection[str]) -> pl.DataFrame:
    """Return every statement about two parts of a drawing (Gu et al. 2023, section 6.1)."""
    names = pl.DataFrame({"relation": strings(relations, "relations")}, {"relation": pl.String})
    pairs = _frame(
        (drawing.thing, drawing.annotator, subject, "", obj)
        for drawing in drawings
        for subject, obj in permutations(drawing.parts, 2)
    )
    return pairs.drop("relation").join(names, how="cross").select(_COLUMNS)


def agreed(labelled: pl.DataFrame) -> pl.DataFrame:
    """Return statements that a thing's annotators all label alike (Gu et al. 2023, appendix C)."""
    drawn = labelled.group_by("thing").agg(pl.col("annotator").n_unique().alias("drawings"))
    statement = ["thing", "subject", "relation", "object", "label"]
    same = labelled.group_by(statement, maintain_order=True).agg(
        pl.col("annotator").n_unique().alias("voices")
    )
    return (
        same.join(drawn, on="thing", how="left", maintain_order="left")
        .filter((pl.col("voices") == pl.col("drawings")) & (pl.col("drawings") > 1))
        .select(statement)
    )


def agreement(labelled: pl.DataFrame) -> pl.DataFrame:
    """Count the statements on which annotators agree (Gu et al. 2023, appendix C, Table 5)."""
    statement = ["thing", "subject", "relation", "object"]
    common = agreed(labelled).group_by("thing").agg(pl.len().alias("agreed"))
    both = pl.col("label").n_unique().over(statement) > 1
    each = (
        labelled.with_columns(both=both)
        .group_by("thing", maintain_order=True)
        .agg(
            pl.col("annotator").n_unique().alias("drawings"),
            pl.len().alias("labelled"),
            pl.struct(statement).n_unique().alias("distinct"),
            pl.col("both").sum().alias("contradicted"),
        )
    )
    numbers = ("drawings", "labelled", "distinct", "agreed", "contradicted")
    return each.join(common, on="thing", how="left", maintain_order="left").select(
        "thing", *(pl.col(name).fill_null(0).cast(pl.Int64) for name in numbers)
    )


def _frame(rows: Iterable[Sequence[str]]) -> pl.DataFrame:
    return pl.DataFrame(list(rows), dict.fromkeys(_COLUMNS, pl.String), orient="row")


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
    return enriched, counts(found, enriched, ontology)


def counts(found: Sequence[Drawing], enriched: pl.DataFrame, ontology: Ontology) -> dict[str, Any]:
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
    each = dict(statements["relation"].value_counts().iter_rows())
    totals: dict[str, int] = {}
    for name, relation in ontology.relations.items():
        category = relation.category or "no category"
        totals[category] = totals.get(category, 0) + each.get(name, 0)
    return totals


def _as_table_1(enriched: pl.DataFrame, categories: dict[str, int]) -> dict[str, int]:
    """Count ``required by`` as spatial, not functional, as in Table 1 of Gu et al. (2023)."""
    moved = enriched.filter(enriched["relation"] == "required by").height
    shift = {"spatial": moved, "functional": -moved}
    return {name: count + shift.get(name, 0) for name, count in categories.items()}


def counted(summary: Mapping[str, Any]) -> dict[str, pl.DataFrame]:
    """Return the counts as tables to print, by their titles."""
    both = {"all": summary, "agreed by all annotators": summary["agreed"]}
    labels = ("statements", "true", "false")
    return {
        "Drawings": pl.DataFrame(
            {name: summary[name] for name in ("things", "drawings", "parts", "repeated_rows")}
        ),
        "Categories of relations": pl.DataFrame(
            [
                {"category": name, **of, "as_in_table_1": summary["table_1"][name]}
                for name, of in summary["categories"].items()
            ]
        ),
        "Labelled statements": pl.DataFrame(
            [{"set": name, **{label: of[label] for label in labels}} for name, of in both.items()]
        ),
        "Questions for a model": pl.DataFrame(summary["to_ask"]),
    }
