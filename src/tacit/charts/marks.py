"""Panels of marks at the values of a column: labelled rows, and curves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import altair as alt
import polars as pl

from tacit.charts.panels import (
    HOLLOW,
    POINTS,
    SIZE,
    Panel,
    axis,
    bounds,
    dotted,
    heading,
    series_styles,
    tipped,
    written,
)
from tacit.charts.theme import Palette, Series, series
from tacit.findings.spec import Column

_LANE, _ROW = 13, 24  # height in pixels: of a series within a row, and of a row with one lane
_BETWEEN = 6  # pixels between rows with several lanes
_WORDS = 78  # width in pixels of a column of text
_BAR = "M0,-1.2L0,1.2"  # the shape of a reference mark: an SVG path in a square from -1 to 1
_TICKS = (_BAR, "triangle-down", "cross", "diamond")  # the shapes of several references


@dataclass(frozen=True)
class Marks(Panel):
    """The marks of a column's values, with intervals, references and tooltips.

    ``label`` and ``by`` name the columns with the labels and the series of the marks, and
    ``chance`` that of the chance levels; ``told`` are further columns of the tooltips. Unless there
    is a ``domain``, the axis includes all values and those of ``within``.
    """

    column: Column
    colours: Palette
    _: KW_ONLY
    label: str = "model"
    by: str | None = None
    series: Sequence[Series] | None = None
    reference: Column | None = None
    chance: str | None = None
    told: Sequence[Column] = ()
    domain: tuple[float, float] | None = None
    within: tuple[float, ...] = ()
    dotted: float | None = None
    legend: bool = True
    width: int = 300

    channel: ClassVar[str]

    @cached_property
    def drawn(self) -> pl.DataFrame:
        """The table with the columns that the encodings name."""
        low, high = self.column.ends or (None, None)
        reference = self.reference.name if self.reference else None
        names = {"value": self.column.name, "low": low, "high": high, "reference": reference}
        columns = [self.column, *([self.reference] if self.reference else []), *self.told]
        return tipped(self.table, self.label, self.by, columns).with_columns(
            (pl.col(name) if name and name in self.table else pl.lit(None))
            .cast(pl.Float64)
            .alias(field)
            for field, name in (names | {"chance": self.chance}).items()
        )

    @cached_property
    def styles(self) -> Sequence[Series]:
        """The style of each series; empty if there is only one series."""
        names = self.drawn["series"].drop_nulls().unique(maintain_order=True)
        styles = series(names, self.colours) if self.series is None else self.series
        return styles if self.by and len(styles) > 1 else ()

    @cached_property
    def span(self) -> tuple[float, float]:
        """The ends of the value axis."""
        if self.domain:
            return self.domain
        values = [self.drawn[name] for name in ("value", "low", "high", "reference", "chance")]
        return bounds([self.dotted, *self.within, *(x for each in values for x in each)])

    @property
    def axis(self) -> dict[str, Any]:
        """The options that all encodings on the axis of values share."""
        return axis(self.column, self.span)

    def of(self, table: pl.DataFrame) -> Self:
        return replace(self, table=table, domain=self.span, series=self.styles or self.series)

    def positioned(self, marks: alt.Chart) -> alt.Chart:
        """Set the position of marks on the other axis."""
        raise NotImplementedError

    def at(self, marks: alt.Chart, field: str = "value", to: str | None = None) -> alt.Chart:
        """Set the position of marks on both axes; ``to`` names the column where they end."""
        of = alt.X if self.channel == "x" else alt.Y
        ends: dict[str, Any] = {f"{self.channel}2": f"{to}:Q"} if to else {}
        return self.positioned(marks).encode(of(f"{field}:Q", **self.axis), **ends)

    def guide(self) -> Iterator[alt.Chart]:
        """Yield the dotted line."""
        if self.dotted is not None:
            line = alt.Chart(alt.InlineData(values=[{}]))
            mark = line.mark_rule(**dotted(self.colours))
            datum = alt.XDatum if self.channel == "x" else alt.YDatum
            yield mark.encode(datum(self.dotted, **self.axis))

    def each(self) -> Iterator[tuple[pl.DataFrame, Series]]:
        """Yield the defined rows of each series."""
        drawn = self.drawn.drop_nulls("value")
        for one in self.styles or (Series("", self.colours.before),):
            yield drawn.filter(series=one.name) if self.styles else drawn, one

    def bounded(self) -> pl.Expr:
        """Whether the marks around a mark have intervals, so that one without is hollow."""
        return pl.col("low").is_not_null().any()

    def points(self) -> Iterator[alt.Chart]:
        drawn = self.drawn.drop_nulls("value")
        bare = pl.col("low").is_null() & self.bounded()
        styles = series_styles(self.styles, legend=self.legend)
        for part, style in ((drawn.filter(~bare), {"filled": True}), (drawn.filter(bare), HOLLOW)):
            if part.height or style["filled"]:
                mark = alt.Chart(part).mark_point(color=self.colours.before, **POINTS, **style)
                yield self.at(mark).encode(description="tip:N", **styles)


@dataclass(frozen=True)
class LabelledRows(Marks):
    """A panel of labelled rows, each with marks, confidence intervals and columns of text.

    ``joined`` draws all series of a row in one lane, joined by a line; ``words`` are columns of
    text at the right; ``ticks`` are columns of references, with their names in the legend.
    """

    order: Sequence[str] | None = None
    joined: bool = False
    labelled: bool = True
    words: Sequence[Column] = ()
    ticks: Mapping[str, str] | None = None
    width: int = 220

    channel = "x"

    @cached_property
    def labels(self) -> Sequence[str]:
        """The labels of the rows, from top to bottom."""
        return list(self.order or self.drawn["label"].unique(maintain_order=True))

    def chart(self, text: str) -> alt.LayerChart:
        layers = [*self.guide(), *self._lines(), *self._references(), *self._ticks()]
        layers += [*self.points(), *self._words()]
        lanes = 1 if self.joined else max(1, len(self.styles))
        height = len(self.labels) * (_ROW if lanes == 1 else lanes * _LANE + _BETWEEN)
        return alt.LayerChart(layer=layers).properties(
            width=self.width, height=height, title=heading(text, 22 if self.words else 6)
        )

    def positioned(self, marks: alt.Chart) -> alt.Chart:
        axis: dict[str, Any] = {"ticks": False, "domain": False, "grid": True}
        axis |= {"labels": self.labelled}
        axis |= {"labelPadding": 8, "labelLimit": 270, "tickBand": "extent"}
        y = alt.Y("label:N", title=None, scale={"domain": list(self.labels)}, axis=axis)
        placed: alt.Chart = marks.encode(y=y)
        if self.styles and not self.joined:
            lanes = {"domain": [one.name for one in self.styles]}
            placed = placed.encode(yOffset=alt.YOffset("series:N", scale=lanes))
        return placed

    def _lines(self) -> Iterator[alt.Chart]:
        if self.joined:
            ends = self.drawn.drop_nulls("value").group_by("label", maintain_order=True)
            rows = ends.agg(low=pl.col("value").min(), high=pl.col("value").max())
            line = alt.Chart(rows).mark_rule(strokeWidth=2, color=self.colours.muted)
            yield self.at(line, "low", "high")
        for rows, one in self.each():
            line = alt.Chart(rows.drop_nulls(["low", "high"]))
            yield self.at(line.mark_rule(strokeWidth=2, color=one.hue), "low", "high")

    def _references(self) -> Iterator[alt.Chart]:
        if self.reference is not None:
            bars = alt.Chart(self.drawn.drop_nulls(["value", "reference"])).mark_point(
                shape=_BAR, color=self.colours.gold, strokeWidth=2, size=90, opacity=1
            )
            yield self.at(bars, "reference")

    def _ticks(self) -> Iterator[alt.Chart]:
        if self.ticks:
            of = self.colours
            hues = (of.faults[0], of.gold, of.after["margin"], of.after["log-odds"])
            looks = zip(self.ticks.values(), hues, _TICKS, strict=False)
            styles = [Series(*look) for look in looks]
            wide = self.drawn.select("label", *self.ticks).rename(dict(self.ticks))
            values = wide.unpivot(index="label", variable_name="series", value_name="reference")
            bars = alt.Chart(values.drop_nulls("reference"))
            mark = bars.mark_point(filled=False, strokeWidth=2, size=90, opacity=1)
            yield self.at(mark, "reference").encode(**series_styles(styles, legend=self.legend))

    def _words(self) -> Iterator[alt.Chart]:
        style: dict[str, Any] = {"align": "right", "fontSize": SIZE}
        x: Any = alt.value("width")
        for at, column in enumerate(self.words, start=1):
            kind, style["dx"] = column.kind, _WORDS * at
            rows = self.drawn.drop_nulls(column.name) if kind == "text" else self.drawn
            rows = rows.unique("label", maintain_order=True) if self.joined else rows
            texts = [written(each, kind).removesuffix(" points") for each in rows[column.name]]
            words = alt.Chart(rows.with_columns(text=pl.Series(texts, dtype=pl.String)))
            mark = words.mark_text(color=self.colours.ink, **style)
            yield self.positioned(mark).encode(x=x, text="text:N")
            head = alt.Chart(alt.InlineData(values=[{"text": column.heading}]))
            mark = head.mark_text(color=self.colours.muted, **style)
            yield mark.encode(x=x, y=alt.value(-8), text="text:N")


@dataclass(frozen=True)
class Curves(Marks):
    """A panel with one line per series, marks at the values, and confidence bands.

    ``across`` is the column of the horizontal axis, ``banded`` are the series with bands (default:
    all), and ``joined`` is the column whose equal values are joined by a line, if not the series.
    """

    across: Column
    banded: Collection[str] | None = None
    joined: str | None = None
    log: bool = False
    height: int = 240

    channel = "y"

    def chart(self, text: str) -> alt.LayerChart:
        layers = [*self.guide()]
        if self.joined:
            lines = self._line(self.drawn, "value", Series("", self.colours.muted))
            layers.append(lines.encode(detail=f"{self.joined}:N"))
        for rows, one in self.each():
            spans = alt.Chart(rows.drop_nulls(["low", "high"]))
            rule = spans.mark_rule(color=one.hue, strokeWidth=2)
            band = rule if self.log else spans.mark_area(color=one.hue, opacity=0.15)
            if self.banded is None or one.name in self.banded:
                layers.append(self.at(band, "low", "high"))
            if not self.joined:
                layers.append(self._line(rows, "value", one))
        layers += [*self._chance(), *self._references(), *self.points()]
        return alt.LayerChart(layer=layers).properties(
            width=self.width, height=self.height, title=heading(text)
        )

    def positioned(self, marks: alt.Chart) -> alt.Chart:
        at = self.drawn[self.across.name]
        scale: dict[str, Any] = {"nice": False, "zero": False, "padding": 12}
        axis: dict[str, Any] = {"values": at.unique().sort().to_list()}
        if self.log:
            scale = {"type": "log", "domain": [at.min() / 1.5, at.max() * 1.5], "nice": False}  # type: ignore[operator]
            axis = {"labelExpr": "replace(format(datum.value, '~s'), 'G', 'B')"}
        elif self.across.kind != "count":
            scale |= {"domain": [0, 1]}
            axis = {"format": ".0%", "tickCount": 5}
        title = self.across.heading
        x = alt.X(f"{self.across.name}:Q", title=title, scale=scale, axis={**axis, "grid": False})
        placed: alt.Chart = marks.encode(x=x)
        return placed

    def bounded(self) -> pl.Expr:
        return super().bounded().over("series")

    def _line(self, rows: pl.DataFrame, column: str, one: Series) -> alt.Chart:
        rows = rows.drop_nulls(column).sort(self.across.name, maintain_order=True)
        line = alt.Chart(rows).mark_line(color=one.hue, strokeWidth=1.8, strokeDash=list(one.dash))
        return self.at(line, column)

    def _references(self) -> Iterator[alt.Chart]:
        if self.reference is not None:
            ticks = alt.Chart(self.drawn.drop_nulls(["value", "reference"])).mark_tick(
                orient="horizontal", color=self.colours.gold, thickness=2, size=14
            )
            yield self.at(ticks, "reference")

    def _chance(self) -> Iterator[alt.Chart]:
        """Yield a dotted line at the chance level, or one line per series if the levels differ."""
        drawn = self.drawn.drop_nulls(["value", "chance"])
        levels = drawn.group_by(self.across.name).agg(pl.col("chance").round(9).n_unique())
        alike = (levels["chance"] == 1).all()
        for rows, one in [*self.each()][: 1 if alike else None]:
            hue = self.colours.muted if alike else one.hue
            if drawn.height:
                yield self._line(rows, "chance", Series("", hue, dash=(2, 2)))
