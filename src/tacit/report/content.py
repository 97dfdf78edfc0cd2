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
        heading: The name for people.
        kind: The format of the cells.
        to: In a column of intervals, the name of the column with the upper end. In a column of
            prompts, the name of the column whose text replaces ``{question}``.
    """

    name: str
    heading: str
    kind: Kind = "text"
    to: str | None = None


@dataclass(frozen=True)
class Details:
    """The rows of other tables that a reader can open from a row of a table.

    Args:
        key: The column whose value the row and the opened rows share.
        tables: The ids of the tables whose rows are opened.
        label: The label of the button; screen readers also read the row's name.
    """

    key: str
    tables: tuple[str, ...]
    label: str = "Open"


@dataclass(frozen=True)
class Table:
    """A table that readers can sort, filter and download.

    Args:
        id: The table's id in the page, and the name of the downloaded file.
        title: The title.
        about: How to read the table, as plain text.
        frame: The rows.
        columns: The columns that the page shows, in order; other columns of ``frame`` are omitted.
        details: The rows of other tables that a reader can open from a row of this table.
        model: The name of the model, if the table is about a single model.
        behind: The column that links this table to another table. A reader opens this table from a
            row of the other table. None if the page shows this table directly. The data of a linked
            table are unpacked on demand.
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
        """The names of the columns to which other columns refer in the attribute ``to``."""
        return tuple(column.to for column in self.columns if column.to is not None)


@dataclass(frozen=True)
class Figure:
    """A chart.

    Args:
        id: The id in the page, and the name of the downloaded file.
        title: The title.
        about: How to read the chart.
        spec: The Vega-Lite specification without its title; ``datasets`` contains the data.
        heading: The title of the chart in a downloaded image.
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
        id: The id of the set in the page, and the name of the downloaded files.
        title: The title.
        about: How to read the graphs, and which graphs are included.
        graphs: The graphs.
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
    """The value of one model on the scale of a tile.

    Args:
        model: The model's name.
        value: The value as text.
        about: The interval and the sample size as text.
        at: The position of the value on the scale, from 0 to 1; None if the value is undefined.
        low: The position of the interval's lower end, from 0 to 1; None without an interval.
        high: The position of the interval's upper end, from 0 to 1; None without an interval.
        reference: The position of the chance level, from 0 to 1; None without a chance level.
    """

    model: str
    value: str
    about: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def edge(self, name: PlaceName) -> str:
        """Return the CSS class that sets an element's left edge; for ``high``, the right edge.

        The page's style sheet declares a class for each position, because the content security
        policy forbids inline styles.
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
    """A main result of each model, in large type at the top of a section.

    Args:
        label: The name of the figure.
        about: The meaning of the main result in a few words.
        marks: One or several marks for each model that has a value.
    """

    label: str
    about: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """A section of the report: one probe, or the differences between models.

    Args:
        id: The id in the page.
        title: The heading.
        question: The question that the probe answers, in a sentence.
        said: Sentences on each model's questions and results, by model name.
        tiles: The main figures.
        blocks: The tables, figures and graphs of the section, in order.
        keys: The columns by which readers filter the section's tables, each with its values.
        notes: Sentences on how the results were computed.
        warnings: The warnings that the page shows at the top of the section.
        headlines: A sentence with the main result of each model, by model name.
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
        """The blocks that the page shows, without the tables that readers open from a row."""
        return tuple(b for b in self.blocks if not (isinstance(b, Table) and b.behind))

    def kind_of(self, block: Block) -> str:
        """Return the kind of a block (table, figure or graphs), for the template."""
        return type(block).__name__.lower()
