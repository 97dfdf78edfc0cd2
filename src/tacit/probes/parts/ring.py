"""The layout of a parts graph: parts on a ring, and lines whose labels do not overlap."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.edges import Edge

    Point = tuple[float, float]
    Box = tuple[float, float, float, float]  # left, top, right, bottom

SIZE = 13.0
"""The font size of the names of parts and of the labels of lines, in pixels."""

LINE = 1.25
"""The height of a line of text, relative to the font size."""

WIDTH = 310.0
"""The width of a graph with its names, in pixels: the room on a phone. A page may widen it."""

HEIGHTS = (80.0, 100.0, 125.0, 150.0, 180.0)
"""Half the heights of the ring to try until all labels fit, in pixels."""

_LETTER = 0.62  # the width of a letter, relative to the font size; rarely exceeded
_WIDTHS, _LONGEST = (9, 13), 48  # letters per line of a part's name, and in total
# Where on its line a label may be, the middle first.
_SHARES = sorted((step / 40 for step in range(8, 33)), key=lambda share: abs(share - 0.5))


@dataclass(frozen=True)
class Line:
    """All edges between two parts; ``names`` are the relations from the tail to the head."""

    tail: str
    head: str
    names: tuple[tuple[str, Edge], ...]
    directed: bool

    @property
    def fault(self) -> int | None:
        """The severity of the worst violation; None if there is no violation."""
        return min((e.fault for _, e in self.names if e.fault is not None), default=None)

    @property
    def size(self) -> Point:
        """The approximate width and height of the labels."""
        longest = max(len(name) + 2 * (edge.fault is not None) for name, edge in self.names)
        return longest * _LETTER * SIZE, len(self.names) * SIZE * LINE


def lines_of(edges: Sequence[Edge], ontology: Ontology) -> list[Line]:
    """Return one line per pair of related parts; lines with severe violations come first."""
    pairs: dict[frozenset[str], list[Edge]] = defaultdict(list)
    for edge in edges:
        pairs[frozenset((edge.tail, edge.head))].append(edge)
    of, lines = ontology.relations, []
    for mine in pairs.values():
        first = next((edge for edge in mine if not of[edge.relation].symmetric), mine[0])
        turned = {edge: of[edge.relation].inverse for edge in mine if edge.tail != first.tail}
        names = tuple((turned.get(edge) or edge.relation, edge) for edge in mine)
        lines.append(Line(first.tail, first.head, names, not of[first.relation].symmetric))
    return sorted(lines, key=lambda line: math.inf if line.fault is None else line.fault)


def ordered(parts: Sequence[str], lines: Sequence[Line]) -> list[str]:
    """Order the parts of a ring so that connected parts are near each other."""
    rank_of, n = {part: rank for rank, part in enumerate(parts)}, len(parts)

    def length() -> int:
        gaps = (abs(rank_of[line.tail] - rank_of[line.head]) for line in lines)
        return sum(min(gap, n - gap) for gap in gaps)

    shortest, before = length(), math.inf
    while shortest < before:
        before = shortest
        for a, b in combinations(parts, 2):
            rank_of[a], rank_of[b] = rank_of[b], rank_of[a]
            if (now := length()) < shortest:
                shortest = now
            else:
                rank_of[a], rank_of[b] = rank_of[b], rank_of[a]
    return sorted(parts, key=rank_of.__getitem__)


def spots_of(order: Sequence[str], height: float) -> dict[str, Point]:
    """Place parts clockwise on a ring that is as wide as their names let it be, or higher."""
    half = (len(order) + 1) // 2
    sides = (order[:half], order[half:][::-1])  # each from top to bottom
    tall = [_name_size(a)[1] + _name_size(b)[1] for side in sides for a, b in pairwise(side)]
    height = max(height, half * max(tall, default=0.0) / 4)
    at = {}  # x and y as shares of the ring's width and height
    for side, sign in zip(sides, (1, -1), strict=True):
        for rank, part in enumerate(side):
            y = (2 * rank + 1) / len(side) - 1
            at[part] = (sign * math.sqrt(1 - y * y), y)
    width = min(
        (WIDTH - _name_size(a)[0] - _name_size(b)[0]) / (at[a][0] - at[b][0])
        for a in sides[0]
        for b in sides[1]
    )
    return {part: (width * x, height * y) for part, (x, y) in at.items()}


def label_positions(lines: Sequence[Line], spots: Mapping[str, Point]) -> dict[Line, Point]:
    """Place the labels of as many lines as have room, in order: none lies on anything else.

    That stays true if the graph is made wider.
    """
    # A dot has room around it for the heads of arrows.
    taken = [(x - 16, y - 16, x + 16, y + 16) for x, y in spots.values()]
    taken += [name_box(part, spot) for part, spot in spots.items()]
    positions: dict[Line, Point] = {}
    labels: list[Box] = []
    for line in lines:
        start, end, (width, height) = spots[line.tail], spots[line.head], line.size
        if any(_crosses(box, start, end) for box in labels):
            continue
        others = [(spots[other.tail], spots[other.head]) for other in positions]
        for share in _SHARES:
            x, y = (a + (b - a) * share for a, b in zip(start, end, strict=True))
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            overlaps = any(_overlap(box, other) for other in taken + labels)
            if not overlaps and not any(_crosses(box, *other) for other in others):
                labels.append(box)
                positions[line] = (x, y)
                break
    return positions


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _crosses(box: Box, start: Point, end: Point) -> bool:
    """Whether a line from a point to another goes through the box."""
    enters, leaves = 0.0, 1.0
    for a, b, least, most in zip(start, end, box[:2], box[2:], strict=True):
        if a == b:
            if not least < a < most:
                return False
        else:
            first, last = sorted(((least - a) / (b - a), (most - a) / (b - a)))
            enters, leaves = max(enters, first), min(leaves, last)
    return enters < leaves


def name_box(part: str, spot: Point) -> Box:
    """The approximate box of a part's dot and name, which is beside the dot."""
    (x, y), (wide, tall) = spot, _name_size(part)
    left, right = (x, x + wide) if x > 0 else (x - wide, x)
    return left, y - tall / 2, right, y + tall / 2


def _name_size(part: str) -> Point:
    lines = name_lines(part)
    return max(map(len, lines)) * _LETTER * SIZE + 10, len(lines) * SIZE * LINE


def name_lines(part: str) -> list[str]:
    least, most = _WIDTHS  # words are broken only if they are longer than the latter
    name = short(part, _LONGEST)
    longest = max(map(len, name.split()), default=0)
    return textwrap.wrap(name, min(most, max(least, longest))) or [""]


def short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
