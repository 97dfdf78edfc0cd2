"""The elements of a report: sections with tiles, tables, figures and graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

# The format of a cell. A share is shown in per cent, and a difference of shares in points with its
# sign. In a prompt, ``{question}`` is replaced by the row's question.
Kind: TypeAlias = Literal[
    "text", "count", "percent", "points", "score", "signed", "ratio", "nats", "p", "truth", "prompt"
]

PlaceName: TypeAlias = Literal["at", "low", "high", "reference"]

_MOST_NARROW = 6  # maximum columns of a table that takes half of the page's width
_SEVERAL = 2


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: The column's name in the page's data and in downloaded CSV files.
        heading: The column heading on the page.
        kind: The format of the cells.
        to: For a column with the lower ends of intervals, the name of the column with the upper
            ends. For a column of prompts, ``to`` is the name of the column whose text replaces the
            placeholder ``{question}`` in each prompt.
    """

    name: str
    heading: str
    kind: Kind = "text"
    to: str | None = None


@dataclass(frozen=True)
class Details:
    """Tables with details that a reader can open with a button in a row of another table.

    Args:
        key: The name of the column that links a table's rows to their details. The button in a
            table row opens the rows of the detail tables that have the same value in the column
            ``key``.
        tables: The HTML ids of the detail tables.
        label: The label of the button that opens the rows. For each button, screen readers announce
            the label and the name of the table row that contains the button.
    """

    key: str
    tables: tuple[str, ...]
    label: str = "Open"


@dataclass(frozen=True)
class Table:
    """A table that readers can sort, filter and download.

    Args:
        id: The table's HTML id, which is also the name of the downloaded file.
        title: The title.
        about: An explanation of the table, as plain text.
        frame: The rows of the table.
        columns: The columns that the page shows, in order; other columns of ``frame`` are omitted.
        details: The detail tables whose rows a reader can open from a row of this table; None if
            there are none.
        model: The name of the model, if the table is about a single model.
        behind: For a detail table, the name of the column by which its rows are linked to rows of
            another table; None for a table that the page shows directly. If ``behind`` is set, the
            page unpacks the table's data only when a reader opens the table.
    """

    id: str
    title: str
    about: str
    frame: pl.DataFrame
    columns: tuple[Column, ...]
    details: Details | None = None
    model: str | None = None
    behind: str | None = None

    @property
    def wide(self) -> bool:
        """Whether the table needs the full width of the page."""
        shown = len(self.columns)
        if "model" in self.frame.columns and self.frame["model"].n_unique() < _SEVERAL:
            shown -= 1  # the page omits it
        return self.details is not None or shown > _MOST_NARROW

    @property
    def columns_to(self) -> tuple[str, ...]:
        """The column names that appear in the attribute ``to`` of other columns."""
        return tuple(column.to for column in self.columns if column.to is not None)


@dataclass(frozen=True)
class Figure:
    """A chart.

    Args:
        id: The chart's HTML id, which is also the name of the downloaded file.
        title: The title.
        about: An explanation of the chart.
        spec: The Vega-Lite specification without the chart's title. The specification's entry
            ``datasets`` contains the data of the chart.
        heading: The chart's Vega-Lite title, which is included in downloaded images.
        told: The lines of the caption that the page shows below the chart.
        wide: Whether the chart needs the full width of the page.
    """

    id: str
    title: str
    about: str
    spec: Mapping[str, Any]
    heading: Mapping[str, Any] | None = None
    told: tuple[str, ...] = ()
    wide: bool = True


@dataclass(frozen=True)
class Graph:
    """One of the graphs that a reader can select.

    Args:
        labels: The values by which readers select the graph, such as model, thing and annotator.
        svg: The graph as SVG, in which ``title`` elements serve as tooltips.
    """

    labels: Mapping[str, str]
    svg: str


@dataclass(frozen=True)
class Graphs:
    """A set of graphs, of which the page shows one at a time.

    Args:
        id: The HTML id of the set of graphs, which is also part of the names of downloaded files.
        title: The title.
        about: An explanation of the graphs and of how they were selected.
        graphs: The graphs, each an SVG text with the labels by which readers select the graph.
        first: The index of the graph that is shown first.
    """

    id: str
    title: str
    about: str
    graphs: tuple[Graph, ...]
    first: int = 0
    wide: bool = True


Block: TypeAlias = Table | Figure | Graphs


@dataclass(frozen=True)
class Mark:
    """A mark that shows one model's value on the scale of a tile (box with a main result).

    Args:
        model: The model's name.
        value: The model's result, as text.
        about: The confidence interval, the sample size and the chance level as text, if available.
        at: The position of the value, from 0 (start of the scale) to 1 (end of the scale); None if
            the value is undefined.
        low: The position of the confidence interval's lower end on the scale, as a number from 0 to
            1; None if there is no interval.
        high: The position of the confidence interval's upper end on the scale, as a number from 0
            to 1; None if there is no interval.
        reference: The position of the chance level on the scale, as a number from 0 to 1; None if
            there is no chance level.
    """

    model: str
    value: str
    about: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def edge(self, name: PlaceName) -> str:
        """Return the CSS class of an element's position on the scale, such as ``left-2500``.

        For the element ``high`` (the upper end of an interval), the CSS class sets the position of
        the element's right edge. For all elements except ``high``, the CSS class sets the position
        of the element's left edge. The page's style sheet declares a class for each position,
        because the content security policy forbids inline styles.
        """
        value: float = getattr(self, name)
        within = round(10_000 * min(1.0, max(0.0, value)))  # clamped to the scale
        return f"right-{10_000 - within}" if name == "high" else f"left-{within}"

    @property
    def edges(self) -> set[str]:
        """The CSS classes of all elements of this mark."""
        names: tuple[PlaceName, ...] = get_args(PlaceName)
        return {self.edge(name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class Tile:
    """A box at the top of a section that shows one main result for each model.

    Args:
        label: The name of the result.
        about: The meaning of the main result in a few words.
        marks: The values of the main result as marks on a scale: one or more marks for each model
            that has this result.
    """

    label: str
    about: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """A section of the report, about one probe or about the differences between models.

    Args:
        id: The HTML id of the section.
        title: The heading.
        question: The question that the section answers, as one sentence.
        said: For each model name, sentences about the model's questions and results.
        tiles: The tiles, which show the main results.
        blocks: The tables, figures and graphs of the section, in order.
        keys: For each column by which readers can filter the section's tables, the values to choose
            from.
        notes: Sentences on how the results were computed.
        warnings: The warnings that the page shows at the top of the section.
        headlines: For each model name, a text of a few sentences with the model's main results.
    """

    id: str
    title: str
    question: str
    said: Mapping[str, Sequence[str]]
    tiles: tuple[Tile, ...] = ()
    blocks: tuple[Block, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    headlines: Mapping[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[Block, ...]:
        """The tables, figures and graphs of the section, except the detail tables."""
        return tuple(b for b in self.blocks if not (isinstance(b, Table) and b.behind))

    def kind_of(self, block: Block) -> str:
        """Return the kind of a block: ``table``, ``figure`` or ``graphs``."""
        return type(block).__name__.lower()
