"""The kinds of panels in figures: rows of marks, curves, and grids of cells."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.charts.theme import FONT, PAPER
from tacit.findings.numbers import formatted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.theme import Chart, Palette, Series
    from tacit.findings.spec import Column, Kind

DASH = "\N{EN DASH}"
_SIZE = 12.0  # font size of text, in pixels
_POINT = 60  # square pixels
_LANE, _ROW = 17, 24  # height in pixels: of a series within a row, and of a row with one lane
_BETWEEN = 8  # pixels between rows with several lanes
_WORDS = 74  # width in pixels of a column of text
_HEADER = -8  # pixels above the rows
_FAINT = 0.15
_SHORTEST = 1e-3  # the minimum length of the data range, for `bounds`
_LABEL = 210  # maximum width in pixels of a row's label
# The shape of a reference mark: an SVG path in a square from -1 to 1.
_TICK = "M0,-1.2L0,1.2"


@dataclass(frozen=True)
class Axis:
    """The axis on which a panel's values are plotted."""

    title: str
    domain: tuple[float, float]
    percent: bool = False
    dotted: float | None = None
    solid: float | None = None

    @property
    def shared(self) -> dict[str, Any]:
        """The options (title, scale and axis) that all encodings on this axis share."""
        axis = {"format": ".0%" if self.percent else "~g", "tickCount": 5}
        scale = {"domain": list(self.domain), "nice": False, "zero": False, "clamp": True}
        return {"title": self.title, "scale": scale, "axis": axis}

    def guides(self, channel: str, colours: Palette) -> Iterator[alt.Chart]:
        """Yield a dotted line at the axis value ``dotted`` and a solid line at ``solid``."""
        import altair as alt

        for at, dash in ((self.dotted, [2, 3]), (self.solid, [])):
            if at is not None:
                line = alt.Chart(alt.InlineData(values=[{}]))
                drawn = line.mark_rule(color=colours.muted, strokeWidth=1.2, strokeDash=dash)
                datum = alt.XDatum if channel == "x" else alt.YDatum
                yield drawn.encode(datum(at, **self.shared))


def measured(
    table: pl.DataFrame, column: Column, reference: str | None = None, n: Column | None = None
) -> pl.DataFrame:
    """Return a table of findings with the additional columns that charts require."""
    import polars as pl

    low, high = (name if name in table.columns else None for name in column.ends or ("", ""))
    names = {"value": column.name, "low": low, "high": high, "reference": reference}
    none = pl.lit(None, dtype=pl.Float64)
    floats = {
        key: none if name is None else pl.col(name).cast(pl.Float64) for key, name in names.items()
    }
    counts = [None] * len(table) if n is None else table[n.name].to_list()
    found = table.with_columns(**floats)
    return found.with_columns(
        count=pl.Series([written(count, "count") for count in counts], dtype=pl.String),
        told=pl.Series([written(value, column.kind) for value in found["value"]], dtype=pl.String),
        tip=pl.Series(
            [_tip(row, column, n) for row in found.iter_rows(named=True)], dtype=pl.String
        ),
    )


def written(value: float | None, kind: Kind) -> str:
    """Return a number as text; None becomes a dash."""
    return DASH if value is None else formatted(value, kind)


def _tip(row: Mapping[str, Any], column: Column, n: Column | None) -> str:
    named = ", ".join(str(row[name]) for name in ("label", "series") if row.get(name) is not None)
    text = f"{named}: {column.heading} {written(row['value'], column.kind)}"
    if row["low"] is not None and row["high"] is not None:
        text += f" ({formatted(row['low'], column.kind)} to {formatted(row['high'], column.kind)})"
    if row["reference"] is not None:
        text += f", reference {formatted(row['reference'], column.kind)}"
    return text if n is None else f"{text}, {n.heading} = {written(row[n.name], 'count')}"


def bounds(
    values: Iterable[float | None], least: float = 0.0, most: float = 1.0
) -> tuple[float, float]:
    """Return rounded ends for an axis that includes all values and a margin."""
    held = [min(max(value, least), most) for value in values if value is not None]
    if not held:
        return least, most
    length = max(max(held) - min(held), _SHORTEST)
    step = 10.0 ** math.floor(math.log10(length)) / 2
    room = 0.03 * length
    low = math.floor(round((min(held) - room) / step, 6)) * step
    high = math.ceil(round((max(held) + room) / step, 6)) * step
    return max(least, low), min(most, high)


@dataclass(frozen=True)
class Rows:
    """A panel of labelled rows, each with marks, confidence intervals and columns of text."""

    table: pl.DataFrame
    axis: Axis
    colours: Palette
    heading: str
    order: Sequence[str]
    series: Sequence[Series] = ()
    joined: bool = False
    legend: bool = True
    labelled: bool = True
    words: Sequence[tuple[str, str]] = ()
    width: int = 220
    ticks: Sequence[Series] = ()

    def chart(self) -> alt.LayerChart:
        """Return the panel of rows as an Altair chart."""
        import altair as alt
        import polars as pl

        table = self.table.filter(pl.col("label").is_in(list(self.order)))
        drawn = table.drop_nulls("value")
        spans = drawn.drop_nulls(["low", "high"])
        layers = [*self.axis.guides("x", self.colours)]
        if self.joined:
            ends = drawn.group_by("label", maintain_order=True).agg(
                low=pl.col("value").min(), high=pl.col("value").max()
            )
            layers.append(self._rule(ends, color=self.colours.muted))
        layers += [self._rule(spans.filter(one), **of) for one, of in self._hues()]
        layers += self._references(drawn.drop_nulls("reference"))
        layers += self._ticks(table)
        layers += self._points(drawn, hollow="low" if spans.height else None)
        layers += self._words(table)
        lanes = 1 if self.joined else max(1, len(self.series))
        height = len(self.order) * (_ROW if lanes == 1 else lanes * _LANE + _BETWEEN)
        return alt.LayerChart(layer=layers).properties(
            width=self.width, height=height, title=heading(self.heading, above=bool(self.words))
        )

    def _hues(self) -> Iterator[tuple[Any, dict[str, str]]]:
        """Yield a row filter (polars expression) and a colour for each series."""
        import polars as pl

        if not self.series:
            yield pl.lit(value=True), {"color": self.colours.before}
        for one in self.series:
            yield pl.col("series") == one.name, {"color": one.hue}

    def _rule(self, table: pl.DataFrame, **style: Any) -> alt.Chart:  # noqa: ANN401 - of the mark
        import altair as alt

        line = alt.Chart(table).mark_rule(strokeWidth=2, **style)
        return self._placed(line).encode(x=alt.X("low:Q", **self.axis.shared), x2="high:Q")

    def _references(self, table: pl.DataFrame) -> Iterator[alt.Chart]:
        import altair as alt

        if table.height:
            mark = alt.Chart(table).mark_point(
                shape=_TICK,
                color=self.colours.gold,
                strokeWidth=2,
                size=90,
                opacity=1,
                aria=False,
            )
            yield self._placed(mark).encode(x=alt.X("reference:Q", **self.axis.shared))

    def _ticks(self, table: pl.DataFrame) -> Iterator[alt.Chart]:
        import altair as alt

        if not self.ticks:
            return
        names = [one.name for one in self.ticks]
        values = table.select("label", *names).unpivot(
            names, index="label", variable_name="series", value_name="reference"
        )
        style: dict[str, Any] = {"filled": False, "strokeWidth": 2, "size": 90, "opacity": 1}
        mark = alt.Chart(values.drop_nulls("reference")).mark_point(**style, aria=False)
        yield self._placed(mark).encode(
            x=alt.X("reference:Q", **self.axis.shared),
            **series_styles(self.ticks, legend=self.legend),
        )

    def _points(self, table: pl.DataFrame, hollow: str | None) -> Iterator[alt.Chart]:
        import altair as alt

        marked = table if hollow is None else table.drop_nulls(hollow)
        style: dict[str, Any] = {"size": _POINT, "opacity": 1, "strokeWidth": 1.6, "aria": True}
        parts: list[tuple[pl.DataFrame, dict[str, Any]]] = [(marked, {"filled": True})]
        if marked.height < table.height:
            parts.append((table.filter(table["low"].is_null()), {"filled": False, "fill": PAPER}))
        for part, fill in parts:
            mark = alt.Chart(part).mark_point(color=self.colours.before, **style, **fill)
            yield self._placed(mark).encode(
                x=alt.X("value:Q", **self.axis.shared),
                description="tip:N",
                **series_styles(self.series, legend=self.legend),
            )

    def _words(self, table: pl.DataFrame) -> Iterator[alt.Chart]:
        import altair as alt

        for rank, (header, column) in enumerate(self.words, start=1):
            style: dict[str, Any] = {"align": "right", "font": FONT, "fontSize": _SIZE}
            at = alt.value(self.width + _WORDS * rank)
            held = table.drop_nulls(column)
            one = held.unique("label", maintain_order=True) if self.joined else held
            words = alt.Chart(one).mark_text(color=self.colours.ink, **style)
            yield self._placed(words).encode(x=at, text=f"{column}:N")
            head = alt.Chart(alt.InlineData(values=[{"text": header}]))
            words = head.mark_text(color=self.colours.muted, **style)
            yield words.encode(x=at, y=alt.value(_HEADER), text="text:N")

    def _placed(self, marks: alt.Chart) -> alt.Chart:
        """Set the vertical position of marks according to their label and series."""
        import altair as alt

        axis = {
            "ticks": False,
            "domain": False,
            "labels": self.labelled,
            "labelPadding": 8,
            "labelLimit": _LABEL,
            "grid": True,
            "tickBand": "extent",
        }
        y = alt.Y("label:N", title=None, scale={"domain": list(self.order)}, axis=axis)
        placed: alt.Chart = marks.encode(y=y)
        if self.series and not self.joined:
            lanes = {"domain": [one.name for one in self.series]}
            placed = placed.encode(yOffset=alt.YOffset("series:N", scale=lanes))
        return placed


@dataclass(frozen=True)
class Curves:
    """A panel with one line per series, marks at the values, and confidence bands."""

    table: pl.DataFrame
    axis: Axis
    colours: Palette
    heading: str
    across: str
    series: Sequence[Series]
    banded: Collection[str] | None = None
    log: bool = False
    joined: str | None = None
    legend: bool = True
    width: int = 300
    percent: bool = False

    def chart(self) -> alt.LayerChart:
        """Return the panel of curves as an Altair chart."""
        import altair as alt
        import polars as pl

        drawn = self.table.drop_nulls("value").sort("at", maintain_order=True)
        layers = [*self.axis.guides("y", self.colours)]
        for one in self.series:
            own = drawn.filter(series=one.name)
            layers += self._interval(own.drop_nulls(["low", "high"]), one)
            if self.joined is None:
                layers.append(self._line(own, "value", one.hue, one.dash))
        if self.joined is not None:
            lines = self._line(drawn, "value", self.colours.muted, ())
            layers.insert(0, lines.encode(detail=f"{self.joined}:N"))
        if "chance" in drawn.columns:
            layers += self._chance(drawn.drop_nulls("chance"))
        if not drawn["reference"].is_null().all():
            ticks = alt.Chart(drawn.drop_nulls("reference")).mark_tick(
                orient="horizontal", color=self.colours.gold, thickness=2, size=14
            )
            y = alt.Y("reference:Q", **self.axis.shared)
            layers.append(ticks.encode(x=self._x(), y=y))
        layers += self._points(drawn.with_columns(pl.col("series").cast(pl.String)))
        return alt.LayerChart(layer=layers).properties(
            width=self.width, height=240, title=heading(self.heading)
        )

    def _points(self, table: pl.DataFrame) -> Iterator[alt.Chart]:
        """Yield the marks; in a series with intervals, a mark without an interval is hollow."""
        import altair as alt
        import polars as pl

        bare = pl.col("low").is_null() & pl.col("low").is_not_null().any().over("series")
        hollow = {"filled": False, "fill": PAPER, "strokeWidth": 1.6}
        for part, style in ((table.filter(~bare), {"filled": True}), (table.filter(bare), hollow)):
            if part.height or style["filled"]:
                mark = alt.Chart(part).mark_point(size=_POINT, opacity=1, aria=True, **style)
                yield mark.encode(
                    x=self._x(),
                    y=alt.Y("value:Q", **self.axis.shared),
                    description="tip:N",
                    **series_styles(self.series, legend=self.legend),
                )

    def _x(self) -> alt.X:
        import altair as alt

        low, high = self.table["at"].min(), self.table["at"].max()
        if self.log:
            scale = {"type": "log", "domain": [low / 1.5, high * 1.5], "nice": False}  # type: ignore[operator]
            axis = {"labelExpr": "replace(format(datum.value, '~s'), 'G', 'B')", "grid": False}
        elif self.percent:
            scale = {"domain": [0, 1], "nice": False, "padding": 12}
            axis = {"format": ".0%", "tickCount": 5, "grid": False}
        else:
            scale = {"nice": False, "zero": False, "padding": 12}
            axis = {"values": self.table["at"].unique().sort().to_list(), "grid": False}
        return alt.X("at:Q", title=self.across, scale=scale, axis=axis)

    def _line(self, rows: pl.DataFrame, column: str, hue: str, dash: Sequence[int]) -> alt.Chart:
        import altair as alt

        line = alt.Chart(rows).mark_line(color=hue, strokeWidth=1.8, strokeDash=list(dash))
        drawn: alt.Chart = line.encode(x=self._x(), y=alt.Y(f"{column}:Q", **self.axis.shared))
        return drawn

    def _interval(self, rows: pl.DataFrame, one: Series) -> Iterator[alt.Chart]:
        import altair as alt

        if self.banded is None or one.name in self.banded:
            chart = alt.Chart(rows)
            drawn = (
                chart.mark_rule(color=one.hue, strokeWidth=2)
                if self.log
                else chart.mark_area(color=one.hue, opacity=_FAINT)
            )
            yield drawn.encode(x=self._x(), y=alt.Y("low:Q", **self.axis.shared), y2="high:Q")

    def _chance(self, rows: pl.DataFrame) -> Iterator[alt.Chart]:
        """Yield a dotted line at the chance level, or one line per series if the levels differ."""
        import polars as pl

        levels = rows.group_by("at").agg(pl.col("chance").round(9).n_unique())
        alike = (levels["chance"] == 1).all()
        for one in self.series[:1] if alike else self.series:
            hue = self.colours.muted if alike else one.hue
            yield self._line(rows.filter(series=one.name), "chance", hue, (2, 2))


@dataclass(frozen=True)
class Grid:
    """A panel of coloured cells that contain text and are arranged in rows and columns."""

    table: pl.DataFrame
    colours: Palette
    heading: str
    rows: Sequence[str]
    columns: Sequence[str]
    title: str | None = None
    cell: tuple[int, int] = (58, 24)

    def chart(self) -> alt.LayerChart:
        """Return the grid of cells as an Altair chart."""
        import altair as alt

        width, height = self.cell
        across = {"orient": "top", "labelAngle": 0, "ticks": False, "domain": False}
        # A label with a slash, such as Yes/No, is broken into two lines.
        across |= {"labelExpr": "split(replace(datum.label, '/', '/\\n'), '\\n')"}
        if any("/" in column for column in self.columns):
            across |= {"labelPadding": 18}
        down = {"ticks": False, "domain": False, "labelLimit": 260, "labelPadding": 8}
        encoding = {
            "x": alt.X("column:N", title=None, scale={"domain": list(self.columns)}, axis=across),
            "y": alt.Y("row:N", title=self.title, scale={"domain": list(self.rows)}, axis=down),
        }
        cells = alt.Chart(self.table).mark_rect(stroke=PAPER, aria=True)
        words = alt.Chart(self.table).mark_text(
            font=FONT, fontSize=_SIZE, color=self.colours.ink, limit=width - 6
        )
        layers = [
            cells.encode(**encoding, color=alt.Color("hue:N", scale=None), description="tip:N"),
            words.encode(**encoding, text="told:N"),
        ]
        if "framed" in self.table.columns:
            framed = alt.Chart(self.table.filter("framed"))
            frame = framed.mark_rect(filled=False, stroke=self.colours.ink, strokeWidth=1.6)
            layers.append(frame.encode(**encoding))
        size = {"width": width * len(self.columns), "height": height * len(self.rows)}
        return alt.LayerChart(layer=layers).properties(**size, title=heading(self.heading))


def series_styles(series: Sequence[Series], *, legend: bool) -> dict[str, Any]:
    """Return the colour and shape encodings of the series; {} if there are no series."""
    import altair as alt

    if not series:
        return {}
    names = [one.name for one in series]
    told = {"title": None, "orient": "bottom", "columns": 3} if legend and len(series) > 1 else None
    return {
        "color": alt.Color(
            "series:N", scale={"domain": names, "range": [s.hue for s in series]}, legend=told
        ),
        "shape": alt.Shape(
            "series:N", scale={"domain": names, "range": [s.shape for s in series]}, legend=told
        ),
    }


def page(title: alt.TitleParams, *rows: Sequence[alt.LayerChart]) -> Chart:
    """Arrange panels in rows in one chart; each panel keeps its own colours and shapes."""
    import altair as alt

    apart: Any = dict.fromkeys(("color", "shape", "yOffset"), "independent")
    lines: list[alt.LayerChart | alt.HConcatChart] = [
        row[0] if len(row) == 1 else alt.hconcat(*row, spacing=30).resolve_scale(**apart)
        for row in rows
    ]
    whole: Chart = alt.vconcat(*lines, spacing=36, title=title).resolve_scale(**apart)
    return whole


def in_rows(panels: Sequence[alt.LayerChart], most: int) -> Iterator[Sequence[alt.LayerChart]]:
    """Split panels into rows of at most ``most`` panels, which fit on a report page."""
    return (panels[at : at + most] for at in range(0, len(panels), most))


def heading(text: str, *, above: bool = False) -> dict[str, Any]:
    """Return Altair's title options for the heading of a panel."""
    return {"text": text, "fontSize": 12, "frame": "group", "offset": 22 if above else 6}
