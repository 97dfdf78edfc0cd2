"""Declarations of what a reader sees of findings: headlines, details, graphs and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.findings.spec import OVERVIEW, TableSpec, Value

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Headline:
    """A main result: one value of a table for each model; a report begins with the first five.

    Args:
        label: The name of the result.
        about: The meaning of the result in a few words.
        table: The table that contains the result.
        column: The column that contains the result.
        where: The values, or allowed values, of columns that identify the result's rows.
        n: The column with the sample size, or a difference of two columns (``asked - missing``),
            and the singular noun for one element of the sample, such as ``prompt``.
        scale: The ends of the scale on which the report shows the value.
        by: The columns whose cells label the rows; if empty, only the first row is shown.
        among: The column with the number of candidate answers and the singular noun for one of
            them, which the report shows with the chance level.
        against: The headline whose value is the chance level, if the column declares none.
        baseline: What the chance level is called, such as ``shuffled beliefs``.
        best: The best possible value; None if no value is better than another.
        gain: Whether the report shows the result only if the verdict is ``weak`` or ``clear``.

    Examples:
        >>> from tacit import Headline
        >>> Headline("accuracy", "before repair", "accuracy", "accuracy").table
        'accuracy'
    """

    __pydantic_config__: ClassVar = {"extra": "forbid"}

    label: str
    about: str
    table: str
    column: str
    where: Mapping[str, Value | tuple[Value, ...]] = field(default_factory=dict)
    n: tuple[str, str] | None = None
    scale: tuple[float, float] = (0.0, 1.0)
    by: tuple[str, ...] = ()
    among: tuple[str, str] | None = None
    against: Headline | None = None
    baseline: str = "chance"
    best: float | None = None
    gain: bool = False

    def size(self, row: Mapping[str, Any]) -> int | None:
        """Return the sample size of the value in a row of the table."""
        if self.n is None:
            return None
        whole, *less = (row[name] for name in self.n[0].split(" - "))
        n: int | None = whole - sum(less) if less else whole
        return n


@dataclass(frozen=True)
class Details:
    """A table that is computed only for display, such as the details on one row of another table.

    Args:
        spec: The declaration of the table. Its name must be unique among the details of a run. The
            attributes ``printed`` and ``shown`` have the same effect as for a table of findings.
        table: The rows.
        opens: The names of the details that a reader can open from a row of this table.
        key: The name of the column that this table and those in ``opens`` have in common.
        behind: The column that links each row to a row of the parent table, from which readers open
            it in a report. If ``behind`` is None, the table has no parent and is always shown.

    Examples:
        >>> import polars as pl
        >>> from tacit import Column, Details, TableSpec
        >>> spec = TableSpec("words", "Words", "All words.", (Column("word", "word"),))
        >>> Details(spec, pl.DataFrame({"word": ["bear"]})).table.height
        1
    """

    spec: TableSpec
    table: pl.DataFrame
    opens: tuple[str, ...] = ()
    key: str | None = None
    behind: str | None = None


@dataclass(frozen=True)
class GraphSet:
    """A set of Vega-Lite charts, of which a report shows the one that the reader selects."""

    name: str
    title: str
    reading: str
    graphs: tuple[tuple[Mapping[str, str], Mapping[str, Any]], ...]
    first: int = 0
    tab: str = OVERVIEW


@dataclass(frozen=True)
class FigureSpec:
    """The declaration of a figure that a probe draws.

    Args:
        name: The name of the figure and of the figure's file.
        title: The title.
        reading: A text that explains the figure and names the corresponding figure of the paper.
        draw: A function that takes a ``tacit.charts.shown.Shown`` and returns the chart. The
            function returns None if the findings lack the data for the figure.
        tab: The tab of the report that shows the figure.
        wide: Whether the figure takes the whole width of the tab ``Overview``.

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
    tab: str = OVERVIEW
    wide: bool = False

    def __call__(self, shown: Any) -> Any:  # noqa: ANN401 - types of the charts layer
        """Return the chart."""
        return self.draw(shown)


def figure(title: str, reading: str) -> Callable[[Callable[[Any], Any]], FigureSpec]:
    """Return a decorator that converts a drawing function to a ``FigureSpec``.

    Args:
        title: The title.
        reading: A text that explains the figure and names the corresponding figure of the paper.

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
