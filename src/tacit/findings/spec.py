"""Declarations: the tables that a probe finds, their columns, its figures and its headlines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tacit.errors import FindingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

    from tacit.findings.findings import Findings
    from tacit.statistics import Estimate

Kind: TypeAlias = Literal[
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
"""What a column holds and how it is written: ``percent`` and ``points`` are of shares from 0 to 1,
``points`` with its sign; a ``score`` is a decimal, and
``signed`` a difference of scores with its sign; ``nats`` are log-probabilities; a ``number`` is
any other. In a ``prompt``, ``{question}`` stands for the text of the column that ``within`` names.
A column of lists is not shown."""

QUESTIONS = "questions"
"""The table of what was asked and answered, one row per question."""

_REAL = frozenset({"percent", "points", "score", "signed", "nats", "p", "number"})


@dataclass(frozen=True)
class Column:
    """One column of a table of findings.

    Args:
        name: Its name in the table.
        heading: What it is called where people read it.
        kind: What it holds, and how it is written.
        meaning: What it holds, in a sentence, for the reference; the heading says it without.
        ends: The columns with both ends of its 95 % CI, which stand in the table as well.
        optional: Whether only some runs have it.
        shown: Whether reports show it.
        of: Of the rows of ``questions``, the column whose mean this is; so models can be compared.
        chance: What guessing gets: a number, or the column that holds it.
        within: Of a prompt, the column whose text stands in it for ``{question}``.
        sparse: Whether it is shown only where it holds something else than zeros and nulls.
        filter: The filter of a report (one of the probe's ``filters``) whose choices are its
            values; the filter of its own name without.

    Examples:
        >>> from tacit import Column
        >>> Column("accuracy", "accuracy", "percent", ends=("low", "high")).ends
        ('low', 'high')
    """

    name: str
    heading: str
    kind: Kind = "text"
    meaning: str = ""
    ends: tuple[str, str] | None = None
    optional: bool = False
    shown: bool = True
    of: str | None = None
    chance: float | str | None = None
    within: str | None = None
    sparse: bool = False
    filter: str | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The columns that it stands for in the table: itself, and both ends of its interval."""
        return (self.name, *(self.ends or ()))

    def fits(self, dtype: pl.DataType) -> bool:
        """Whether a column of a table holds what this one declares; of nulls alone, it does."""
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
    """How ``tacit run`` prints a table in the terminal.

    Args:
        where: Of these columns, the rows with these values alone.
        columns: These columns alone, in this order; all that are shown without.
        across: The key whose values stand side by side, each with the one column of ``columns``
            that is no key, its interval below it.

    Examples:
        >>> from tacit import Layout
        >>> Layout(columns=("n", "accuracy")).columns
        ('n', 'accuracy')
    """

    where: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    across: str | None = None


@dataclass(frozen=True)
class TableSpec:
    """The declaration of a table of findings.

    Args:
        name: Its name among the findings, and its file's.
        title: What it is.
        reading: How to read it, in a sentence or two.
        columns: All of its columns, in their order.
        keys: The first so many columns name the row.
        printed: How ``tacit run`` prints it; None where it does not.
        shown: Whether reports show it.
        optional: Whether only some runs have it.
        open: Whether it may have further columns, such as a user's own.
        cluster: Of the rows of ``questions``, the column whose values are resampled together for
            intervals; None for no intervals.
        made: Makes it from the findings whenever it is shown; None where it is one of them.

    Examples:
        >>> from tacit import Column, TableSpec
        >>> columns = (Column("word", "word"), Column("n", "n", "count"))
        >>> TableSpec("counts", "Counts", "How often each word occurs.", columns).keys
        1
    """

    name: str
    title: str
    reading: str
    columns: tuple[Column, ...]
    keys: int = 1
    printed: Layout | None = None
    shown: bool = True
    optional: bool = False
    open: bool = False
    cluster: str | None = None
    made: Callable[[Findings], pl.DataFrame | None] | None = None

    def check(self, table: pl.DataFrame) -> None:
        """Refuses a table that is not as it is declared.

        Raises:
            FindingsError: A column is missing, is not declared, or holds something else.
        """
        columns = dict(self._by_name())
        for name, dtype in table.schema.items():
            if name not in columns and self.open:
                continue
            if name not in columns:
                raise FindingsError(f"the table {self.name} has a column {name}, not declared")
            if not columns[name].fits(dtype):
                raise FindingsError(
                    f"the column {name} of the table {self.name} holds {dtype}, and is declared as "
                    f"{columns[name].kind}"
                )
        missing = [
            name for name, column in columns.items() if not column.optional and name not in table
        ]
        if missing:
            raise FindingsError(f"the table {self.name} has no column {', '.join(missing)}")

    def column(self, name: str) -> Column:
        """The declared column of a name."""
        return next(each for each in self.columns if each.name == name)

    @property
    def key_names(self) -> tuple[str, ...]:
        """The columns that name a row."""
        return tuple(column.name for column in self.columns[: self.keys])

    @property
    def schema(self) -> dict[str, Any]:
        """The types of its columns; those of lists are not known."""
        import polars as pl

        kinds: dict[str, Any] = {
            **dict.fromkeys(_REAL, pl.Float64),
            **dict.fromkeys(("text", "prompt"), pl.String),
            "count": pl.Int64,
            "truth": pl.Boolean,
            "list": None,
        }
        return {name: kinds[column.kind] for name, column in self._by_name()}

    def of(self, questions: pl.DataFrame) -> pl.DataFrame:
        """The table, computed from what was asked: counts and means of other columns.

        Of a column that names another one (``of``), a count is of the rows in which that is not
        null, and a mean is taken over them, with an interval where its ``ends`` are declared.

        Args:
            questions: The rows, with this table's key columns.
        """
        import polars as pl

        keys = list(self.key_names)
        groups = questions.partition_by(keys, maintain_order=True) if keys else [questions]
        rows = [
            {name: group[name][0] for name in keys} | dict(self._counted_columns(group))
            for group in groups
        ]
        types = self.schema | {name: questions.schema[name] for name in keys}
        return pl.DataFrame(rows, schema=types)

    def _counted_columns(self, rows: pl.DataFrame) -> Iterator[tuple[str, float | int | None]]:
        for column in self.columns[self.keys :]:
            if column.of is None:
                raise FindingsError(f"the column {column.name} of {self.name} names no other one")
            if column.kind == "count":
                yield column.name, int(rows[column.of].count())
                continue
            found = self.mean(rows, column)
            yield column.name, found.value
            yield from zip(column.ends or (), (found.low, found.high), strict=False)

    def mean(self, rows: pl.DataFrame, column: Column) -> Estimate:
        """The mean of what a column is of, over rows in which that is not null."""
        from tacit.statistics import Bootstrap

        values = rows.drop_nulls(column.of)
        clusters = values[self.cluster] if self.cluster else range(values.height)
        numbers = values[str(column.of)].cast(float).to_numpy()
        return Bootstrap().ratio(clusters, numbers, numbers * 0 + 1)

    def _by_name(self) -> Iterator[tuple[str, Column]]:
        for column in self.columns:
            for name in column.names:
                yield name, column

    def in_table(self, table: pl.DataFrame) -> list[Column]:
        """The declared columns that a table has and that hold something."""
        return [
            column
            for column in self.columns
            if column.name in table.columns
            and not (column.sparse and _is_blank(table[column.name]))
        ]


@dataclass(frozen=True)
class Headline:
    """A main result on a report's first screen: one value of a table, for each model.

    Args:
        label: What it is.
        about: In a few words, what it means.
        table: The table's name, or that of a view.
        column: The column's name.
        where: The values of key columns that name the row; the first row without.
        n: The column that counts what it is taken over, and what one of that is called; or what
            makes such words of the row.
        scale: Where its scale begins and ends.
        by: The text column that names the rows, where each of them is shown; the first row alone
            without.
        among: The column that counts the candidates that chance is among, and what one of them is
            called, where that is said in words.

    Examples:
        >>> from tacit import Headline
        >>> Headline("accuracy", "before repair", "accuracy", "accuracy").table
        'accuracy'
    """

    label: str
    about: str
    table: str
    column: str
    where: Mapping[str, str] = field(default_factory=dict)
    n: tuple[str, str] | Callable[[Mapping[str, Any]], str] | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    by: str | None = None
    among: tuple[str, str] | None = None


def _is_blank(column: pl.Series) -> bool:
    """Whether it holds zeros and nulls alone."""
    if column.dtype.is_numeric():
        return not (column.fill_null(0) != 0).any()
    return column.is_null().all()


@dataclass(frozen=True)
class View:
    """A table made for reading alone, such as the rows behind a row of another.

    Args:
        spec: What it is; its name is its own among the views of a run. As other tables it is
            printed or not, and shown in reports or not.
        table: Its rows.
        opens: The views whose rows open behind one of its rows.
        key: The column that a row shares with those.
        behind: The column that it shares with the view behind whose rows it opens; None where it
            stands in the report itself.

    Examples:
        >>> import polars as pl
        >>> from tacit import Column, TableSpec, View
        >>> spec = TableSpec("words", "Words", "All words.", (Column("word", "word"),))
        >>> View(spec, pl.DataFrame({"word": ["bear"]})).table.height
        1
    """

    spec: TableSpec
    table: pl.DataFrame
    opens: tuple[str, ...] = ()
    key: str | None = None
    behind: str | None = None


@dataclass(frozen=True)
class GraphSet:
    """Graphs, one of which a reader chooses.

    Args:
        name: Their name in a report.
        title: What they are.
        reading: How to read them, and which are there.
        graphs: The labels of each by what one chooses (model, thing), and its SVG.
        first: The number of the one that is shown first.
    """

    name: str
    title: str
    reading: str
    graphs: tuple[tuple[Mapping[str, str], str], ...]
    first: int = 0


@dataclass(frozen=True)
class FigureSpec:
    """A figure that a probe draws.

    Args:
        name: Its name, and its file's.
        title: What it is.
        reading: How to read it, and which figure of the paper it is.
        draw: From what is shown (``tacit.charts.shown.Shown``) to a chart; None where
            the findings do not allow it.

    Examples:
        >>> from tacit import figure
        >>> @figure("Accuracy", "The accuracy of each model.")
        ... def accuracy(shown):
        ...     return []
        >>> accuracy.name, accuracy.title
        ('accuracy', 'Accuracy')
    """

    name: str
    title: str
    reading: str
    draw: Callable[[Any], Any]

    def __call__(self, shown: Any) -> Any:  # noqa: ANN401 - of the layer of figures
        """The chart."""
        return self.draw(shown)


def figure(title: str, reading: str) -> Callable[[Callable[[Any], Any]], FigureSpec]:
    """Declares a figure; the decorated function draws it and names it.

    Args:
        title: What it is.
        reading: How to read it, and which figure of the paper it is.

    Examples:
        >>> from tacit import figure
        >>> @figure("Accuracy", "The accuracy of each model.")
        ... def accuracy(shown):
        ...     return []
        >>> accuracy.reading
        'The accuracy of each model.'
    """

    def declared(draw: Callable[[Any], Any]) -> FigureSpec:
        return FigureSpec(draw.__name__, title, reading, draw)

    return declared


def check_tables(tables: Mapping[str, pl.DataFrame], declared: Mapping[str, TableSpec]) -> None:
    """Refuses findings' tables, ``questions`` apart, that are not as a probe declares them.

    Raises:
        FindingsError: A table is missing or not declared, or as ``TableSpec.check``.
    """
    kept = {
        name: spec for name, spec in declared.items() if spec.made is None and name != QUESTIONS
    }
    for name, table in tables.items():
        if name not in kept:
            raise FindingsError(f"there is a table {name}, which the probe does not declare")
        kept[name].check(table)
    missing = [name for name, spec in kept.items() if not spec.optional and name not in tables]
    if missing:
        raise FindingsError(f"there is no table {', '.join(missing)}, which the probe declares")
