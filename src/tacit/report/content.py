"""What a report is made of: sections of figures, tables, tiles and graphs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

# How a cell is written. A share is shown in per cent, a gain in points with its sign; a prompt's
# ``{question}`` stands for the row's question.
Kind: TypeAlias = Literal[
    "text", "count", "percent", "points", "score", "signed", "nats", "p", "truth", "prompt"
]

PlaceName: TypeAlias = Literal["at", "low", "high", "reference"]

_MOST_NARROW = 6  # columns of a table that leaves room for another beside it
_SEVERAL = 2


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Args:
        name: Its name in the data, and in CSV.
        heading: Its name for people.
        kind: How its cells are written.
        to: The column with the other end, where the cell shows an interval; for a prompt, the one
            that stands in it for ``{question}``.
    """

    name: str
    heading: str
    kind: Kind = "text"
    to: str | None = None


@dataclass(frozen=True)
class Details:
    """What opens behind a row of a table: the rows of other tables that have the same key.

    Args:
        key: The column that the row and the other tables' rows share.
        tables: The other tables.
        label: What the button is called, before the row's first cell.
    """

    key: str
    tables: tuple[str, ...]
    label: str = "Open"


@dataclass(frozen=True)
class Table:
    """A table that people sort, filter and download.

    Args:
        id: Its name in the page, and of its file.
        title: What it is.
        about: How to read it; plain text.
        frame: Its rows.
        columns: In their order; columns of the frame that are not among them stay out.
        details: What opens behind a row.
        model: The model that it is about, where it is about one.
        behind: The column that it shares with a table behind whose rows it shows, and is unpacked
            only then; None where it stands in the page.
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
        """Whether it needs the page's whole width."""
        shown = len(self.columns)
        if "model" in self.frame.columns and self.frame["model"].n_unique() < _SEVERAL:
            shown -= 1  # the page leaves it out
        return self.details is not None or shown > _MOST_NARROW

    @property
    def columns_to(self) -> tuple[str, ...]:
        """The columns that other columns need."""
        return tuple(column.to for column in self.columns if column.to is not None)


@dataclass(frozen=True)
class Figure:
    """A chart.

    Args:
        id: Its name in the page, and of its file.
        title: What it is.
        about: How to read it.
        spec: In Vega-Lite, with its data under ``datasets``, without its title.
        heading: The title that stands over it where it is saved as a file.
        told: What the title's caption says, which stands in the page.
        wide: Whether it needs the page's whole width.
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
    """A picture that one chooses among others.

    Args:
        labels: What it is of, by what one chooses: model, thing, annotator.
        svg: The picture; its ``title`` elements say what lies under the pointer.
    """

    labels: Mapping[str, str]
    svg: str


@dataclass(frozen=True)
class Graphs:
    """GraphSet, one of which is shown.

    Args:
        id: Their name in the page, and of their files.
        title: What they are.
        about: How to read them, and which are there.
        graphs: The pictures.
        first: Number of the one that is shown first.
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
    """What one model gets, on a scale.

    Args:
        model: Whose figure it is.
        value: In words.
        about: Interval and n, in words.
        at: Where the value stands on the scale, 0 to 1; None when it is undefined.
        low: Where the interval begins; None when there is none.
        high: Where it ends.
        reference: Where chance stands; None when there is none.
    """

    model: str
    value: str
    about: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def edge(self, name: PlaceName) -> str:
        """The class of an element that begins, or for ``high`` ends, where something stands.

        ``edges`` are declared in the page's style, whose policy allows none in an element.
        """
        value: float = getattr(self, name)
        within = round(10_000 * min(1.0, max(0.0, value)))  # at the scale's end when it is beyond
        return f"right-{10_000 - within}" if name == "high" else f"left-{within}"

    @property
    def edges(self) -> set[str]:
        """The classes of all that stands on the scale."""
        names: tuple[PlaceName, ...] = get_args(PlaceName)
        return {self.edge(name) for name in names if getattr(self, name) is not None}


@dataclass(frozen=True)
class Tile:
    """One figure of each model, large.

    Args:
        label: What it is.
        about: In a few words, what it means.
        marks: One per model.
    """

    label: str
    about: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """One probe, or one part of the report.

    Args:
        id: Its name in the page.
        title: Its heading.
        question: What the probe asks, in a sentence.
        said: What was asked and what came out: sentences for each model, by its name.
        tiles: The main figures.
        blocks: What stands in the section, in its order.
        keys: The columns to filter by, with what they hold.
        notes: How the figures were made: plain sentences.
        warnings: What a reader must know first.
        headlines: The main result of each model in a sentence, by its name.
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
        """The blocks that stand in the page."""
        return tuple(b for b in self.blocks if not (isinstance(b, Table) and b.behind))

    def kind_of(self, block: Block) -> str:
        """What the template draws."""
        return type(block).__name__.lower()
