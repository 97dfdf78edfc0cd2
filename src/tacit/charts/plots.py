"""Panels other than marks of one column: histograms, scatter plots, and grids of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.panels import (
    HOLLOW,
    POINTS,
    SIZE,
    Panel,
    axis,
    dotted,
    heading,
    series_styles,
    tipped,
)
from tacit.charts.theme import PAPER, Palette, Series, mixed, series
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
            color=series_styles(self.series, legend=True)["color"],
        )
        line = alt.Chart(alt.InlineData(values=[{}])).mark_rule(**dotted(self.colours))
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


@dataclass(frozen=True)
class Scatter(Panel):
    """A panel with a mark for each row at the values of two columns, and a dotted diagonal.

    ``named`` maps labels of rows to texts of the legend; other marks are hollow, unless no row is
    named. The marks of rows that ``faint`` selects are grey. ``text`` is a column of texts beside
    the marks.
    """

    across: Column
    column: Column
    colours: Palette
    _: KW_ONLY
    label: str
    domain: tuple[float, float]
    faint: pl.Expr
    named: Mapping[str, str] | None = None
    text: str | None = None
    told: Sequence[Column] = ()
    side: int = 330

    def chart(self, text: str) -> alt.LayerChart:
        table = tipped(self.table, self.label, None, (self.column, self.across, *self.told))
        table = table.with_columns(
            series=pl.col("label").replace_strict(self.named or {}, default=None)
        )
        drawn = table.drop_nulls([self.across.name, self.column.name])
        ends = self.column.ends or ()
        is_named = pl.lit(value=True) if self.named is None else pl.col("series").is_not_null()
        grey, rest = drawn.filter(self.faint), drawn.filter(~self.faint)
        own = rest.filter(is_named)
        hues = series((self.named or {}).values(), self.colours)
        muted: dict[str, Any] = {"color": self.colours.muted}
        layers = [
            self._diagonal(),
            self._marks(grey, filled=True, color=mixed(self.colours.muted, 0.7)),
            self._marks(rest.filter(~is_named), **HOLLOW, **muted),
            self._at(alt.Chart(own.drop_nulls(ends)).mark_rule(**muted), *ends)
            if self.named
            else None,
            self._marks(own, filled=True, color=self.colours.before).encode(
                **series_styles(hues, legend=True)
            ),
        ]
        if self.text:
            words = alt.Chart(drawn).mark_text(dx=9, dy=-6, fontSize=12, **muted)
            layers.append(self._at(words).encode(text=f"{self.text}:N"))
        layered = alt.LayerChart(layer=[layer for layer in layers if layer is not None])
        return layered.properties(width=self.side, height=self.side, title=heading(text))

    def _marks(self, rows: pl.DataFrame, **style: Any) -> alt.Chart:  # noqa: ANN401 - of the mark

        marks = alt.Chart(rows).mark_point(**POINTS, **style)
        return self._at(marks).encode(description="tip:N")

    def _at(self, marks: alt.Chart, y: str | None = None, y2: str | None = None) -> alt.Chart:
        x = alt.X(f"{self.across.name}:Q", **axis(self.across, self.domain))
        up = alt.Y(f"{y or self.column.name}:Q", **axis(self.column, self.domain))
        return marks.encode(x=x, y=up, **({"y2": f"{y2}:Q"} if y2 else {}))

    def _diagonal(self) -> alt.Chart:
        names = (self.across.name, self.column.name)
        corners = alt.InlineData(values=[dict.fromkeys(names, end) for end in self.domain])
        return self._at(alt.Chart(corners).mark_line(**dotted(self.colours)))


@dataclass(frozen=True)
class Grid(Panel):
    """A panel of coloured cells with a text, a tooltip (``tip``) and a colour (``hue``) each.

    ``across`` and ``down`` are the labels of the table's columns ``column`` and ``row``, in order;
    cells of rows whose column ``framed`` is true have a frame.
    """

    colours: Palette
    _: KW_ONLY
    down: Sequence[str]
    across: Sequence[str]
    cell: tuple[int, int] = (58, 24)

    def chart(self, text: str) -> alt.LayerChart:
        width, height = self.cell
        above: dict[str, Any] = {"orient": "top", "labelAngle": 0, "ticks": False, "domain": False}
        left = {"ticks": False, "domain": False, "labelLimit": 260, "labelPadding": 8}
        x = alt.X("column:N", title=None, scale={"domain": list(self.across)}, axis=above)
        y = alt.Y("row:N", title=None, scale={"domain": list(self.down)}, axis=left)
        cells = alt.Chart(self.table).encode(x=x, y=y)
        filled = cells.mark_rect(stroke=PAPER, aria=True)
        layers = [
            filled.encode(color=alt.Color("hue:N", scale=None), description="tip:N"),
            cells.mark_text(fontSize=SIZE, color=self.colours.ink, limit=width - 6).encode(
                text="text:N"
            ),
        ]
        if "framed" in self.table.columns:
            framed = alt.Chart(self.table.filter("framed")).encode(x=x, y=y)
            frame = framed.mark_rect(filled=False, stroke=self.colours.ink, strokeWidth=1.6)
            layers.append(frame)
        return alt.LayerChart(layer=layers).properties(
            width=width * len(self.across), height=height * len(self.down), title=heading(text)
        )
