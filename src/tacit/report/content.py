"""The elements of a report: sections with figures, tables, tiles and graphs."""

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
        name: The name in the data and in CSV.
        heading: The name for people.
        kind: The format of the cells.
        to: For an interval, the column with the upper end; for a prompt, the column whose text
            replaces ``{question}``.
    """

    name: str
    heading: str
    kind: Kind = "text"
    to: str | None = None


@dataclass(frozen=True)
class Details:
    """The rows that open behind a row of a table: those of other tables with the same key.

    Args:
        key: The column that the tables share.
        tables: The ids of the other tables.
        label: The button's label; for screen readers, the row's name is appended.
    """

    key: str
    tables: tuple[str, ...]
    label: str = "Open"


@dataclass(frozen=True)
class Table:
    """A table that readers sort, filter and download.

    Args:
        id: The id in the page, and the name of the downloaded file.
        title: The title.
        about: How to read the table; plain text.
        frame: The rows.
        columns: The columns, in order; other columns of the frame are omitted.
        details: The rows that open behind a row.
        model: The model, if the table is about a single one.
        behind: The column shared with the table behind whose rows this one opens; such a table is
            unpacked on demand. None for a table in the page itself.
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
        """Whether the table needs the page's full width."""
        shown = len(self.columns)
        if "model" in self.frame.columns and self.frame["model"].n_unique() < _SEVERAL:
            shown -= 1  # the page omits it
        return self.details is not None or shown > _MOST_NARROW

    @property
    def columns_to(self) -> tuple[str, ...]:
        """The columns that other columns refer to."""
        return tuple(column.to for column in self.columns if column.to is not None)


@dataclass(frozen=True)
class Figure:
    """A chart.

    Args:
        id: The id in the page, and the name of the downloaded file.
        title: The title.
        about: How to read the chart.
        spec: The Vega-Lite specification without its title; the data are under ``datasets``.
        heading: The title of the chart in a downloaded file.
        told: The lines of the caption, which the page shows.
        wide: Whether the chart needs the page's full width.
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
    """A graph that a reader selects among others.

    Args:
        labels: The values to select by: model, thing, annotator.
        svg: The graph as SVG; ``title`` elements serve as tooltips.
    """

    labels: Mapping[str, str]
    svg: str


@dataclass(frozen=True)
class Graphs:
    """A set of graphs, one of which is shown at a time.

    Args:
        id: The id in the page, and the name of the downloaded files.
        title: The title.
        about: How to read the graphs, and which are included.
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
    """The value of one model on a scale.

    Args:
        model: The model's name.
        value: The value as text.
        about: The interval and n as text.
        at: The position of the value on the scale, 0 to 1; None if undefined.
        low: The position of the interval's lower end; None without an interval.
        high: The position of the interval's upper end.
        reference: The position of the chance level; None without one.
    """

    model: str
    value: str
    about: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def edge(self, name: PlaceName) -> str:
        """Return the CSS class that positions an element's left edge; for ``high``, its right edge.

        The page's style sheet declares these classes (``edges``), because the content security
        policy forbids inline styles.
        """
        value: float = getattr(self, name)
        within = round(10_000 * min(1.0, max(0.0, value)))  # clamped to the scale
        return f"right-{10_000 - within}" if name == "high" else f"left-{within}"

    @property
    def edges(self) -> set[str]:
        """The CSS classes of all elements on the scale."""
        names: tuple[PlaceName, ...] = get_args(PlaceName)
        return {self.edge(name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class Tile:
    """One main figure of each model, in large type.

    Args:
        label: The name of the figure.
        about: The meaning in a few words.
        marks: The marks, at least one per model that has a value.
    """

    label: str
    about: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """One probe, or another part of the report.

    Args:
        id: The id in the page.
        title: The heading.
        question: The probe's question, in a sentence.
        said: Sentences on the questions and results, by model.
        tiles: The main figures.
        blocks: The tables, figures and graphs, in order.
        keys: The columns to filter by, with their values.
        notes: How the figures were computed, in sentences.
        warnings: Warnings at the top of the section.
        headlines: The main result of each model in a sentence, by model.
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
        """The blocks that the page shows."""
        return tuple(b for b in self.blocks if not (isinstance(b, Table) and b.behind))

    def kind_of(self, block: Block) -> str:
        """Return the kind of a block, for the template."""
        return type(block).__name__.lower()
