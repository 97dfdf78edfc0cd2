"""Places for the names of points in a chart, so that no name covers a point or another name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from tacit.probes.figures.boxes import Box
from tacit.probes.figures.charts import FONT
from tacit.probes.figures.lettering import LINE, width_of
from tacit.probes.figures.panels import SIZE
from tacit.probes.figures.rows import PAPER

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import altair as alt

    from tacit.probes.figures.charts import Palette

    Point: TypeAlias = tuple[float, float]
    Segment: TypeAlias = tuple[Point, Point]

MARK = 6.0  # half the side of what a point covers, in pixels
_RINGS = (8.0, 15.0, 23.0, 33.0, 45.0, 60.0, 78.0)  # pixels from point to name
_TURNS = 16  # directions on each ring
_TOUCHING = 10.0  # a name farther from its point than this is joined to it by a line
# How many pixels farther a name goes for each step of a line that it would cover, and for each
# step that the line to its point would go across something.
_COVERED, _CROSSED = 3.0, 8.0
_STEP = 4.0  # pixels


@dataclass(frozen=True)
class Place:
    """Where a name stands.

    Args:
        box: What it covers, in pixels from the upper left corner.
        leader: The line that joins it to its point; None where it stands beside it.
    """

    box: Box
    leader: Segment | None


# A place and its distance.
Choice: TypeAlias = tuple[float, Place]


def placed(
    points: Mapping[str, Point],
    frame: Point,
    taken: Sequence[Box] = (),
    lines: Sequence[Segment] = (),
) -> dict[str, Place]:
    """A place for the name of each point.

    Args:
        points: By name, in pixels from the upper left corner.
        frame: Width and height of the chart; names stay within.
        taken: What names must not cover, beside the points.
        lines: What they had better not cover.

    Returns:
        By name, without those for which no place is left.
    """
    choices = {name: list(_choices(point, name, frame)) for name, point in points.items()}
    full = [*taken, *map(around, points.values())]
    spots = [spot for line in lines for spot in _along(line)]
    tries = [_in_turn(order, choices, full, spots) for order in _orders(points)]
    # The first of the best: most names, then the least that speaks against them.
    _, found = min(tries, key=lambda each: (-len(each[1]), each[0]))
    return {name: found[name] for name in points if name in found}


def _orders(points: Mapping[str, Point]) -> Iterator[list[str]]:
    """Some orders in which places are given; the first takes the best."""
    yield list(points)
    for way in ((1, 0), (-1, 0), (0, 1), (0, -1), (1, 1), (1, -1)):
        yield sorted(points, key=lambda name: way[0] * points[name][0] + way[1] * points[name][1])


def _in_turn(
    order: Sequence[str],
    choices: Mapping[str, Sequence[Choice]],
    full: Sequence[Box],
    spots: Sequence[Point],
) -> tuple[float, dict[str, Place]]:
    """What speaks against the places, and the places.

    Args:
        order: The names.
        choices: The places of each.
        full: What is taken.
        spots: What had better not be covered.
    """
    full, spots, against = list(full), list(spots), 0.0
    found: dict[str, Place] = {}
    for name in order:
        cost, place = _best(choices[name], full, spots)
        if place is None:
            continue
        against += cost
        found[name] = place
        full.append(place.box)
        if place.leader is not None:
            spots += _along(place.leader)
    return against, found


def _best(
    choices: Sequence[Choice], full: Sequence[Box], spots: Sequence[Point]
) -> tuple[float, Place | None]:
    """The place that the least speaks against, the first of several; None where none is free."""
    cost, best = math.inf, None
    for distance, place in choices:
        if distance >= cost:  # and so are all that follow
            break
        if not any(place.box.overlaps(box) for box in full):
            # Names go farther to cover less of lines, and to be joined across less.
            covered = sum(_inside(spot, place.box) for spot in spots)
            leader = [] if place.leader is None else list(_along(place.leader))[1:]
            crossed = sum(any(_inside(spot, box) for box in full) for spot in leader)
            this = distance + _COVERED * covered + _CROSSED * crossed
            cost, best = min((cost, best), (this, place), key=lambda each: each[0])
    return cost, best


def _choices(point: Point, name: str, frame: Point) -> Iterator[Choice]:
    """Places within the chart and their distance, the nearest first; of those, at the right."""
    width, height = width_of(name, SIZE), SIZE * LINE
    x, y = point
    for ring in _RINGS:
        for turn in sorted(range(_TURNS), key=lambda each: min(each, _TURNS - each)):
            angle = 2 * math.pi * turn / _TURNS
            across, down = math.cos(angle), math.sin(angle)
            # The box slides along the ring's tangent: flush at the sides, centred above and below.
            left = x + ring * across - width * (1 - across) / 2
            top = y + ring * down - height * (1 - down) / 2
            box = Box(left, top, left + width, top + height)
            if left >= 0 and top >= 0 and box.right <= frame[0] and box.bottom <= frame[1]:
                yield ring, Place(box, _leader(point, box) if ring > _TOUCHING else None)


def around(point: Point) -> Box:
    """What a point covers."""
    x, y = point
    return Box(x - MARK, y - MARK, x + MARK, y + MARK)


def _inside(spot: Point, box: Box) -> bool:
    return box.left < spot[0] < box.right and box.top < spot[1] < box.bottom


def _along(line: Segment) -> Iterator[Point]:
    (x, y), (to_x, to_y) = line
    steps = max(1, round(math.dist(*line) / _STEP))
    for step in range(steps + 1):
        yield x + (to_x - x) * step / steps, y + (to_y - y) * step / steps


def _leader(point: Point, box: Box) -> Segment:
    """From the edge of the point to the nearest place on the box."""
    x, y = point
    near = (min(max(x, box.left), box.right), min(max(y, box.top), box.bottom))
    length = math.dist(point, near)
    share = min(1.0, MARK / length) if length else 0.0
    return (x + share * (near[0] - x), y + share * (near[1] - y)), near


def write(
    names: Mapping[str, Place],
    across: Callable[[float], float],
    up: Callable[[float], float],
    colours: Palette,
) -> Iterator[alt.Chart]:
    """Draws names and the lines that join them to their points, over what they may cross.

    Args:
        names: The place of each name.
        across: From a pixel to what the horizontal axis shows there.
        up: The same of the vertical axis.
        colours: The palette.
    """
    import altair as alt
    import polars as pl

    leaders = [(name, place.leader) for name, place in names.items() if place.leader is not None]
    ends = [
        (name, across(x), up(y), across(to_x), up(to_y)) for name, ((x, y), (to_x, to_y)) in leaders
    ]
    schema = {"name": pl.String, **dict.fromkeys(("x", "y", "to_x", "to_y"), pl.Float64)}
    lines = alt.Chart(pl.DataFrame(ends, schema, orient="row"))
    lines = lines.mark_rule(color=colours.muted, strokeWidth=0.8)
    yield lines.encode(x="x:Q", y="y:Q", x2="to_x:Q", y2="to_y:Q")
    boxes = [(name, place.box) for name, place in names.items()]
    rows = [(name, across(box.left), up((box.top + box.bottom) / 2)) for name, box in boxes]
    table = alt.Chart(
        pl.DataFrame(rows, {"name": pl.String, "x": pl.Float64, "y": pl.Float64}, orient="row")
    )
    for hue, halo in ((PAPER, 3), (colours.ink, 0)):
        words = table.mark_text(
            align="left",
            baseline="middle",
            font=FONT,
            fontSize=SIZE,
            color=hue,
            stroke=PAPER,
            strokeWidth=halo,
        )
        yield words.encode(x="x:Q", y="y:Q", text="name:N")
