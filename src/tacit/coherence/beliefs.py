"""Beliefs: for each statement, the probability that it is true according to a model."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, get_args

import polars as pl

from tacit.coherence import OnDuplicate
from tacit.coherence.coded import Coded, code
from tacit.coherence.ontology import Ontology, shipped_ontologies
from tacit.documents import similar
from tacit.english import number_of, several
from tacit.errors import DataError, RequestError
from tacit.strings import Spellings, strings
from tacit.tables import frame_of, line_of_row, read_table

log = logging.getLogger(__name__)

STATEMENT = ("subject", "relation", "object")
REQUIRED = (*STATEMENT, "p_true")
ITEMS = ("subject", "object")
EVEN = 0.5
_NAMED = 6  # items that a warning names
TRUTHS = ("believed", "repaired", "free", "label")
GROUPS = ("thing", "annotator", "person", "document", "model", "group")
"""The names of the columns that divide a table of beliefs into groups by default."""

# If at least this share of rows is alone in its group, the grouping is probably a mistake.
_MOSTLY_ALONE = 0.9


@dataclass(frozen=True)
class Beliefs:
    """Valid beliefs, one row per statement and group; ``groups`` are columns of the table.

    ``certain`` beliefs come from a table without ``p_true``.
    """

    table: pl.DataFrame
    ontology: Ontology
    groups: Sequence[str] = ()
    certain: bool = False

    @cached_property
    def coded(self) -> Coded:
        """The rows as arrays of integers."""
        return code(self.table, list(self.ontology.relations), self.groups)

    @property
    def p_true(self) -> pl.Series:
        """The probabilities; null if missing."""
        return self.table["p_true"].cast(pl.Float64)

    @property
    def carried(self) -> list[str]:
        """The columns that are only copied to the results."""
        known = {*REQUIRED, *TRUTHS, *self.groups}
        return [name for name in self.table.columns if name not in known]

    def believed(self, column: str = "p_true") -> pl.Series:
        """Return whether each statement is believed, according to a column; null if unknown."""
        if column == "p_true":
            return self.p_true > EVEN
        if column not in self.table.columns or self.table[column].dtype != pl.Boolean:
            raise RequestError(
                f"the beliefs have no column {column} of True and False; "
                f"expected p_true, or one of {', '.join(TRUTHS)} if the beliefs have it"
            )
        return self.table[column]

    def remarks(self) -> list[str]:
        """Return messages to the user about how the beliefs were grouped."""
        remarks, carried = [], self.carried
        if self.certain:
            remarks.append("there is no column p_true, so every statement counts as certain")
        if carried:
            noun, are, it = (
                number_of(len(carried), *forms)
                for forms in (("column",), ("is", "are"), ("it", "one"))
            )
            remarks.append(
                f"{noun} {', '.join(map(repr, carried))} {are} copied to the results; to check "
                f"each value of {it} separately, list the column in --groups"
            )
        if len(self.table) > 1 and self._mostly_alone(*self.groups):
            alone = [name for name in self.groups if self._mostly_alone(name)]
            named = ", ".join(map(repr, alone or self.groups))
            remarks.append(
                f"warning: grouped by {named}, nearly every row is alone in its group, so few "
                "constraints can apply; list the columns that identify a group in --groups"
            )
        return remarks

    def _mostly_alone(self, *columns: str) -> bool:
        """Whether the values in ``columns`` of most rows occur in no other row."""
        alone = self.table.select(columns).is_unique().sum() if columns else 0
        return alone >= _MOSTLY_ALONE * len(self.table)


def group_columns(columns: Sequence[str], groups: Sequence[str] | None) -> list[str]:
    """Return the columns that together identify a group of beliefs, in the table's order."""
    if groups is None:
        return [name for name in columns if name in GROUPS]
    groups = (groups,) if isinstance(groups, str) else strings(groups, "groups")
    possible = [name for name in columns if name not in REQUIRED and name not in TRUTHS]
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


def read_beliefs(
    given: Path | str | Any,  # noqa: ANN401 - any data frame
    ontology: Ontology,
    on_duplicate: OnDuplicate = "error",
    groups: Sequence[str] | None = None,
    required: Sequence[str] = STATEMENT,
) -> Beliefs:
    """Validate beliefs of a file or a table, give each name one spelling, and merge duplicates."""
    frame = frame_of(given)
    table, rows = (
        (read_table(given, required), _Rows(Path(given))) if frame is None else (frame, _Rows(None))
    )
    missing = [name for name in required if name not in table.columns]
    if missing:
        raise DataError(f"the beliefs have no column {', '.join(missing)}")
    table, certain = _with_probabilities(table, rows)
    columns = group_columns(table.columns, groups)
    if rows.path is not None:
        texts = [name for name in (*columns, *STATEMENT) if table[name].dtype == pl.String]
        table = table.with_columns(pl.col(texts).str.strip_chars().replace("", None))
    table = _typed(_spelled(table, columns, ontology, rows.path), rows)
    _refuse_bad_rows(table, ontology, rows)
    _warn_about_case(table, columns)
    return _once_each(Beliefs(table, ontology, columns, certain), on_duplicate, rows)


@dataclass(frozen=True)
class _Rows:
    """How messages name a row: by its line in the file, or by its number in a data frame."""

    path: Path | None

    def name(self, row: int) -> str:
        return f"row {row}" if self.path is None else f"line {line_of_row(self.path, row)}"

    def error(self, problem: str, row: int) -> DataError:
        if self.path is None:
            return DataError(f"row {row} of the beliefs {problem}")
        return DataError(problem, self.path, line_of_row(self.path, row))


def _with_probabilities(table: pl.DataFrame, rows: _Rows) -> tuple[pl.DataFrame, bool]:
    """Return a table with the column p_true, and whether its beliefs are certain for lack of it."""
    if "p_true" in table.columns:
        return table, False
    if meant := similar("p_true", table.columns):
        raise DataError(f"there is no column p_true{meant}", rows.path)
    return table.with_columns(p_true=pl.lit(1.0)), not table.is_empty()


def _first(wrong: pl.Series) -> int | None:
    """Return the number of the first wrong row."""
    return wrong.arg_max() if wrong.any() else None


def _spelled(
    table: pl.DataFrame, columns: list[str], ontology: Ontology, path: Path | None
) -> pl.DataFrame:
    """Give each name one spelling in all rows, and relations the spelling of the ontology."""
    for spelled, of in (
        (Spellings(), (*columns, *ITEMS)),
        (Spellings(ontology.relations), ("relation",)),
    ):
        table = spelled.within(table, of)
        spelled.notice(path)
    return table


def _warn_about_case(table: pl.DataFrame, columns: list[str]) -> None:
    """Warn if two items (subjects or objects) of a group differ only in letter case."""
    sides = [table.select(*columns, item=name) for name in ITEMS]
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


def _typed(table: pl.DataFrame, rows: _Rows) -> pl.DataFrame:
    """Cast the columns of a table of beliefs to text, floats and Booleans."""
    for name in STATEMENT:
        column = table[name]
        if column.dtype != pl.String and column.null_count() < len(column):
            raise rows.error(f"has a {name} that is {column.dtype}, not text", 0)
    truths = [_truths(table[name], rows) for name in TRUTHS if name in table.columns]
    return table.cast(dict.fromkeys(STATEMENT, pl.String)).with_columns(
        _probabilities(table["p_true"], rows), *truths
    )


def _probabilities(column: pl.Series, rows: _Rows) -> pl.Series:
    if column.dtype == pl.String:
        numbers = column.str.strip_chars().cast(pl.Float64, strict=False)
    elif column.dtype.is_numeric() or column.dtype == pl.Null:
        numbers = column.cast(pl.Float64)
    else:
        raise rows.error(f"has a p_true that is {column.dtype}, not a number", 0)
    # NaN is neither below 0 nor above 1, but is not a probability.
    wrong = column.is_not_null() & ~numbers.is_between(0.0, 1.0).fill_null(value=False)
    if (row := _first(wrong)) is not None:
        raise rows.error(
            f"has p_true {column[row]!r}; expected a probability from 0 to 1, such as 0.9, or an "
            "empty value if it is missing",
            row,
        )
    return numbers


def _truths(column: pl.Series, rows: _Rows) -> pl.Series:
    if column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Boolean)
    if column.dtype != pl.String:
        raise rows.error(f"has a {column.name} that is {column.dtype}, not True or False", 0)
    lower = column.str.to_lowercase()
    wrong = lower.is_not_null() & ~lower.is_in(["true", "false"])
    if (row := _first(wrong)) is not None:
        raise rows.error(f"has {column.name} {column[row]!r}; expected True or False", row)
    return lower == "true"


def _refuse_bad_rows(table: pl.DataFrame, ontology: Ontology, rows: _Rows) -> None:
    for name in STATEMENT:
        if (row := _first(table[name].str.strip_chars().fill_null("") == "")) is not None:
            raise rows.error(f"has no {name}", row)
    known, relation = list(ontology.relations), table["relation"]
    if (row := _first(~relation.is_in(known))) is not None:
        raise rows.error(
            f"has the relation {relation[row]!r}, which is not in the ontology {ontology.name}; "
            f"expected one of {', '.join(known)}{similar(relation[row], known)}{_own(ontology)}",
            row,
        )


def _own(ontology: Ontology) -> str:
    """Return advice to name an ontology file, if the ontology is one of Tacit's own."""
    name = ontology.name
    if name not in shipped_ontologies() or Ontology.load(name).fingerprint != ontology.fingerprint:
        return ""
    return ". Declare your own relations with --ontology"


def _once_each(beliefs: Beliefs, on_duplicate: OnDuplicate, rows: _Rows) -> Beliefs:
    if on_duplicate not in get_args(OnDuplicate):
        raise RequestError(f"on_duplicate is {on_duplicate!r}; expected error, mean or first")
    table, carried, keys = beliefs.table, beliefs.carried, [*beliefs.groups, *STATEMENT]
    if not table.select(keys).is_duplicated().any():
        return beliefs
    if on_duplicate == "error":
        _refuse_duplicates(beliefs, keys, rows)
    if on_duplicate == "mean":
        table = table.with_columns(pl.col("p_true").mean().over(keys))
    kept = table.unique(subset=keys, keep="first", maintain_order=True)
    lost = table.unique(subset=[*keys, *carried]).height - kept.height
    if lost:
        log.warning(
            "%s a statement of the same group with different values of %s; the values of the "
            "first row are used",
            several(lost, "row repeats", "rows repeat"),
            ", ".join(carried),
        )
    return replace(beliefs, table=kept)


def _refuse_duplicates(beliefs: Beliefs, keys: Sequence[str], rows: _Rows) -> None:
    """Raise an error if two rows have different beliefs about the same statement."""
    p = beliefs.table["p_true"]
    numbered = beliefs.table.with_row_index("row of the table")
    first = numbered.select(pl.col("row of the table").first().over(keys)).to_series()
    row = _first(p.ne_missing(p.gather(first)))
    if row is None:
        return
    statement = " ".join(repr(beliefs.table[name][row]) for name in STATEMENT)
    carried = " or ".join(map(repr, beliefs.carried))
    hint = f". If {carried} identifies a group, list it in --groups"
    raise rows.error(
        f"has p_true {p[row]} for {statement}, but {rows.name(first[row])} has {p[first[row]]} for "
        "the same statement; keep one, or choose with --on-duplicate (mean or first)"
        f"{hint * bool(carried)}",
        row,
    )
