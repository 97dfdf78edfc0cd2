"""A table of one relation: where lines between dots would be too many to follow.

Rows are subjects, columns objects, known by the numbers beside the rows. Of a symmetric relation
one half is enough.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.figures.lettering import shortened, width_of
from tacit.probes.parts.graph.strokes import known_by, sign
from tacit.probes.parts.graph.svg import Element, Value, add, mark, tip, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.probes.figures.charts import Palette
    from tacit.probes.parts.graph.edges import Edge

PITCH = 16.0  # of a row and of a column
SIZE = 10.0
_MOST_NAME = 150.0  # pixels of a part's name
_NUMBER_SIZE = 9.0


def size_of(parts: Sequence[str]) -> tuple[float, float]:
    """Width and height in pixels."""
    side = PITCH * len(parts)
    return _names_width(parts) + side, side + PITCH


def draw(
    parent: Element,
    edges: Sequence[Edge],
    parts: Sequence[str],
    colours: Palette,
    *,
    symmetric: bool,
) -> None:
    """Draws the table; (0, 0) is its upper left corner."""
    left = _names_width(parts)
    for rank, part in enumerate(parts):
        _head(parent, rank, part, left, colours)
        # What is no statement of its own is shaded: a part and itself, and the other half.
        add(
            parent,
            "rect",
            x=left + (0.0 if symmetric else PITCH * rank),
            y=PITCH * (rank + 1),
            width=PITCH * (rank + 1 if symmetric else 1),
            height=PITCH,
            fill=colours.faint,
        )
    _rules(parent, len(parts), left, colours)
    ranks = {part: rank for rank, part in enumerate(parts)}
    for edge in edges:
        x = left + PITCH * (ranks[edge.head] + 0.5)
        y = PITCH * (ranks[edge.tail] + 1.5)
        drawn = sign(parent, (x, y), edge.fault, colours)
        mark(drawn, **known_by(edge))
        tip(drawn, edge.told)


def _head(parent: Element, rank: int, part: str, left: float, colours: Palette) -> None:
    """The part's name and number beside its row, and the number above its column."""
    name = write(
        parent,
        left - 5,
        PITCH * (rank + 1.5) + SIZE * 0.36,
        f"{shortened(part, SIZE, _MOST_NAME)}  {rank + 1}",
        font_size=SIZE,
        text_anchor="end",
        fill=colours.ink,
    )
    tip(name, part)
    write(
        parent,
        left + PITCH * (rank + 0.5),
        PITCH - 4,
        str(rank + 1),
        font_size=_NUMBER_SIZE,
        text_anchor="middle",
        fill=colours.muted,
    )


def _rules(parent: Element, n: int, left: float, colours: Palette) -> None:
    look: dict[str, Value] = {"stroke": colours.faint, "stroke_width": 1.0}
    for rank in range(n + 1):
        at = PITCH * rank
        add(parent, "line", x1=left, y1=at + PITCH, x2=left + PITCH * n, y2=at + PITCH, **look)
        add(parent, "line", x1=left + at, y1=PITCH, x2=left + at, y2=PITCH * (n + 1), **look)


def _names_width(parts: Sequence[str]) -> float:
    longest = max(width_of(part, SIZE) for part in parts)
    return min(longest, _MOST_NAME) + width_of("  99", SIZE) + 8
