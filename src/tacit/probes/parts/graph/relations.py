"""The form for drawings with many edges: a row of panels for each relation.

A relation with few edges in a world is drawn as lines on the ring of parts, one with many as a
table. Names of relations stand above the rows, so that no line needs one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.english import number_of, several
from tacit.probes.figures.lettering import shortened, width_of
from tacit.probes.parts.graph import grid
from tacit.probes.parts.graph.strokes import draw_names, known_by, line, style
from tacit.probes.parts.graph.svg import add, mark, tip, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Palette
    from tacit.probes.parts.graph.edges import Edge, Picture
    from tacit.probes.parts.graph.ring import Ring
    from tacit.probes.parts.graph.svg import Element

SIZE = 10.0
_FEW = 8  # lines that can be followed whatever the number of parts
_PER_PART = 1.5  # lines that can be followed for each part
_HEADING = 12.0
_ABOVE = 46.0  # pixels of a row's heading and captions
_BELOW = 20.0


@dataclass(frozen=True)
class Row:
    """One relation in all worlds.

    Args:
        relation: Its name.
        symmetric: Whether its edges have no direction.
        said: What a line or a mark of it says.
        edges: Its edges in each world.
    """

    relation: str
    symmetric: bool
    said: str
    edges: tuple[tuple[Edge, ...], ...]


@dataclass(frozen=True)
class Room:
    """What all panels share: the worlds, the parts, their ring, and the width of a panel."""

    worlds: Sequence[str]
    parts: Sequence[str]
    ring: Ring
    width: float
    colours: Palette


def rows(pictures: Sequence[Picture], ontology: Ontology) -> list[Row]:
    """The relations that have an edge in any of the worlds, in the ontology's order."""
    found = []
    for name, properties in ontology.relations.items():
        edges = tuple(each.by_relation.get(name, ()) for each in pictures)
        if any(edges):
            found.append(Row(name, properties.symmetric, _said(name, ontology), edges))
    return found


def is_table(edges: Sequence[Edge], parts: Sequence[str]) -> bool:
    """Whether there are more lines than can be followed: over 8, and over 1.5 for each part."""
    drawn = sum(not edge.follows for edge in edges)
    return drawn > max(_FEW, _PER_PART * len(parts))


def height_of(row: Row, room: Room) -> float:
    """The height of a row in pixels, its heading included."""
    heights = [_panel_height(edges, room) for edges in row.edges]
    return _ABOVE + max(heights) + _BELOW


def draw(parent: Element, row: Row, room: Room) -> None:
    """Draws a row; (0, 0) is its upper left corner."""
    colours = room.colours
    write(parent, 0, 14, row.relation, font_size=_HEADING, font_weight="bold", fill=colours.ink)
    right_of = width_of(row.relation, _HEADING, bold=True) + 12
    said = shortened(row.said, SIZE, room.width * len(row.edges) - right_of)
    write(parent, right_of, 14, said, font_size=SIZE, fill=colours.muted)
    height = height_of(row, room) - _ABOVE - _BELOW
    for rank, edges in enumerate(row.edges):
        left = rank * room.width
        told = write(parent, left, 34, _caption(edges, room), font_size=SIZE, fill=colours.ink)
        follow = [edge.told.split("\n", 1)[0] for edge in edges if edge.follows]
        if follow and not is_table(edges, room.parts):
            tip(told, "not drawn, because they follow:\n" + "\n".join(follow))
        if edges:
            group = add(parent, "g", transform=_moved(edges, room, left, height))
            mark(group, data_world=room.worlds[rank])
            _draw_panel(group, row, edges, room)


def _draw_panel(parent: Element, row: Row, edges: Sequence[Edge], room: Room) -> None:
    if is_table(edges, room.parts):
        grid.draw(parent, edges, room.parts, room.colours, symmetric=row.symmetric)
        return
    ways = {(edge.tail, edge.head) for edge in edges if not edge.follows}
    # Violated edges stand on top.
    for edge in sorted(edges, key=lambda each: each.fault is not None):
        if edge.follows:
            continue
        tail, head = room.ring.spots[edge.tail], room.ring.spots[edge.head]
        drawn = line(
            parent,
            ((tail.x, tail.y), (head.x, head.y)),
            style(edge.fault, room.colours),
            arrow=not row.symmetric,
            bent=(edge.head, edge.tail) in ways,
        )
        mark(drawn, **known_by(edge))
        tip(drawn, edge.told)
    draw_names(parent, room.ring, room.colours)


def _said(relation: str, ontology: Ontology) -> str:
    properties = ontology.relations[relation]
    if properties.symmetric:
        return f"a line or a mark of x and y: x {relation} y, and y {relation} x"
    also = f", and y {properties.inverse} x" if properties.inverse else ""
    return f"an arrow from x to y, or a mark in row x and column y: x {relation} y{also}"


def _caption(edges: Sequence[Edge], room: Room) -> str:
    if not edges:
        return "no edge"
    violated = sum(edge.fault is not None for edge in edges)
    follow = 0 if is_table(edges, room.parts) else sum(edge.follows for edge in edges)
    count = f"{several(len(edges), 'edge')}: {violated} violated"
    why = number_of(follow, "it follows", "they follow")
    return f"{count}, {follow} not drawn, because {why}" if follow else count


def _panel_height(edges: Sequence[Edge], room: Room) -> float:
    if not edges:
        return 0.0
    if is_table(edges, room.parts):
        return grid.size_of(room.parts)[1]
    box = room.ring.box
    return box.bottom - box.top


def _moved(edges: Sequence[Edge], room: Room, left: float, height: float) -> str:
    """Where a panel's origin goes: tables to the left, rings to the middle."""
    if is_table(edges, room.parts):
        return f"translate({left:.1f} {_ABOVE:.1f})"
    box = room.ring.box
    x = left - box.left
    y = _ABOVE + height / 2 - (box.top + box.bottom) / 2
    return f"translate({x:.1f} {y:.1f})"
