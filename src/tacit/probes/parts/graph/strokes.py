"""How edges look: lines with arrowheads, and the signs of each kind of violation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tacit.probes.figures.lettering import LINE
from tacit.probes.parts.graph.ring import DOT
from tacit.probes.parts.graph.svg import Element, Value, add, number, write

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.probes.figures.charts import Palette
    from tacit.probes.parts.graph.edges import Edge
    from tacit.probes.parts.graph.ring import Ring

    Point = tuple[float, float]

DASHES = ("7 3", "2 3", "9 3 2 3")  # by rank of the fault
_WIDTH = 1.3
_WIDTH_VIOLATED = 1.9
_BEND = 0.14  # of the length, for edges that go both ways
_HEAD = 8.0
_GAP = DOT + 2.0


def style(fault: int | None, colours: Palette) -> dict[str, Value]:
    """The stroke of an edge: violated ones differ in colour, dashes and width."""
    if fault is None:
        return {"stroke": colours.muted, "stroke_width": _WIDTH}
    return {
        "stroke": colours.faults[fault],
        "stroke_width": _WIDTH_VIOLATED,
        "stroke_dasharray": DASHES[fault],
    }


def known_by(edge: Edge) -> Mapping[str, str]:
    """The attributes that say which edge an element shows."""
    return {
        "class_": "edge" if edge.fault is None else "edge violated",
        "data_relation": edge.relation,
        "data_tail": edge.tail,
        "data_head": edge.head,
    }


def line(
    parent: Element,
    ends: tuple[Point, Point],
    look: Mapping[str, Value],
    *,
    arrow: bool,
    bent: bool = False,
) -> Element:
    """Draws a line from dot to dot, as a group; bent to its right where another comes back."""
    (x1, y1), (x2, y2) = ends
    bend = _BEND if bent else 0.0
    control = ((x1 + x2) / 2 + bend * (y1 - y2), (y1 + y2) / 2 + bend * (x2 - x1))
    start = _towards(ends[0], control, _GAP)
    tip = _towards(ends[1], control, _GAP)
    back = _towards(tip, control, _HEAD * 0.8 if arrow else 0.0)
    group = add(parent, "g")
    points = [number(value) for point in (start, control, back) for value in point]
    path = f"M{points[0]} {points[1]}Q{points[2]} {points[3]} {points[4]} {points[5]}"
    add(group, "path", d=path, fill="none", **look)
    if arrow:
        _head(group, tip, control, str(look["stroke"]))
    return group


def sign(parent: Element, middle: Point, fault: int | None, colours: Palette) -> Element:
    """Draws the sign of an edge in a table: a dot, a cross, half a dot, or a triangle."""
    x, y = middle
    size = 4.0
    group = add(parent, "g")
    if fault is None:
        add(group, "circle", cx=x, cy=y, r=2.8, fill=colours.muted)
        return group
    colour = colours.faults[fault]
    a, b, c, d = (number(value) for value in (x - size, x + size, y - size, y + size))
    if fault == 0:
        path = f"M{a} {c}L{b} {d}M{a} {d}L{b} {c}"
        add(group, "path", d=path, stroke=colour, stroke_width=2.2, fill="none")
    elif fault == 1:
        add(group, "circle", cx=x, cy=y, r=size, fill="#ffffff", stroke=colour, stroke_width=1.2)
        half = f"M{number(x)} {c}A{size} {size} 0 0 0 {number(x)} {d}Z"
        add(group, "path", d=half, fill=colour)
    else:
        path = f"M{a} {d}L{b} {d}L{number(x)} {c}Z"
        add(group, "path", d=path, stroke=colour, stroke_width=1.5, fill="#ffffff")
    return group


def _towards(point: Point, other: Point, distance: float) -> Point:
    """The point so many pixels on the way to the other."""
    length = math.dist(point, other) or 1.0
    share = distance / length
    return point[0] + (other[0] - point[0]) * share, point[1] + (other[1] - point[1]) * share


def _head(parent: Element, tip: Point, control: Point, colour: str) -> None:
    x, y = _towards(tip, control, _HEAD)
    across = ((y - tip[1]) * 0.38, (tip[0] - x) * 0.38)
    corners = [tip, (x + across[0], y + across[1]), (x - across[0], y - across[1])]
    points = " ".join(f"{number(a)},{number(b)}" for a, b in corners)
    add(parent, "polygon", points=points, fill=colour)


def draw_names(parent: Element, ring: Ring, colours: Palette) -> None:
    """Draws the dots of all parts, and their names."""
    for spot in ring.spots.values():
        add(parent, "circle", class_="part", cx=spot.x, cy=spot.y, r=DOT, fill=colours.ink)
        near = spot.label.left if spot.x > 0 else spot.label.right
        for rank, words in enumerate(spot.lines):
            write(
                parent,
                near,
                spot.label.top + (rank * LINE + 1) * ring.size,
                words,
                font_size=ring.size,
                text_anchor="start" if spot.x > 0 else "end",
                fill=colours.ink,
            )
