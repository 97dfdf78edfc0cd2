"""Panels of two histograms of probabilities, one above the other's mirror image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.panels import Panel, heading, series_styles
from tacit.charts.theme import Palette, Series
from tacit.findings.numbers import percent
from tacit.findings.spec import Column

_BINS = 20


@dataclass(frozen=True)
class Histograms(Panel):
    """A panel of the probabilities of at most two series; that of the second points downwards."""

    column: Column
    colours: Palette
    _: KW_ONLY
    by: str
    series: Sequence[Series]
    unit: str = "statements"
    width: int = 300

    def chart(self, text: str) -> alt.LayerChart:
        tip = pl.format(
            "{}, {} {} to {}: {}",
            *("series", pl.lit(self.column.heading), "low", "high"),
            pl.col("part").map_elements(percent, pl.String),
        )
        bars = self._bars().with_columns(tip=tip)
        scale = {"domain": [0, 1], "nice": False}
        x = alt.X(
            "low:Q", title=self.column.heading, scale=scale, axis={"grid": False, "tickCount": 5}
        )
        shares = {"labelExpr": "format(abs(datum.value), '.0%')", "tickCount": 5}
        mark = alt.Chart(bars).mark_bar(aria=True, binSpacing=1)
        drawn = mark.encode(
            x.bin("binned"),
            alt.X2("high:Q"),
            alt.Y("share:Q", title=f"share of the {self.unit}", axis=shares),
            description="tip:N",
            **_colour(self.series),
        )
        line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(
            color=self.colours.muted, strokeDash=[2, 3], strokeWidth=1.2
        )
        half: Any = {"scale": scale}
        return alt.LayerChart(layer=[drawn, line.encode(alt.XDatum(1 / 2, **half))]).properties(
            width=self.width, height=130, title=heading(text)
        )

    def _bars(self) -> pl.DataFrame:
        """Return the share of each series in each bin; that of the second series is negative."""
        at = (pl.col(self.column.name) * _BINS).floor().clip(0, _BINS - 1)
        signs = {one.name: 1 - 2 * number for number, one in enumerate(self.series)}
        counts = self.table.group_by(pl.col(self.by).alias("series"), at=at).len()
        part = pl.col("len") / pl.col("len").sum().over("series")
        return counts.sort("series", "at").with_columns(
            part=part,
            share=part * pl.col("series").replace_strict(signs, return_dtype=pl.Float64),
            low=pl.col("at") / _BINS,
            high=(pl.col("at") + 1) / _BINS,
        )


def _colour(series: Sequence[Series]) -> dict[str, Any]:
    return {"color": series_styles(series, legend=True)["color"]}
