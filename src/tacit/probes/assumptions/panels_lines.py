"""Curves against the number of properties, with bands, and the counts behind each point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.probes.figures.charts import FONT
from tacit.probes.figures.panels import SIZE
from tacit.probes.figures.rows import heading_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.assumptions.panels import Series
    from tacit.probes.figures.charts import Palette

HEIGHT = 210  # pixels
_HEADING, _MODEL = -12.0, -32.0  # pixels above a panel
_LINE = 17  # pixels of a row of counts
_FAINT = 0.13  # how much of its hue a band has
_DOTTED = (1, 3)
_DIGITS = 9  # of means that are equal but for rounding
_MARGIN = 0.45  # properties before the first and behind the last


@dataclass(frozen=True)
class Curves:
    """A panel of curves.

    Args:
        rows: A point each: ``n`` (properties), ``series`` (its name), ``value``, ``low`` and
            ``high`` (null where there is no band), ``chance`` (null where none is drawn), ``tip``,
            and ``count`` where counts are shown.
        of: The series, in the order of the legend.
        title: Of the upright axis.
        domain: Its ends.
        colours: The palette.
        width: Pixels.
        banded: The series that have a band; all when None.
    """

    rows: pl.DataFrame
    of: Sequence[Series]
    title: str
    domain: tuple[float, float]
    colours: Palette
    width: int = 300
    banded: Sequence[str] | None = None

    def chart(self, heading: str, *, model: str = "", legend: bool = True) -> alt.LayerChart:
        """The panel below its heading and, where given, a model's name; its series told or not."""
        import altair as alt

        layers = [*self._layers(legend=legend), heading_of(heading, _HEADING, self.colours)]
        if model:
            layers.append(heading_of(model, _MODEL, self.colours))
        return alt.LayerChart(layer=layers).properties(width=self.width, height=HEIGHT)

    def counts(self, what: str) -> alt.LayerChart:
        """How many of ``what`` each point rests on: a row per series, led by its mark."""
        import altair as alt
        import polars as pl

        names = [one.name for one in self.of]
        y = alt.Y(
            "series:N",
            title=None,
            scale={"domain": names},
            axis={"ticks": False, "domain": False, "labelPadding": 26, "grid": False},
        )
        rows = alt.Chart(self.rows.drop_nulls("value"))
        keys = alt.Chart(pl.DataFrame({"series": names}))
        layers = [
            rows.mark_text(font=FONT, fontSize=SIZE, color=self.colours.ink).encode(
                x=self._x(labelled=False), y=y, text="count:N"
            ),
            keys.mark_point(filled=True, size=60, opacity=1).encode(
                x=alt.value(-13), y=y, color=self._hue(None), shape=self._shape(None)
            ),
            heading_of(f"n: {what}", -9.0, self.colours),
        ]
        height = _LINE * len(names)
        return alt.LayerChart(layer=layers).properties(width=self.width, height=height)

    def _layers(self, *, legend: bool) -> Iterator[alt.Chart]:
        import altair as alt

        told = (
            {"title": None, "orient": "bottom", "columns": 3, "symbolSize": 70} if legend else None
        )
        scale = {"domain": list(self.domain), "nice": False}
        axis = {"tickCount": 5, "grid": True, "format": "~g"}
        y = alt.Y("value:Q", title=self.title, scale=scale, axis=axis)
        rows = self.rows.drop_nulls("value").sort("n", maintain_order=True)
        x, low = self._x(), alt.Y("low:Q", title=self.title, scale=scale, axis=axis)
        for one in self.of:
            if self.banded is None or one.name in self.banded:
                bands = rows.filter(series=one.name).drop_nulls(["low", "high"])
                band = alt.Chart(bands).mark_area(color=one.hue, opacity=_FAINT)
                yield band.encode(x=x, y=low, y2="high:Q")
        yield from self._chance(x, scale, axis)
        # Lines by themselves, so that the legend is of the marks alone.
        for one in self.of:
            line = alt.Chart(rows.filter(series=one.name))
            drawn = line.mark_line(color=one.hue, strokeWidth=1.8, strokeDash=list(one.dash))
            yield drawn.encode(x=x, y=y)
        marks = alt.Chart(rows).mark_point(filled=True, size=48, opacity=1, aria=True)
        yield marks.encode(
            x=x, y=y, color=self._hue(told), shape=self._shape(told), description="tip:N"
        )

    def _chance(self, x: alt.X, scale: dict[str, Any], axis: dict[str, Any]) -> Iterator[alt.Chart]:
        """A dotted line at the chance level; one per series where these differ."""
        import altair as alt

        rows = self.rows.drop_nulls(["value", "chance"]).sort("n", maintain_order=True)
        y = alt.Y("chance:Q", title=self.title, scale=scale, axis=axis)
        by_series = {one.name: rows.filter(series=one.name) for one in self.of}
        alike = rows["chance"].round(_DIGITS).n_unique() == 1
        for one in self.of:
            hue = self.colours.muted if alike else one.hue
            line = alt.Chart(by_series[one.name]).mark_line(
                color=hue, strokeWidth=1.2, strokeDash=list(_DOTTED)
            )
            yield line.encode(x=x, y=y)

    def _x(self, *, labelled: bool = True) -> alt.X:
        import altair as alt

        most = int(self.rows["n"].max() or 1)  # type: ignore[arg-type] # a column of numbers
        scale = {"domain": [1 - _MARGIN, most + _MARGIN], "nice": False, "zero": False}
        if not labelled:
            return alt.X("n:Q", scale=scale, axis=None)
        axis = {"values": list(range(1, most + 1)), "format": "d", "grid": False}
        return alt.X("n:Q", title="number of properties in the prompt", scale=scale, axis=axis)

    def _hue(self, legend: dict[str, Any] | None) -> alt.Color:
        import altair as alt

        scale = {"domain": [s.name for s in self.of], "range": [s.hue for s in self.of]}
        return alt.Color("series:N", scale=scale, legend=legend)

    def _shape(self, legend: dict[str, Any] | None) -> alt.Shape:
        import altair as alt

        scale = {"domain": [s.name for s in self.of], "range": [s.shape for s in self.of]}
        return alt.Shape("series:N", scale=scale, legend=legend)
