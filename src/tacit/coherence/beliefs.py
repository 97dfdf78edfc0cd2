"""Beliefs: how likely a model holds each statement of each group to be true.

A table with the columns ``subject``, ``relation``, ``object`` (text) and ``p_true`` (a
probability, null when the belief is missing). Every other column is part of the group, but for
those that Tacit itself writes beside beliefs: ``believed``, ``repaired`` and ``label``.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tacit.errors import DataError, RequestError
from tacit.tables import line_of_row, read_table

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from tacit.coherence.ontology import Ontology

    Complain = Callable[[str, int], DataError]

STATEMENT = ("subject", "relation", "object")
REQUIRED = (*STATEMENT, "p_true")
TRUTHS = ("believed", "repaired", "label")

OnDuplicate = Literal["error", "mean", "first"]


def group_columns(beliefs: pl.DataFrame) -> list[str]:
    """The columns that together name a group, in their order."""
    return [name for name in beliefs.columns if name not in REQUIRED and name not in TRUTHS]


def read_beliefs(
    path: Path | str, ontology: Ontology, on_duplicate: OnDuplicate = "error"
) -> pl.DataFrame:
    """Reads and checks beliefs; a row that repeats another to the same p is kept once.

    Blanks before and behind a subject, a relation, an object and a group's text are dropped, so
    that " trunk" and "trunk" are one item; what is blank alone is missing.

    Args:
        path: A TSV, CSV, JSONL or Parquet file.
        ontology: The relations that the file may use.
        on_duplicate: What to do with rows that give one statement different p: refuse them, or
            take the mean of those that are there, or the first row's.

    Returns:
        The group's columns, subject, relation, object and p_true (Float64, null = missing), in
        the order of the file; the columns that hold truth values are Boolean.

    Raises:
        DataError: The file is missing, lacks a column, or a row is malformed; with its line.
        RequestError: ``on_duplicate`` is none of the three.
    """
    path = Path(path)

    def complain(problem: str, row: int) -> DataError:
        return DataError(problem, path, line_of_row(path, row))

    def line(row: int) -> str:
        return f"line {line_of_row(path, row)}"

    frame = _typed(_stripped(read_table(path, REQUIRED)), complain)
    _refuse_bad_rows(frame, ontology, complain)
    return _once_each(frame, on_duplicate, complain, line)


def check_beliefs(beliefs: pl.DataFrame, ontology: Ontology) -> pl.DataFrame:
    """Checks beliefs that come as a table; messages name the row, counted from 0.

    Raises:
        DataError: A column is missing, a row is malformed, or two rows give one statement.
    """
    missing = [name for name in REQUIRED if name not in beliefs.columns]
    if missing:
        raise DataError(f"the beliefs have no column {', '.join(missing)}")

    def complain(problem: str, row: int) -> DataError:
        return DataError(f"row {row} of the beliefs {problem}")

    frame = _typed(beliefs, complain)
    _refuse_bad_rows(frame, ontology, complain)
    repeated = frame.select(*group_columns(frame), *STATEMENT).is_duplicated()
    if repeated.any():
        row = repeated.arg_true()[0]
        raise complain(f"gives a statement that another row gives: {_told(frame, row)}", row)
    return frame


def _stripped(frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    names = [name for name in (*group_columns(frame), *STATEMENT) if frame[name].dtype == pl.String]
    return frame.with_columns(pl.col(names).str.strip_chars().replace("", None))


def _typed(frame: pl.DataFrame, complain: Complain) -> pl.DataFrame:
    """Statements as text, p as numbers, truth values as Booleans."""
    import polars as pl

    for name in STATEMENT:
        column = frame[name]
        if column.dtype != pl.String:
            if column.null_count() < len(column):
                raise complain(f"has a {name} that is {column.dtype}, not text", 0)
            frame = frame.with_columns(column.cast(pl.String))
    frame = frame.with_columns(_probabilities(frame["p_true"], complain))
    for name in TRUTHS:
        if name in frame.columns:
            frame = frame.with_columns(_truths(frame[name], complain))
    return frame


def _probabilities(column: pl.Series, complain: Complain) -> pl.Series:
    import polars as pl

    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or column.dtype == pl.Null:
        numbers = column.cast(pl.Float64)
    else:
        raise complain(f"has a p_true that is {column.dtype}, not a number", 0)
    # A number that is none (nan) is neither below 0 nor above 1, and no probability either.
    wrong = column.is_not_null() & ~numbers.is_between(0.0, 1.0).fill_null(value=False)
    if wrong.any():
        row = wrong.arg_true()[0]
        raise complain(
            f"has p_true {column[row]!r}; expected a probability from 0 to 1, "
            "or nothing when it is missing",
            row,
        )
    return numbers


def _truths(column: pl.Series, complain: Complain) -> pl.Series:
    import polars as pl

    if column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Boolean)
    if column.dtype != pl.String:
        raise complain(f"has a {column.name} that is {column.dtype}, not True or False", 0)
    lower = column.str.to_lowercase()
    wrong = lower.is_not_null() & ~lower.is_in(["true", "false"])
    if wrong.any():
        row = wrong.arg_true()[0]
        raise complain(f"has {column.name} {column[row]!r}; expected True or False", row)
    return lower == "true"


def _refuse_bad_rows(frame: pl.DataFrame, ontology: Ontology, complain: Complain) -> None:
    import polars as pl

    for name in STATEMENT:
        blank = frame[name].is_null() | (frame[name].str.strip_chars() == "")
        if blank.any():
            raise complain(f"has no {name}", blank.arg_true()[0])
    unknown = ~frame["relation"].is_in(list(ontology.relations))
    if unknown.any():
        row = unknown.arg_true()[0]
        raise complain(
            f"has the relation {frame['relation'][row]!r}, which the ontology {ontology.name} "
            f"does not have; expected one of {', '.join(ontology.relations)}",
            row,
        )
    irreflexive = [name for name, each in ontology.relations.items() if each.irreflexive]
    own = frame.select(
        (pl.col("subject") == pl.col("object")) & pl.col("relation").is_in(irreflexive)
    ).to_series()
    if own.any():
        row = own.arg_true()[0]
        raise complain(
            f"relates {frame['subject'][row]!r} to itself by {frame['relation'][row]!r}, "
            "which nothing is to itself; remove the row",
            row,
        )


def _once_each(
    frame: pl.DataFrame,
    on_duplicate: OnDuplicate,
    complain: Complain,
    line: Callable[[int], str],
) -> pl.DataFrame:
    import polars as pl

    if on_duplicate not in ("error", "mean", "first"):
        raise RequestError(f"on-duplicate is {on_duplicate!r}; expected error, mean or first")
    keys = [*group_columns(frame), *STATEMENT]
    if not frame.select(keys).is_duplicated().any():
        return frame
    if on_duplicate == "error":
        rows = frame.with_row_index("row of the file")
        first = pl.col("row of the file").first().over(keys)
        differs = ~pl.col("p_true").eq_missing(pl.col("p_true").first().over(keys))
        clash = rows.with_columns(first.alias("first row of it")).filter(differs)
        if len(clash):
            row, other = clash["row of the file"][0], clash["first row of it"][0]
            raise complain(
                f"gives {_told(frame, row)} p_true {frame['p_true'][row]}, and {line(other)} "
                f"gives it {frame['p_true'][other]}; keep one, or allow both with "
                "--on-duplicate mean or first",
                row,
            )
    if on_duplicate == "mean":
        frame = frame.with_columns(pl.col("p_true").mean().over(keys))
    return frame.unique(subset=keys, keep="first", maintain_order=True)


def _told(frame: pl.DataFrame, row: int) -> str:
    return " ".join(repr(frame[name][row]) for name in STATEMENT)
