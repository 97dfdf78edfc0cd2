"""The layout of a parts graph: parts on a ring, and lines whose labels do not overlap."""

from __future__ import annotations

import math
import textwrap
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.edges import Edge

    Point = tuple[float, float]
    Box = tuple[float, float, float, float]  # left, top, right, bottom

NAME, LABEL = 13.0, 12.0
"""The font sizes of the names of parts and of the labels of lines, in pixels."""

LINE = 1.25
"""The height of a line of text, relative to the font size."""

FACTORS = (0.75, 1.0, 1.25, 1.5)
"""The sizes of the ring to try until all labels fit."""

_FLAT = 0.72  # the height of the ring, relative to its width
_LETTER = 0.62  # the width of a letter, relative to the font size; rarely exceeded
_WIDEST, _LONGEST = 13, 48  # letters per line of a part's name, and in total
_SHARES = (0.5, 0.43, 0.57, 0.36, 0.64, 0.3, 0.7, 0.24, 0.76)  # where on its line a label may be


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
        return longest * _LETTER * LABEL, len(self.names) * LABEL * LINE


def lines_of(found: Sequence[Edge], ontology: Ontology) -> list[Line]:
    """Return one line per pair of related parts; lines with severe violations come first."""
    pairs: dict[frozenset[str], list[Edge]] = defaultdict(list)
    for edge in found:
        pairs[frozenset((edge.tail, edge.head))].append(edge)
    of, lines = ontology.relations, []
    for mine in pairs.values():
        first = next((edge for edge in mine if not of[edge.relation].symmetric), mine[0])
        turned = {edge: of[edge.relation].inverse for edge in mine if edge.tail != first.tail}
        names = tuple((turned.get(edge) or edge.relation, edge) for edge in mine)
        lines.append(Line(first.tail, first.head, names, not of[first.relation].symmetric))
    return sorted(lines, key=lambda line: math.inf if line.fault is None else line.fault)


def spots_of(parts: Sequence[str], lines: Sequence[Line], factor: float) -> dict[str, Point]:
    """Place the parts clockwise on a ring, so that connected parts are near each other."""
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
    radius = factor * max(95.0, 40 + 13.0 * n)
    start = 0.5 if n % 2 == 0 else 0.25
    angles = {part: (rank + start) * 2 * math.pi / n for part, rank in rank_of.items()}
    return {
        part: (radius * math.sin(at), -_FLAT * radius * math.cos(at)) for part, at in angles.items()
    }


def label_positions(lines: Sequence[Line], spots: Mapping[str, Point]) -> dict[Line, Point] | None:
    """Place the labels on their lines so that none overlap; None if a label does not fit."""
    taken = [(x - 12, y - 12, x + 12, y + 12) for x, y in spots.values()]
    taken += [name_box(part, spot) for part, spot in spots.items()]
    found = {}
    for line in lines:
        (x1, y1), (x2, y2), (width, height) = spots[line.tail], spots[line.head], line.size
        for share in _SHARES:
            x, y = x1 + (x2 - x1) * share, y1 + (y2 - y1) * share
            box = (x - width / 2, y - height / 2, x + width / 2, y + height / 2)
            if not any(_overlap(box, other) for other in taken):
                break
        else:
            return None
        taken.append(box)
        found[line] = (x, y)
    return found


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def name_box(part: str, spot: Point) -> Box:
    """The approximate box of a part's dot and name, which is beside the dot."""
    (x, y), lines = spot, name_lines(part)
    wide, tall = max(map(len, lines)) * _LETTER * NAME + 10, len(lines) * NAME * LINE / 2
    return (x, y - tall, x + wide, y + tall) if x > 0 else (x - wide, y - tall, x, y + tall)


def name_lines(part: str) -> list[str]:
    return textwrap.wrap(short(part, _LONGEST), _WIDEST) or [""]


def short(words: str, most: int) -> str:
    return words if len(words) <= most else f"{words[: most - 1]}\N{HORIZONTAL ELLIPSIS}"
