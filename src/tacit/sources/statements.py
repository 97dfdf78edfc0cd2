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
    """Return one true statement for each relation in the annotators' drawings.

    Returns:
        A table with the columns thing, annotator, subject, relation and object. Each row contains
        one relation that an annotator drew. The rows are in the order of the drawings.
    """
    return _frame(
        (drawing.thing, drawing.annotator, *relation)
        for drawing in drawings
        for relation in drawing.relations
    )


def all_statements(drawings: Iterable[Drawing], relations: Collection[str]) -> pl.DataFrame:
    """Return every statement about two parts of a drawing (Gu et al. 2023, section 6.1).

    Returns:
        A table with the columns thing, annotator, subject, relation and object. The table has one
        row for each combination of a drawing, an ordered pair of different parts, and a relation.
        Parts are in the order in which they are listed in ``Drawing.parts``. Relations are in the
        order of the argument ``relations``.
    """
    import polars as pl

    names = pl.DataFrame({"relation": strings(relations, "relations")}, {"relation": pl.String})
    pairs = _frame(
        (drawing.thing, drawing.annotator, subject, "", obj)
        for drawing in drawings
        for subject, obj in permutations(drawing.parts, 2)
    )
    return pairs.drop("relation").join(names, how="cross").select(_COLUMNS)


def agreed(labelled: pl.DataFrame) -> pl.DataFrame:
    """Return statements that a thing's annotators all label alike (ParRoT++, appendix C).

    If a thing has only one annotator, the result contains no statements about it.

    Args:
        labelled: A table with the columns thing, annotator, subject, relation, object and label, as
            returned by :func:`tacit.coherence.enrich.enrich`. Each combination of thing, annotator,
            subject, relation and object occurs at most once.

    Returns:
        A table with the columns thing, subject, relation, object and label. The statements are in
        the order in which they first appear in ``labelled``.
    """
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
    """Count the statements on which annotators agree (ParRoT, appendix C, Table 5).

    Args:
        labelled: A table of labelled statements, as for :func:`agreed`.

    Returns:
        A table with one row per everyday thing, such as a tree. Things are in the order in which
        they first appear in ``labelled``. The columns are ``thing``, ``drawings``, ``labelled``,
        ``distinct``, ``agreed`` and ``contradicted``. The column ``labelled`` contains the number
        of labelled statements, summed over all drawings of the thing. The column ``distinct``
        contains the number of different statements that occur in the drawings of the thing. The
        column ``agreed`` contains the number of distinct statements that have the same label in all
        annotators' drawings of the thing. For a thing with only one annotator, the column
        ``agreed`` is 0. The column ``contradicted`` counts the labelled statements about which
        annotators disagree. Annotators disagree if a statement is true in one annotator's drawing
        of the thing and false in another annotator's drawing. For example, a statement that is true
        in two drawings and false in a third drawing adds 3 to ``contradicted``.
    """
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
