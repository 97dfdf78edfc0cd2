"""Where parts stand: on a ring, in the same place in every panel, their names outside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from tacit.probes.figures.boxes import Box
from tacit.probes.figures.lettering import LINE, broken, width_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

DOT = 4.0  # radius
_CLEAR = 6.0  # between a dot and its name
_SWEEPS = 10


@dataclass(frozen=True)
class Spot:
    """A part's dot, and the box of its name; (0, 0) is the middle of the ring."""

    part: str
    x: float
    y: float
    lines: tuple[str, ...]
    label: Box

    @property
    def dot(self) -> Box:
        """The box of the dot."""
        return Box(self.x - DOT, self.y - DOT, self.x + DOT, self.y + DOT)


@dataclass(frozen=True)
class Ring:
    """All parts of a drawing.

    Args:
        spots: By part.
        size: The font size of names.
    """

    spots: Mapping[str, Spot]
    size: float

    @property
    def box(self) -> Box:
        """What holds every dot and name."""
        boxes = [box for spot in self.spots.values() for box in (spot.label, spot.dot)]
        return Box(
            min(box.left for box in boxes),
            min(box.top for box in boxes),
            max(box.right for box in boxes),
            max(box.bottom for box in boxes),
        )


def ring(parts: Sequence[str], radius: float, size: float, width: float) -> Ring:
    """Places parts around a ring, clockwise from the top, none of them at the very top or bottom.

    Args:
        parts: In their order on the ring.
        radius: In pixels.
        size: The font size of names.
        width: The widest that a line of a name may be.
    """
    turn = 2 * math.pi / len(parts)
    start = 0.5 if len(parts) % 2 == 0 else 0.25
    angles = {part: (rank + start) * turn - math.pi / 2 for rank, part in enumerate(parts)}
    lines = {part: tuple(broken(part, size, width)) for part in parts}
    spots = {}
    for right in (True, False):
        side = [part for part in parts if (math.cos(angles[part]) > 0) is right]
        middles = _spread({part: angles[part] for part in side}, lines, radius, size)
        for part, middle in middles.items():
            x, y = radius * math.cos(angles[part]), radius * math.sin(angles[part])
            label = _label(lines[part], x + (1 if right else -1) * (DOT + _CLEAR), middle, size)
            spots[part] = Spot(part, x, y, lines[part], label)
    return Ring({part: spots[part] for part in parts}, size)


def ordered(parts: Sequence[str], ties: Mapping[tuple[str, str], int]) -> list[str]:
    """The parts in an order that puts those with ties near one another on a ring.

    Swaps two parts as long as that shortens the ties; a fixed result for a fixed input.

    Args:
        parts: In their own order.
        ties: How many ties two parts have.
    """
    place = {part: rank for rank, part in enumerate(parts)}

    def length() -> int:
        gaps = ((abs(place[a] - place[b]), count) for (a, b), count in ties.items())
        return sum(min(gap, len(parts) - gap) * count for gap, count in gaps)

    shortest = length()
    for _ in range(_SWEEPS):
        before = shortest
        for a, b in combinations(parts, 2):
            place[a], place[b] = place[b], place[a]
            now = length()
            if now < shortest:
                shortest = now
            else:
                place[a], place[b] = place[b], place[a]
        if shortest == before:
            break
    return sorted(parts, key=place.__getitem__)


def _spread(
    angles: Mapping[str, float], lines: Mapping[str, Sequence[str]], radius: float, size: float
) -> dict[str, float]:
    """The middle of each name on one side: beside its dot, moved up or down till none overlap."""
    heights = {part: len(lines[part]) * size * LINE + 2 for part in angles}

    def wished(part: str) -> float:
        sine = math.sin(angles[part])
        return sine * (radius + _CLEAR + heights[part] / 2)

    middles: dict[str, float] = {}
    for upper in (True, False):
        half = [part for part in angles if (math.sin(angles[part]) < 0) is upper]
        # From the height of the middle outwards, so that names move away from the edges.
        sign = -1 if upper else 1
        end = -math.inf
        if not upper and middles:
            nearest = max(middles, key=middles.__getitem__)
            end = middles[nearest] + heights[nearest] / 2
        for part in sorted(half, key=lambda each: sign * math.sin(angles[each])):
            middle = max(sign * wished(part), end + heights[part] / 2)
            middles[part] = sign * middle
            end = middle + heights[part] / 2
    return middles


def _label(lines: Sequence[str], x: float, middle: float, size: float) -> Box:
    width = max(width_of(line, size) for line in lines)
    half = len(lines) * size * LINE / 2
    left = x if x > 0 else x - width
    return Box(left, middle - half, left + width, middle + half)
