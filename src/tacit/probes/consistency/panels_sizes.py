"""A measure of each model against its number of parameters, every point with its name."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from tacit.probes.consistency.panels_labels import placed, write
from tacit.probes.figures.boxes import Box
from tacit.probes.figures.charts import SHAPES
from tacit.probes.figures.rows import dots, guide, heading_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import altair as alt
    import polars as pl

    from tacit.probes.consistency.panels_labels import Place, Point, Segment
    from tacit.probes.figures.panels import Shown
    from tacit.probes.figures.rows import Measure

WIDTH, HEIGHT = 330.0, 250.0  # pixels
_MARGIN = 34.0  # pixels beside the smallest and the largest model
_APART = 11.0  # pixels between models of nearly the same size
_UNKNOWN = 58.0  # pixels for models of unknown size, at least
_HALF = 2.0  # half the width of what names keep clear of, in pixels
_TICK = 8.0  # half the length of a reference mark
_CLOSE = 30.0  # sizes that differ by less than this have ticks between powers of ten
_LEAST_SPAN = 0.5  # decades
_HEADING = -14.0


@dataclass(frozen=True)
class Sizes:
    """An axis of sizes, on which no two models stand in the same place.

    Args:
        shown: The models, of which two at least differ in size.
    """

    shown: Shown

    @cached_property
    def known(self) -> dict[str, float]:
        """The sizes that are known, rising, by label."""
        sizes = {label: self.shown.sizes.get(name) for name, label in self.shown.labels.items()}
        return {label: float(size) for label, size in sizes.items() if size}

    @cached_property
    def edge(self) -> float:
        """The pixel beyond which stand the models of unknown size."""
        unknown = len(self.shown.labels) - len(self.known)
        return WIDTH - (max(_UNKNOWN, _APART * (unknown + 1)) if unknown else 0)

    @cached_property
    def pixels(self) -> dict[str, float]:
        """Where each model stands, from the left."""
        found: dict[str, float] = {}
        at = -math.inf
        for label, size in self.known.items():
            at = max(self._pixel(size), at + _APART)
            found[label] = at
        unknown = [label for label in self.shown.labels.values() if label not in self.known]
        first = (self.edge + WIDTH - _APART * (len(unknown) - 1)) / 2
        return found | {label: first + _APART * at for at, label in enumerate(unknown)}

    def size(self, pixel: float) -> float:
        """The size that stands at a pixel."""
        low, per_pixel = self._scale
        return float(10 ** (low + (pixel - _MARGIN) * per_pixel))

    def axis(self) -> alt.X:
        """The axis of ``at``."""
        import altair as alt

        least, *_, most = self.known.values()
        digits = (1, 2, 5) if most < _CLOSE * least else (1,)
        ticks = [digit * 10.0**power for power in range(3, 15) for digit in digits]
        ticks = [each for each in ticks if self.size(6) < each < self.size(self.edge - 6)]
        label = "replace(format(datum.value, '.3~s'), 'G', 'B')"
        if self.edge < WIDTH:
            ticks.append(self.size((self.edge + WIDTH) / 2))
            label = f"datum.value > {self.size(self.edge)} ? 'unknown' : {label}"
        scale = alt.Scale(type="log", domain=[self.size(0), self.size(WIDTH)], nice=False)
        axis = alt.Axis(values=ticks, labelExpr=label, grid=False)
        return alt.X("at:Q", title="parameters", scale=scale, axis=axis)

    @cached_property
    def _scale(self) -> tuple[float, float]:
        """The decimal logarithm at the first margin, and how much a pixel adds to it."""
        least, *_, most = map(math.log10, self.known.values())
        room = max(_LEAST_SPAN - (most - least), 0)
        width = self.edge - 2 * _MARGIN
        return least - room / 2, (most - least + room) / width

    def _pixel(self, size: float) -> float:
        low, per_pixel = self._scale
        return (math.log10(size) - low) / per_pixel + _MARGIN


@dataclass(frozen=True)
class Against:
    """A measure against size.

    Args:
        measure: The measure; its rows' labels are those of the models.
        sizes: The axis.
    """

    measure: Measure
    sizes: Sizes

    @cached_property
    def table(self) -> pl.DataFrame:
        """The rows with a value from left to right: ``at`` (the size there) and ``family``."""
        import polars as pl

        at = {label: self.sizes.size(pixel) for label, pixel in self.sizes.pixels.items()}
        families = dict(self.sizes.shown.families)
        label = pl.col("label")
        columns = {"at": label.replace_strict(at), "family": label.replace_strict(families)}
        return self.measure.drawn.with_columns(**columns).sort("at")

    @cached_property
    def points(self) -> dict[str, Point]:
        """Where the marks are, in pixels, by label."""
        pairs = self.table.select("label", "value").iter_rows()
        return {label: (self.sizes.pixels[label], self._down(value)) for label, value in pairs}

    @cached_property
    def families(self) -> dict[str, list[str]]:
        """The models of known size that a line joins, by family."""
        found: dict[str, list[str]] = {}
        for label in self.points:
            if label in self.sizes.known:
                found.setdefault(self.sizes.shown.families[label], []).append(label)
        return found

    @cached_property
    def names(self) -> dict[str, Place]:
        """The places of the names, by label; without those for which none is left."""
        taken = []
        for label, low, high, reference in self.table.select(
            "label", "from", "to", "reference"
        ).iter_rows():
            x = self.sizes.pixels[label]
            if low is not None:
                taken.append(Box(x - _HALF, self._down(high), x + _HALF, self._down(low)))
            if reference is not None:
                y = self._down(reference)
                taken.append(Box(x - _TICK, y - _TICK, x + _TICK, y + _TICK))
        lines: list[Segment] = [((self.sizes.edge, 0), (self.sizes.edge, HEIGHT))]
        if self.measure.line is not None:
            y = self._down(self.measure.line)
            lines.append(((0, y), (WIDTH, y)))
        for family in self.families.values():
            ends = [self.points[label] for label in family]
            lines += pairwise(ends)
        return placed(self.points, (WIDTH, HEIGHT), taken, lines)

    def chart(self, heading: str) -> alt.LayerChart:
        """The panel."""
        import altair as alt

        colours = self.sizes.shown.look.colours
        layers = [*self._guides(), *self._marks()]
        layers += write(self.names, self.sizes.size, self._up, colours)
        layers.append(heading_of(heading, _HEADING, colours))
        return alt.LayerChart(layer=layers).properties(width=WIDTH, height=HEIGHT)

    def _guides(self) -> Iterator[alt.Chart]:
        import altair as alt

        line = guide(self.sizes.shown.look.colours)
        if self.measure.line is not None:
            yield line.encode(y=alt.YDatum(self.measure.line, **self.measure.scaled))
        if self.sizes.edge < WIDTH:
            yield line.encode(x=alt.datum(self.sizes.size(self.sizes.edge)))

    def _marks(self) -> Iterator[alt.Chart]:
        import altair as alt

        table, colours = self.table, self.sizes.shown.look.colours
        x, y = self.sizes.axis(), alt.Y("value:Q", **self.measure.scaled)
        known = table.filter(table["label"].is_in(list(self.sizes.known)))
        for rank, family in enumerate(dict.fromkeys(self.sizes.shown.families.values())):
            hue, shape = colours.series[rank % len(SHAPES)], SHAPES[rank % len(SHAPES)]
            line = alt.Chart(known.filter(known["family"] == family))
            yield line.mark_line(color=hue, strokeWidth=1.2).encode(x=x, y=y)
            of = table.filter(table["family"] == family)
            spans = alt.Chart(of.drop_nulls("from")).mark_rule(color=hue, strokeWidth=2)
            yield spans.encode(x=x, y="from:Q", y2="to:Q")
            for mark in dots(of, hue, shape):
                yield mark.encode(x=x, y=y, description="tip:N")
        yield self.measure.marked(table, "up", colours).encode(x=x, y="reference:Q")

    def _down(self, value: float) -> float:
        low, high = self.measure.domain
        return HEIGHT * (high - value) / (high - low)

    def _up(self, pixel: float) -> float:
        low, high = self.measure.domain
        return high - (high - low) * pixel / HEIGHT
