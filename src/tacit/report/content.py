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
    """A column of a table."""

    name: str
    heading: str
    kind: Kind = "text"
    to: str | None = None


@dataclass(frozen=True)
class Details:
    """Tables with details that a reader can open with a button in a row of another table."""

    key: str
    tables: tuple[str, ...]
    label: str = "Open"


@dataclass(frozen=True)
class Table:
    """A table that readers can sort, filter and download."""

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
    """A chart."""

    id: str
    title: str
    about: str
    spec: Mapping[str, Any]
    heading: Mapping[str, Any] | None = None
    told: tuple[str, ...] = ()
    wide: bool = True


@dataclass(frozen=True)
class Graph:
    """One of the graphs that a reader can select."""

    labels: Mapping[str, str]
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Graphs:
    """A set of graphs, of which the page shows one at a time."""

    id: str
    title: str
    about: str
    graphs: tuple[Graph, ...]
    first: int = 0
    wide: bool = True


Block: TypeAlias = Table | Figure | Graphs


@dataclass(frozen=True)
class Mark:
    """A mark that shows one model's value on the scale of a tile (box with a main result)."""

    model: str
    value: str
    about: str
    at: float | None = None
    low: float | None = None
    high: float | None = None
    reference: float | None = None

    def edge(self, name: PlaceName) -> str:
        """Return the CSS class of an element's position on the scale, such as ``left-2500``."""
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
    """A box at the top of a section that shows one main result for each model."""

    label: str
    about: str
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Section:
    """A section of the report, about one probe or about the differences between models."""

    id: str
    title: str
    question: str
    said: Mapping[str, Sequence[str]]
    tiles: tuple[Tile, ...] = ()
    blocks: tuple[Block, ...] = ()
    keys: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    headlines: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def shown(self) -> tuple[Block, ...]:
        """The tables, figures and graphs of the section, except the detail tables."""
        return tuple(b for b in self.blocks if not (isinstance(b, Table) and b.behind))

    def kind_of(self, block: Block) -> str:
        """Return the kind of a block: ``table``, ``figure`` or ``graphs``."""
        return type(block).__name__.lower()
