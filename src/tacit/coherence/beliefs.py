"""Beliefs: for each statement, the probability that it is true according to a model."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, get_args

import polars as pl

from tacit.coherence import OnDuplicate
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.documents import similar
from tacit.english import number_of, several
from tacit.errors import DataError, RequestError
from tacit.strings import Spellings, strings
from tacit.tables import line_of_row, read_table, table_path

Complain = Callable[[str, int], DataError]

log = logging.getLogger(__name__)

STATEMENT = ("subject", "relation", "object")
REQUIRED = (*STATEMENT, "p_true")
ITEMS = ("subject", "object")
_NAMED = 6  # items that a warning names
TRUTHS = ("believed", "repaired", "free", "label")
GROUPS = ("thing", "annotator", "person", "document", "model", "group")
"""The names of the columns that divide a table of beliefs into groups by default."""

# If at least this share of rows is alone in its group, the grouping is probably a mistake.
_MOSTLY_ALONE = 0.9


def group_columns(beliefs: pl.DataFrame, groups: Sequence[str] | None = None) -> list[str]:
    """Return the columns that together identify a group of beliefs, in the table's order."""
    if groups is None:
        return [name for name in beliefs.columns if name in GROUPS]
    groups = (groups,) if isinstance(groups, str) else strings(groups, "groups")
    possible = [name for name in beliefs.columns if name not in REQUIRED and name not in TRUTHS]
    unknown = [name for name in groups if name not in possible]
    if unknown:
        raise RequestError(
            f"the beliefs cannot be grouped by {', '.join(map(repr, unknown))}; "
            + (
                f"expected one or more of these columns: {', '.join(possible)}"
                if possible
                else "there are no columns to group by"
            )
        )
    return [name for name in possible if name in groups]


def carried_columns(beliefs: pl.DataFrame, groups: Sequence[str] | None = None) -> list[str]:
    """Return the columns of ``beliefs`` that are only copied to the results."""
    known = {*REQUIRED, *TRUTHS, *group_columns(beliefs, groups)}
    return [name for name in beliefs.columns if name not in known]


def grouping_remarks(
    beliefs: pl.DataFrame, groups: Sequence[str] | None = None, *, in_python: bool = False
) -> list[str]:
    """Return messages to the user about how the beliefs were grouped."""
    remarks = []
    carried = carried_columns(beliefs, groups)
    if carried:
        noun, are, it = (
            number_of(len(carried), *forms) for forms in (("column",), ("is", "are"), ("it", "one"))
        )
        remedy = f"pass groups={carried[:1]}" if in_python else "list the column in --groups"
        remarks.append(
            f"{noun} {', '.join(map(repr, carried))} {are} copied to the results; to check each "
            f"value of {it} separately, {remedy}"
        )
    columns = group_columns(beliefs, groups)
    if len(beliefs) > 1 and columns:
        alone = [name for name in columns if _share_alone(beliefs, [name]) >= _MOSTLY_ALONE]
        if _share_alone(beliefs, columns) >= _MOSTLY_ALONE:
            named = ", ".join(map(repr, alone or columns))
            option = "groups" if in_python else "--groups"
            remarks.append(
                f"warning: grouped by {named}, nearly every row is alone in its group, so few "
                f"constraints can apply; list the columns that identify a group in {option}"
            )
    return remarks


def _share_alone(beliefs: pl.DataFrame, columns: list[str]) -> float:
    """Return the share of rows whose values in ``columns`` occur in no other row."""
    return int(beliefs.select(columns).is_unique().sum()) / len(beliefs)


def read_beliefs(
    path: Path | str | Any,  # noqa: ANN401 - any data frame
    ontology: Ontology,
    on_duplicate: OnDuplicate = "error",
    groups: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Read and validate a file of beliefs, and merge duplicate rows."""
    path = table_path(path)

    def complain(problem: str, row: int) -> DataError:
        return DataError(problem, path, line_of_row(path, row))

    def line(row: int) -> str:
        return f"line {line_of_row(path, row)}"

    table = read_table(path, REQUIRED)
    if table.is_empty():
        raise DataError("contains no beliefs; expected one row per statement", path)
    columns = group_columns(table, groups)
    frame = _typed(_spelled(_stripped(table, columns), columns, ontology, path), complain)
    _refuse_bad_rows(frame, ontology, complain)
    _warn_about_case(frame, columns)
    return _once_each(frame, columns, on_duplicate, complain, line)


def merge_duplicates(
    beliefs: pl.DataFrame,
    ontology: Ontology,
    on_duplicate: OnDuplicate,
    groups: Sequence[str] | None = None,
) -> pl.DataFrame:
    """Merge duplicate rows of a table of beliefs, as :func:`read_beliefs` does."""

    def complain(problem: str, row: int) -> DataError:
        return DataError(f"row {row} of the beliefs {problem}")

    columns = group_columns(beliefs, groups)
    beliefs = _spelled(beliefs, columns, ontology)
    _warn_about_case(beliefs, columns)
    return _once_each(beliefs, columns, on_duplicate, complain, lambda row: f"row {row}")


def _spelled(
    beliefs: pl.DataFrame, columns: list[str], ontology: Ontology, path: Path | None = None
) -> pl.DataFrame:
    """Give each name one spelling in all rows, and relations the spelling of the ontology."""
    for spelled, of in (
        (Spellings(), (*columns, *ITEMS)),
        (Spellings(ontology.relations), ("relation",)),
    ):
        beliefs = spelled.within(beliefs, of)
        spelled.notice(path)
    return beliefs


def _warn_about_case(frame: pl.DataFrame, columns: list[str]) -> None:
    """Warn if two items (subjects or objects) of a group differ only in letter case."""
    sides = [frame.select(*columns, item=pl.col(name).cast(pl.String)) for name in ITEMS]
    items = pl.concat(sides).unique().with_columns(key=pl.col("item").str.to_lowercase())
    clash = items.filter(pl.col("item").n_unique().over(*columns, "key") > 1)
    if clash.height:
        names = sorted(clash["item"].unique())
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        log.warning(
            "%s%s differ only in upper and lower case and are treated as different items",
            ", ".join(map(repr, names[:_NAMED])),
            more,
        )


def check_columns(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Check that a table of beliefs has all required columns, and return the table."""
    missing = [name for name in REQUIRED if name not in beliefs.columns]
    if missing:
        raise DataError(f"the beliefs have no column {', '.join(missing)}")
    return beliefs


def check_beliefs(
    beliefs: pl.DataFrame, ontology: Ontology, groups: Sequence[str] | None = None
) -> pl.DataFrame:
    """Validate a table of beliefs; error messages contain the row number, counted from 0."""

    def complain(problem: str, row: int) -> DataError:
        return DataError(f"row {row} of the beliefs {problem}")

    frame = _typed(check_columns(beliefs), complain)
    _refuse_bad_rows(frame, ontology, complain)
    repeated = frame.select(*group_columns(frame, groups), *STATEMENT).is_duplicated()
    if repeated.any():
        row = repeated.arg_true()[0]
        raise complain(
            f"repeats a statement of its group: {_statement_text(frame, row)}; keep one, or use "
            "on_duplicate='mean' or 'first'"
            f"{_grouping_hint(carried_columns(frame, groups))}",
            row,
        )
    return frame


def _grouping_hint(carried: list[str]) -> str:
    """Return a hint that a duplicate statement may be due to a missing group column."""
    if not carried:
        return ""
    return (
        f". If {' or '.join(map(repr, carried))} identifies a group, list it in --groups (in "
        "Python, groups=)"
    )


def _stripped(frame: pl.DataFrame, columns: list[str]) -> pl.DataFrame:

    names = [name for name in (*columns, *STATEMENT) if frame[name].dtype == pl.String]
    return frame.with_columns(pl.col(names).str.strip_chars().replace("", None))


def _typed(frame: pl.DataFrame, complain: Complain) -> pl.DataFrame:
    """Cast the columns of a table of beliefs to text, floats and Booleans."""
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

    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or column.dtype == pl.Null:
        numbers = column.cast(pl.Float64)
    else:
        raise complain(f"has a p_true that is {column.dtype}, not a number", 0)
    # NaN is neither below 0 nor above 1, but is not a probability.
    wrong = column.is_not_null() & ~numbers.is_between(0.0, 1.0).fill_null(value=False)
    if wrong.any():
        row = wrong.arg_true()[0]
        raise complain(
            f"has p_true {column[row]!r}; expected a probability from 0 to 1, "
            "such as 0.9, or an empty value if it is missing",
            row,
        )
    return numbers


def _truths(column: pl.Series, complain: Complain) -> pl.Series:

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

    for name in STATEMENT:
        blank = frame[name].is_null() | (frame[name].str.strip_chars() == "")
        if blank.any():
            raise complain(f"has no {name}", blank.arg_true()[0])
    unknown = ~frame["relation"].is_in(list(ontology.relations))
    if unknown.any():
        row = unknown.arg_true()[0]
        relation, known = frame["relation"][row], list(ontology.relations)
        raise complain(
            f"has the relation {relation!r}, which is not in the ontology {ontology.name}; "
            f"expected one of {', '.join(known)}"
            f"{similar(relation, known)}{_own(ontology)}",
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
            "which is irreflexive; remove the row",
            row,
        )


def _own(ontology: Ontology) -> str:
    """Return advice to name an ontology file, if the ontology is one of Tacit's own."""
    name = ontology.name
    if name not in shipped_ontologies() or Ontology.load(name).fingerprint != ontology.fingerprint:
        return ""
    return (
        ". For your own relations, name an ontology file: --ontology FILE, or in Python "
        "ontology=FILE"
    )


def _once_each(
    frame: pl.DataFrame,
    columns: list[str],
    on_duplicate: OnDuplicate,
    complain: Complain,
    line: Callable[[int], str],
) -> pl.DataFrame:

    if on_duplicate not in get_args(OnDuplicate):
        raise RequestError(f"on_duplicate is {on_duplicate!r}; expected error, mean or first")
    keys = [*columns, *STATEMENT]
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
                f"has p_true {frame['p_true'][row]} for {_statement_text(frame, row)}, but "
                f"{line(other)} has {frame['p_true'][other]} for the same statement; keep one, or "
                "use --on-duplicate mean or first (in Python, on_duplicate)"
                f"{_grouping_hint(carried_columns(frame, columns))}",
                row,
            )
    if on_duplicate == "mean":
        frame = frame.with_columns(pl.col("p_true").mean().over(keys))
    kept = frame.unique(subset=keys, keep="first", maintain_order=True)
    carried = carried_columns(frame, columns)
    lost = frame.unique(subset=[*keys, *carried]).height - kept.height
    if lost:
        log.warning(
            "%s a statement of the same group with different values of %s; the values of the "
            "first row are used",
            several(lost, "row repeats", "rows repeat"),
            ", ".join(carried),
        )
    return kept


def _statement_text(frame: pl.DataFrame, row: int) -> str:
    return " ".join(repr(frame[name][row]) for name in STATEMENT)
