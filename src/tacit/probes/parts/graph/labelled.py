"""The form for drawings with few edges: one ring per world, every line labelled.

Two parts are joined by one line, whatever relations hold between them: the names beside the line
are read from its tail to its arrowhead (``above``, ``contains``), those of violated edges stand in
colour behind a cross. The form is taken only when there are at most
24 lines and every name finds a place of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.probes.figures.boxes import Box
from tacit.probes.figures.lettering import LINE, width_of
from tacit.probes.parts.graph.strokes import draw_names, known_by, line, style
from tacit.probes.parts.graph.svg import Element, add, tip, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Palette
    from tacit.probes.parts.graph.edges import Edge, Picture
    from tacit.probes.parts.graph.ring import Ring

SIZE = 10.0  # of the names of relations
_MOST_LINES = 24  # that can be followed on one ring
_MOST_NAMES = 4  # on one line
_PLACES = (0.5, 0.43, 0.57, 0.36, 0.64, 0.3, 0.7, 0.24, 0.76, 0.19, 0.81)
_TO_ARROWHEAD = 10.0  # from the middle of a dot to that of an arrowhead, in pixels
_ARROWHEAD = 9.0
_CROSS = "\N{MULTIPLICATION SIGN} "


@dataclass(frozen=True)
class Bundle:
    """All edges between two parts.

    Args:
        tail: Where the line begins, and names are read from.
        head: Where it ends.
        names: Each relation as read from tail to head, with its edge.
        directed: Whether any of them has a direction.
    """

    tail: str
    head: str
    names: tuple[tuple[str, Edge], ...]
    directed: bool

    @property
    def fault(self) -> int | None:
        """The rank of its gravest fault; None when it has none."""
        return min((edge.fault for _, edge in self.names if edge.fault is not None), default=None)


@dataclass(frozen=True)
class Labelled:
    """A bundle, and the box of its names."""

    bundle: Bundle
    box: Box


def bundles(picture: Picture, ontology: Ontology) -> list[Bundle]:
    """The drawn edges of a picture, those between the same two parts together."""
    found: dict[frozenset[str], list[Edge]] = {}
    for edge in picture.drawn:
        found.setdefault(frozenset((edge.tail, edge.head)), []).append(edge)
    return [_bundle(edges, ontology) for edges in found.values()]


def labels(bundles: Sequence[Bundle], ring: Ring) -> list[Labelled] | None:
    """A place for the names of each bundle, on its line and clear of all else; None without one."""
    if len(bundles) > _MOST_LINES:
        return None
    taken = [box for spot in ring.spots.values() for box in (spot.label, spot.dot)]
    taken += [_arrowhead(bundle, ring) for bundle in bundles if bundle.directed]
    found = []
    # Short lines have the fewest places to choose from.
    for bundle in sorted(bundles, key=lambda each: _length(each, ring)):
        if len(bundle.names) > _MOST_NAMES:
            return None
        places = [_box(bundle, share, ring) for share in _PLACES]
        free = [box for box in places if not any(box.overlaps(other) for other in taken)]
        if not free:
            return None
        others = [each for each in bundles if each is not bundle]
        best = min(free, key=lambda box: sum(_crosses(each, box, ring) for each in others))
        taken.append(best)
        found.append(Labelled(bundle, best))
    return found


def draw(parent: Element, labelled: Sequence[Labelled], ring: Ring, colours: Palette) -> None:
    """Draws lines, violated ones on top, and over them their names."""
    order = sorted(labelled, key=lambda each: each.bundle.fault is not None)
    for each in order:
        bundle = each.bundle
        tail, head = ring.spots[bundle.tail], ring.spots[bundle.head]
        drawn = line(
            parent,
            ((tail.x, tail.y), (head.x, head.y)),
            style(bundle.fault, colours),
            arrow=bundle.directed,
        )
        tip(drawn, "\n".join(edge.told for _, edge in bundle.names))
    for each in order:
        _write_names(parent, each, colours)
    draw_names(parent, ring, colours)


def _write_names(parent: Element, each: Labelled, colours: Palette) -> None:
    box = each.box
    group = add(parent, "g")
    add(
        group,
        "rect",
        x=box.left,
        y=box.top,
        width=box.right - box.left,
        height=box.bottom - box.top,
        rx=2.0,
        fill="#ffffff",
        fill_opacity=0.9,
    )
    for rank, (name, edge) in enumerate(each.bundle.names):
        fault = edge.fault
        words = write(
            group,
            (box.left + box.right) / 2,
            box.top + rank * SIZE * LINE + SIZE,
            _name(name, edge),
            font_size=SIZE,
            font_weight="normal" if fault is None else "bold",
            text_anchor="middle",
            fill=colours.ink if fault is None else colours.faults[fault],
            **known_by(edge),
        )
        tip(words, edge.told)


def _bundle(edges: Sequence[Edge], ontology: Ontology) -> Bundle:
    directed = [edge for edge in edges if not ontology.relations[edge.relation].symmetric]
    ways = [(edge.tail, edge.head) for edge in directed] or [(edges[0].tail, edges[0].head)]
    # The way that most edges go; the first one's when as many go back.
    tail, head = max(dict.fromkeys(ways), key=ways.count)
    names = [(_read(edge, tail, ontology), edge) for edge in edges]
    return Bundle(tail, head, tuple(names), bool(directed))


def _read(edge: Edge, tail: str, ontology: Ontology) -> str:
    """The name of the relation, read from ``tail``."""
    relation = ontology.relations[edge.relation]
    if edge.tail == tail or relation.symmetric:
        return edge.relation
    return relation.inverse or f"{edge.relation} (back)"


def _name(name: str, edge: Edge) -> str:
    return name if edge.fault is None else f"{_CROSS}{name}"


def _arrowhead(bundle: Bundle, ring: Ring) -> Box:
    """What holds the arrowhead, so that no name hides which way a line goes."""
    tail, head = ring.spots[bundle.tail], ring.spots[bundle.head]
    share = _TO_ARROWHEAD / (math.dist((tail.x, tail.y), (head.x, head.y)) or 1)
    x, y = head.x + (tail.x - head.x) * share, head.y + (tail.y - head.y) * share
    half = _ARROWHEAD / 2
    return Box(x - half, y - half, x + half, y + half)


def _length(bundle: Bundle, ring: Ring) -> float:
    tail, head = ring.spots[bundle.tail], ring.spots[bundle.head]
    return abs(tail.x - head.x) + abs(tail.y - head.y)


def _box(bundle: Bundle, share: float, ring: Ring) -> Box:
    """The box of the names, its middle so far along the line."""
    tail, head = ring.spots[bundle.tail], ring.spots[bundle.head]
    x, y = tail.x + (head.x - tail.x) * share, tail.y + (head.y - tail.y) * share
    widths = [
        width_of(_name(name, edge), SIZE, bold=edge.fault is not None)
        for name, edge in bundle.names
    ]
    across, down = max(widths) / 2 + 2, len(bundle.names) * SIZE * LINE / 2 + 1
    return Box(x - across, y - down, x + across, y + down)


def _crosses(bundle: Bundle, box: Box, ring: Ring) -> bool:
    """Whether the bundle's line runs through the box."""
    tail, head = ring.spots[bundle.tail], ring.spots[bundle.head]
    enter, leave = 0.0, 1.0
    for start, end, low, high in (
        (tail.x, head.x, box.left, box.right),
        (tail.y, head.y, box.top, box.bottom),
    ):
        if start == end:
            if not low < start < high:
                return False
            continue
        first, last = sorted(((low - start) / (end - start), (high - start) / (end - start)))
        enter, leave = max(enter, first), min(leave, last)
    return enter < leave
