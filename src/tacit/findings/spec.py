"""Declarations of a probe's tables of findings, their columns and their printed layout."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeAlias

from tacit.errors import FindingsError

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Estimate

ColumnKind: TypeAlias = Literal[
    "text",
    "count",
    "truth",
    "percent",
    "points",
    "score",
    "signed",
    "nats",
    "p",
    "number",
    "prompt",
    "list",
]
"""The kind of values in a column, which determines their format.

``percent`` is a share from 0 to 1, and ``points`` a difference between two shares; ``score`` has
three decimals, and ``signed`` is a difference between two scores; ``nats`` are log-probabilities or
their differences; ``number`` is for other numbers. ``prompt`` is the text of prompts (see
``Column.within``). Reports do not show columns of the kind ``list``.
"""

Value: TypeAlias = str | int | bool | None
"""A value by which rows are selected."""

QUESTIONS = "questions"
"""The name of the table that contains the questions and answers, one row per question."""

OVERVIEW, ANSWERS, PAPER, TABLES = "Overview", "Answers", "As in the paper", "Tables"
"""Tabs of a report; a declaration may name others, such as ``By relation``."""

_REAL = frozenset({"percent", "points", "score", "signed", "nats", "p", "number"})


@dataclass(frozen=True)
class Column:
    """The declaration of one column of a table of findings.

    Args:
        name: The name.
        heading: The heading in printed tables and reports.
        kind: The type and format of the values.
        meaning: The meaning in one sentence, for the reference; empty if the heading says it.
        ends: The names of the columns that contain the ends of the 95 % CI.
        optional: Whether the column may be missing from a table.
        shown: Whether reports show the column.
        of: The column of ``questions`` whose values are averaged or counted (see ``TableSpec.of``).
            A mean with ``ends`` is compared between models.
        chance: The chance level, or the name of the column with the chance level.
        within: For a column of prompts, the column with the text that replaces ``{question}``.
        sparse: Whether the column is hidden if all its values are zero or null.

    Examples:
        >>> from tacit import Column
        >>> Column("accuracy", "accuracy", "percent", ends=("low", "high")).ends
        ('low', 'high')
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    name: str
    heading: str
    kind: ColumnKind = "text"
    meaning: str = ""
    ends: tuple[str, str] | None = None
    optional: bool = False
    shown: bool = True
    of: str | None = None
    chance: float | str | None = None
    within: str | None = None
    sparse: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column, and the names of the columns with the ends of its interval."""
        return (self.name, *(self.ends or ()))

    def fits(self, dtype: pl.DataType) -> bool:
        """Return whether a polars type matches this declaration; the type Null always matches."""
        import polars as pl

        if dtype == pl.Null:
            return True
        if self.kind in _REAL:
            return dtype.is_float()
        if self.kind == "count":
            return dtype.is_integer()
        if self.kind in {"text", "prompt"}:
            return dtype == pl.String
        return dtype == pl.Boolean if self.kind == "truth" else dtype.is_nested()


@dataclass(frozen=True)
class Layout:
    """The layout in which ``tacit run`` prints a table.

    Args:
        where: The rows to print, as a mapping from columns to a value or several allowed values.
        columns: The columns to print, in order; if empty, all columns that reports show.
        across: A key column whose values become columns of the printed table, such as ``stage``.
            Each contains values of the last of ``columns``, any interval on a second line.

    Examples:
        >>> from tacit import Layout
        >>> Layout(columns=("n", "accuracy")).columns
        ('n', 'accuracy')
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    where: Mapping[str, Value | tuple[Value, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    across: str | None = None


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table of findings.

    Args:
        name: The name of the table and of its file.
        title: The title.
        reading: An explanation in one or two sentences.
        columns: The declarations of all columns, in order.
        keys: The number of key columns, which come first and identify a row.
        printed: The layout in which ``tacit run`` prints the table; None if it does not.
        shown: Whether reports show the table.
        tab: The tab of the report that shows the table.
        optional: Whether the table may be missing from a run's findings.
        open: Whether the table may contain undeclared columns, such as those of a user's file.
        cluster: The column of ``questions`` whose values are resampled for intervals; None to
            resample rows.

    Examples:
        >>> from tacit import Column, TableSpec
        >>> columns = (Column("word", "word"), Column("n", "n", "count"))
        >>> TableSpec("counts", "Counts", "How often each word occurs.", columns).keys
        1
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    name: str
    title: str
    reading: str
    columns: tuple[Column, ...]
    keys: int = 1
    printed: Layout | None = None
    shown: bool = True
    tab: str = TABLES
    optional: bool = False
    open: bool = False
    cluster: str | None = None

    def check(self, table: pl.DataFrame) -> None:
        """Raise an error if a table does not match this declaration.

        Raises:
            FindingsError: A column is missing, is not declared, or has the wrong type.
        """
        columns = self._by_name
        for name, dtype in table.schema.items():
            if name in columns and not columns[name].fits(dtype):
                raise FindingsError(
                    f"the column {name} of the table {self.name} has the type {dtype}, but is "
                    f"declared as {columns[name].kind}"
                )
        self._check_names(table.columns, more=self.open)

    def _check_names(self, given: Collection[str], *, more: bool = False) -> None:
        if not more and (wrong := [name for name in given if name not in self._by_name]):
            raise FindingsError(
                f"the table {self.name} has an undeclared column {', '.join(sorted(wrong))}"
            )
        needed = [name for name, column in self._by_name.items() if not column.optional]
        if missing := [name for name in needed if name not in given]:
            raise FindingsError(f"the table {self.name} has no column {', '.join(missing)}")

    def with_reading(self, more: str) -> TableSpec:
        """Return the declaration with a sentence added to its explanation."""
        return replace(self, reading=f"{self.reading} {more}".lstrip())

    def column(self, name: str) -> Column:
        """Return the declaration of the column with the given name."""
        return next(each for each in self.columns if each.name == name)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key columns, which identify a row."""
        return tuple(column.name for column in self.columns[: self.keys])

    @property
    def schema(self) -> dict[str, Any]:
        """The polars type of each column; None for a column of lists."""
        import polars as pl

        kinds: dict[str, Any] = {
            **dict.fromkeys(_REAL, pl.Float64),
            **dict.fromkeys(("text", "prompt"), pl.String),
            "count": pl.Int64,
            "truth": pl.Boolean,
            "list": None,
        }
        return {name: kinds[column.kind] for name, column in self._by_name.items()}

    def frame(
        self,
        rows: Iterable[Mapping[str, Any]] | pl.DataFrame,
        **columns: Any,  # noqa: ANN401 - cells
    ) -> pl.DataFrame:
        """Make the table from rows, each a mapping from column names to values.

        From a data frame, the declared columns are selected. An ``Estimate`` fills the column that
        it is given for and the columns of its interval. An optional column that no row contains is
        left out.

        Args:
            rows: The rows.
            **columns: Further columns, each as a sequence of values, one per row.

        Raises:
            FindingsError: If a row lacks a declared column or contains an undeclared one.
        """
        import polars as pl

        if isinstance(rows, pl.DataFrame):
            table = rows.with_columns(**columns)
            self._check_names(table.columns, more=True)
            return table.select(
                pl.col(name) if kind is None else pl.col(name).cast(kind)
                for name, kind in self.schema.items()
                if name in table.columns
            )
        entries = [dict(self._entries(row)) for row in rows]
        for name, values in columns.items():
            for row, value in zip(entries, values, strict=True):
                row[name] = value
        given = {name for row in entries for name in row}
        for row in entries:
            self._check_names(row)
        names = [n for n, column in self._by_name.items() if not column.optional or n in given]
        return pl.DataFrame(entries, {name: self.schema[name] for name in names})

    def _entries(self, row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the cells of a row, an estimate as its value and the ends of its interval."""
        from tacit.statistics import Estimate

        for name, value in row.items():
            if isinstance(value, Estimate):
                cells = (value.value, value.low, value.high)
                yield from zip(self.column(name).names, cells, strict=False)
            else:
                yield name, value

    def of(self, questions: pl.DataFrame) -> pl.DataFrame:
        """Compute the declared table, with counts and means from the table ``questions``.

        Each column that is not a key names a column of ``questions`` in ``of``: a ``count`` counts
        the non-null values of that column, and any other kind is their mean, with a confidence
        interval if the column has ``ends``. The rows are in the order in which the values of the
        first key column first appear, then by those of the second, and so on.

        Args:
            questions: The table ``questions``, with every key column of the declared table.
        """
        keys, own = list(self.key_names), self.columns[self.keys :]
        if lacking := [column.name for column in own if column.of is None]:
            raise FindingsError(
                f"the column {lacking[0]} of the table {self.name} does not declare which column "
                "of questions it counts or averages (of=)"
            )
        values = [questions[name].unique(maintain_order=True).to_list() for name in keys]
        groups = questions.partition_by(keys, as_dict=True) if keys else {(): questions}

        def begins(key: tuple[Any, ...]) -> list[int]:
            return [of.index(value) for of, value in zip(values, key, strict=True)]

        return self.frame(
            dict(zip(keys, key, strict=True))
            | {column.name: self._counted(groups[key], column) for column in own}
            for key in sorted(groups, key=begins)
        )

    def _counted(self, rows: pl.DataFrame, column: Column) -> int | Estimate:
        """Return the number of the non-null values in ``column.of``, or their mean."""
        import polars as pl

        from tacit.statistics import Bootstrap

        values = rows.drop_nulls(column.of)
        if column.kind == "count":
            return values.height
        cluster = pl.col(self.cluster) if self.cluster else pl.int_range(pl.len())
        total = pl.col(str(column.of)).cast(pl.Float64).sum()
        sums = values.group_by(cluster=cluster).agg(total=total, n=pl.len())
        return Bootstrap().ratio(sums["cluster"], sums["total"], sums["n"])

    @property
    def _by_name(self) -> dict[str, Column]:
        return {name: column for column in self.columns for name in column.names}

    def in_table(self, table: pl.DataFrame) -> list[Column]:
        """List the declared columns that a table contains, except empty ``sparse`` columns."""
        return [
            column
            for column in self.columns
            if column.name in table.columns
            and not (column.sparse and _is_blank(table[column.name]))
        ]


def _is_blank(column: pl.Series) -> bool:
    """Return whether a column contains only zeros and nulls."""
    if column.dtype.is_numeric():
        return not (column.fill_null(0) != 0).any()
    return column.is_null().all()


def selected(table: pl.DataFrame, where: Mapping[str, Value | tuple[Value, ...]]) -> pl.DataFrame:
    """Return the rows in which each column in ``where`` has one of its values."""
    import polars as pl

    for name, values in where.items():
        of = pl.Series(values if isinstance(values, tuple) else [values], dtype=table[name].dtype)
        table = table.filter(pl.col(name).is_in(of.implode(), nulls_equal=True))
    return table


def check_tables(tables: Mapping[str, pl.DataFrame], declared: Mapping[str, TableSpec]) -> None:
    """Raise an error if a table other than ``questions`` does not match its declaration."""
    kept = {name: spec for name, spec in declared.items() if name != QUESTIONS}
    for name, table in tables.items():
        if name not in kept:
            raise FindingsError(f"there is a table {name} that the probe does not declare")
        kept[name].check(table)
    missing = [name for name, spec in kept.items() if not spec.optional and name not in tables]
    if missing:
        raise FindingsError(f"the declared table {', '.join(missing)} is missing")
