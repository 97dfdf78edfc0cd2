"""Build tables of statements from annotators' drawings, and measure annotators' agreement."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import polars as pl

    from tacit.sources.drawings import Drawing

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
    import polars as pl

    names = pl.DataFrame({"relation": strings(relations, "relations")}, {"relation": pl.String})
    pairs = _frame(
        (drawing.thing, drawing.annotator, subject, "", obj)
        for drawing in drawings
        for subject, obj in permutations(drawing.parts, 2)
    )
    return pairs.drop("relation").join(names, how="cross").select(_COLUMNS)


def agreed(labelled: pl.DataFrame) -> pl.DataFrame:
    """Return statements that a thing's annotators all label alike (ParRoT++, appendix C)."""
    import polars as pl

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
    """Count the statements on which annotators agree (ParRoT, appendix C, Table 5)."""
    import polars as pl

    statement = ["thing", "subject", "relation", "object"]
    common = agreed(labelled).group_by("thing").agg(pl.len().alias("agreed"))
    both = pl.col("label").n_unique().over(statement) > 1
    counts = (
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
    return counts.join(common, on="thing", how="left", maintain_order="left").select(
        "thing", *(pl.col(name).fill_null(0).cast(pl.Int64) for name in numbers)
    )


def _frame(rows: Iterable[Sequence[str]]) -> pl.DataFrame:
    import polars as pl

    columns = list(zip(*rows, strict=True)) or [()] * len(_COLUMNS)
    return pl.DataFrame(
        dict(zip(_COLUMNS, columns, strict=True)), schema=dict.fromkeys(_COLUMNS, pl.String)
    )
