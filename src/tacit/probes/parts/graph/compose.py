"""The whole figure: title, a column per world, the panels in either form, the key."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.english import number_of, several
from tacit.probes.figures.lettering import broken, shortened
from tacit.probes.parts.graph import grid, labelled, relations
from tacit.probes.parts.graph.edges import FAULTS
from tacit.probes.parts.graph.ring import ordered, ring
from tacit.probes.parts.graph.strokes import line, sign, style
from tacit.probes.parts.graph.svg import add, document, serialised, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Palette
    from tacit.probes.parts.graph.edges import Picture
    from tacit.probes.parts.graph.ring import Ring
    from tacit.probes.parts.graph.svg import Element, Value

_MARGIN = 20.0
_GAP = 30.0  # between columns
_COLUMN = 290.0  # the least width of a column, for its heading
_TITLE, _WORDS, _SMALL = 16.0, 12.0, 10.5
_KEY_ITEM = 26.0
_FACTORS = (1.0, 1.2, 1.45)  # how much larger a ring may get to find a place for each name


@dataclass(frozen=True)
class Column:
    """One world, and what stands above it.

    Args:
        picture: The world.
        colour: Its colour in all figures.
        title: What it is.
        about: Its counts, a line each.
    """

    picture: Picture
    colour: str
    title: str
    about: tuple[str, ...]


@dataclass(frozen=True)
class Subject:
    """What is drawn: its title, the line below it, and its parts in their own order."""

    title: str
    about: str
    parts: Sequence[str]


def composed(
    subject: Subject, columns: Sequence[Column], ontology: Ontology, colours: Palette
) -> str:
    """The figure as SVG: lines with names where all names find a place, else relation by relation.

    Args:
        subject: What is drawn.
        columns: The worlds, from left to right.
        ontology: The relations.
        colours: The palette.
    """
    pictures = [column.picture for column in columns]
    ties = Counter(
        (edge.tail, edge.head) for each in pictures for edge in each.drawn if edge.tail != edge.head
    )
    order = ordered(subject.parts, ties)
    n = len(subject.parts)
    for factor in _FACTORS:
        large = ring(order, factor * max(95.0, 40 + 13.0 * n), 12.0, 110.0)
        places = [labelled.labels(labelled.bundles(each, ontology), large) for each in pictures]
        found = [each for each in places if each is not None]
        if len(found) == len(pictures):
            return _labelled(subject, columns, found, large, colours)
    small = ring(order, max(62.0, 30 + 6.5 * n), 10.0, 95.0)
    return _by_relation(subject, columns, relations.rows(pictures, ontology), small, colours)


def _labelled(
    subject: Subject,
    columns: Sequence[Column],
    places: Sequence[Sequence[labelled.Labelled]],
    around: Ring,
    colours: Palette,
) -> str:
    box = around.box
    width = max(box.right - box.left, _COLUMN) + _GAP
    body = box.bottom - box.top
    columns = [_with_left_out(column) for column in columns]
    page = _Page.begin(subject, columns, width, body + 10, colours)
    for rank, found in enumerate(places):
        x = _MARGIN + rank * width - box.left
        place = f"translate({x:.1f} {page.top - box.top:.1f})"
        group = add(page.root, "g", transform=place, data_world=columns[rank].picture.world)
        labelled.draw(group, found, around, colours)
    return page.finished(columns, colours, tables=False)


def _with_left_out(column: Column) -> Column:
    """The column, its counts with how many edges are not drawn."""
    edges = column.picture.edges
    follow = len(edges) - len(column.picture.drawn)
    if not follow:
        return column
    left_out = (
        f"{follow} of {several(len(edges), 'edge')} not drawn: "
        f"{number_of(follow, 'it follows', 'they follow')}"
    )
    return replace(column, about=(*column.about, left_out))


def _by_relation(
    subject: Subject,
    columns: Sequence[Column],
    rows: Sequence[relations.Row],
    around: Ring,
    colours: Palette,
) -> str:
    box = around.box
    width = max(box.right - box.left, _COLUMN, grid.size_of(subject.parts)[0]) + _GAP
    worlds = [column.picture.world for column in columns]
    room = relations.Room(worlds, subject.parts, around, width, colours)
    heights = [relations.height_of(row, room) for row in rows]
    page = _Page.begin(subject, columns, width, sum(heights), colours)
    top = page.top
    for row, height in zip(rows, heights, strict=True):
        right = page.width - _MARGIN
        rule: dict[str, Value] = {"stroke": colours.faint, "stroke_width": 1.0}
        add(page.root, "line", x1=_MARGIN, y1=top - 4, x2=right, y2=top - 4, **rule)
        group = add(page.root, "g", transform=f"translate({_MARGIN} {top:.1f})")
        relations.draw(group, row, room)
        top += height
    tables = any(relations.is_table(edges, subject.parts) for row in rows for edges in row.edges)
    return page.finished(columns, colours, tables=tables)


@dataclass(frozen=True)
class _Page:
    """The figure while it is made.

    Args:
        root: The document.
        width: In pixels.
        top: Where the panels begin.
        bottom: Where the key begins.
    """

    root: Element
    width: float
    top: float
    bottom: float

    @classmethod
    def begin(
        cls,
        subject: Subject,
        columns: Sequence[Column],
        column: float,
        body: float,
        colours: Palette,
    ) -> _Page:
        """Draws the title and the headings; ``body`` is the height of the panels."""
        width = 2 * _MARGIN + column * len(columns)
        titles = broken(subject.title, _TITLE * 1.15, width - 2 * _MARGIN)
        below = _MARGIN + len(titles) * 20 + 18
        lines = max(len(each.about) for each in columns)
        top = below + 32 + lines * 15 + 12
        bottom = top + body
        height = bottom + _KEY_ITEM * (1 + len(_kinds(columns))) + _MARGIN
        root = document(width, height, f"{subject.title}: {subject.about}")
        for rank, words in enumerate(titles):
            y = _MARGIN + 14 + rank * 20
            write(root, _MARGIN, y, words, font_size=_TITLE, font_weight="bold", fill=colours.ink)
        about = shortened(subject.about, _SMALL, width - 2 * _MARGIN)
        write(root, _MARGIN, below, about, font_size=_SMALL, fill=colours.ink)
        for rank, each in enumerate(columns):
            group = add(root, "g", transform=f"translate({_MARGIN + rank * column:.1f} {below})")
            _heading(group, each, colours)
        return cls(root, width, top, bottom)

    def finished(self, columns: Sequence[Column], colours: Palette, *, tables: bool) -> str:
        """Draws the key, with the signs of tables where there are any, and gives all as text."""
        kinds = _kinds(columns)
        rows: list[tuple[int | None, str]] = [
            (None, "believed, and no constraint violated"),
            *((kind, f"violated: {FAULTS[kind][0]}") for kind in kinds),
        ]
        for rank, (kind, words) in enumerate(rows):
            y = self.bottom + _KEY_ITEM * (rank + 0.5)
            ends = ((_MARGIN, y), (_MARGIN + 60, y))
            line(self.root, ends, style(kind, colours), arrow=False)
            if tables:
                sign(self.root, (_MARGIN + 74, y), kind, colours)
            write(
                self.root,
                _MARGIN + (90 if tables else 74),
                y + 4,
                words,
                font_size=_SMALL,
                fill=colours.ink,
            )
        return serialised(self.root)


def _kinds(columns: Sequence[Column]) -> list[int]:
    """The kinds of fault that any world has."""
    return sorted(
        {edge.fault for each in columns for edge in each.picture.edges if edge.fault is not None}
    )


def _heading(parent: Element, column: Column, colours: Palette) -> None:
    add(parent, "rect", x=0.0, y=16.0, width=12.0, height=12.0, fill=column.colour)
    write(parent, 18, 27, column.title, font_size=_WORDS, font_weight="bold", fill=colours.ink)
    for rank, words in enumerate(column.about):
        write(parent, 0, 44 + rank * 15, words, font_size=_SMALL, fill=colours.ink)
