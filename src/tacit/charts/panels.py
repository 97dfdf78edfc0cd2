"""The kinds of panels in figures: rows of marks, curves, grids of cells, and scatter plots.

A panel takes a table of findings and the declarations of the columns that it draws.
"""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from textwrap import wrap
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tacit.charts.theme import FONT, PAPER, Series, mixed, series
from tacit.findings.numbers import bounds as ends_of
from tacit.findings.numbers import formatted

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    import altair as alt
    import polars as pl

    from tacit.charts.theme import Chart, Palette
    from tacit.findings.spec import Column, Kind

DASH = "\N{EN DASH}"
_SIZE = 12  # font size of text, in pixels
_POINT = 60  # square pixels
_LANE, _ROW = 17, 24  # height in pixels: of a series within a row, and of a row with one lane
_BETWEEN = 8  # pixels between rows with several lanes
_WORDS = 74  # width in pixels of a column of text
_LETTERS = 112  # maximum characters per line of a caption
_BAR = "M0,-1.2L0,1.2"  # the shape of a reference mark: an SVG path in a square from -1 to 1
_POINTS: dict[str, Any] = {"size": _POINT, "opacity": 1, "strokeWidth": 1.6, "aria": True}
_HOLLOW: dict[str, Any] = {"filled": False, "fill": PAPER}


def written(value: float | None, kind: Kind) -> str:
    """Return a number as text; None becomes a dash."""
    return DASH if value is None else formatted(value, kind)


def tip(row: Mapping[str, Any], columns: Iterable[Column]) -> str:
    """Return the tooltip of a mark: its name, and the value of each column with its interval."""
    told = []
    for column in columns:
        equals = " = " if column.kind == "count" else " "
        told.append(f"{column.heading}{equals}{written(row[column.name], column.kind)}")
        low, high = (row.get(end) for end in column.ends or ("", ""))
        if low is not None and high is not None:
            told[-1] += f" ({ends_of(low, high, column.kind)})"
    names = dict.fromkeys(str(row[key]) for key in ("label", "series") if row[key] is not None)
    return f"{', '.join(names)}: {', '.join(told)}"


def tipped(table: pl.DataFrame, label: str, by: str | None, told: Sequence[Column]) -> pl.DataFrame:
    """Return the table with the label, the series and the tooltip of each row's mark."""
    import polars as pl

    named = table.with_columns(
        label=pl.col(label).cast(pl.String),
        series=(pl.col(by) if by else pl.lit(None)).cast(pl.String),
    )
    tips = [tip(row, told) for row in named.iter_rows(named=True)]
    return named.with_columns(tip=pl.Series(tips, dtype=pl.String))


def bounds(values: Iterable[float | None]) -> tuple[float, float]:
    """Return rounded ends within [-1, 1] for an axis that includes all values and a margin."""
    held = [min(max(value, -1.0), 1.0) for value in values if value is not None]
    least = -1.0 if min(held, default=0.0) < 0 else 0.0
    if not held:
        return least, 1.0
    length = max(max(held) - min(held), 1e-3)
    step = 10.0 ** math.floor(math.log10(length)) / 2
    room = 0.03 * length
    low = math.floor(round((min(held) - room) / step, 6)) * step
    high = math.ceil(round((max(held) + room) / step, 6)) * step
    return max(least, low), min(1.0, high)


def axis(column: Column, domain: tuple[float, float]) -> dict[str, Any]:
    """Return the title, scale and axis that all encodings of a column's values share."""
    share = column.kind in {"percent", "points"}
    return {
        "title": column.heading,
        "scale": {"domain": list(domain), "nice": False, "zero": False, "clamp": True},
        "axis": {"format": ".0%" if share else "~g", "tickCount": 5},
    }


def heading(text: str, offset: int = 6) -> dict[str, Any]:
    """Return Altair's title options for the heading of a panel."""
    return {"text": text, "fontSize": 12, "frame": "group", "offset": offset}


@dataclass(frozen=True)
class _Panel:
    """A panel of a table's rows."""

    table: pl.DataFrame

    def chart(self, text: str) -> alt.LayerChart:
        """Return one panel with a heading."""
        raise NotImplementedError

    def of(self, table: pl.DataFrame) -> Self:
        """Return the same panel of some of the rows, on the same axes and in the same series."""
        return replace(self, table=table)

    def panels(self, by: str, text: str = "{}") -> list[alt.LayerChart]:
        """Return a panel for each value of a column, with equal axes."""
        parts = self.table.group_by(by, maintain_order=True)
        return [self.of(part).chart(text.format(name)) for (name,), part in parts]


@dataclass(frozen=True)
class _Marks(_Panel):
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
        import polars as pl

        low, high = self.column.ends or (None, None)
        reference = self.reference.name if self.reference else None
        names = {"value": self.column.name, "low": low, "high": high, "reference": reference}
        told = [self.column, *([self.reference] if self.reference else []), *self.told]
        return tipped(self.table, self.label, self.by, told).with_columns(
            (pl.col(name) if name and name in self.table else pl.lit(None))
            .cast(pl.Float64)
            .alias(field)
            for field, name in (names | {"chance": self.chance}).items()
        )

    @cached_property
    def styles(self) -> Sequence[Series]:
        """The style of each series; empty if there is only one series."""
        names = self.drawn["series"].drop_nulls().unique(maintain_order=True)
        found = series(names, self.colours) if self.series is None else self.series
        return found if self.by and len(found) > 1 else ()

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
        import altair as alt

        of = alt.X if self.channel == "x" else alt.Y
        ends: dict[str, Any] = {f"{self.channel}2": f"{to}:Q"} if to else {}
        return self.positioned(marks).encode(of(f"{field}:Q", **self.axis), **ends)

    def guide(self) -> Iterator[alt.Chart]:
        """Yield the dotted line."""
        import altair as alt

        if self.dotted is not None:
            line = alt.Chart(alt.InlineData(values=[{}]))
            mark = line.mark_rule(color=self.colours.muted, strokeWidth=1.2, strokeDash=[2, 3])
            datum = alt.XDatum if self.channel == "x" else alt.YDatum
            yield mark.encode(datum(self.dotted, **self.axis))

    def each(self) -> Iterator[tuple[pl.DataFrame, Series]]:
        """Yield the defined rows of each series."""
        drawn = self.drawn.drop_nulls("value")
        for one in self.styles or (Series("", self.colours.before),):
            yield drawn.filter(series=one.name) if self.styles else drawn, one

    def bounded(self) -> pl.Expr:
        """Whether the marks around a mark have intervals, so that one without is hollow."""
        import polars as pl

        return pl.col("low").is_not_null().any()

    def points(self) -> Iterator[alt.Chart]:
        """Yield the marks."""
        import altair as alt
        import polars as pl

        drawn = self.drawn.drop_nulls("value")
        bare = pl.col("low").is_null() & self.bounded()
        styles = series_styles(self.styles, legend=self.legend)
        for part, style in ((drawn.filter(~bare), {"filled": True}), (drawn.filter(bare), _HOLLOW)):
            if part.height or style["filled"]:
                mark = alt.Chart(part).mark_point(color=self.colours.before, **_POINTS, **style)
                yield self.at(mark).encode(description="tip:N", **styles)


@dataclass(frozen=True)
class Rows(_Marks):
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
        import altair as alt

        layers = [*self.guide(), *self._lines(), *self._references(), *self._ticks()]
        layers += [*self.points(), *self._words()]
        lanes = 1 if self.joined else max(1, len(self.styles))
        height = len(self.labels) * (_ROW if lanes == 1 else lanes * _LANE + _BETWEEN)
        return alt.LayerChart(layer=layers).properties(
            width=self.width, height=height, title=heading(text, 22 if self.words else 6)
        )

    def positioned(self, marks: alt.Chart) -> alt.Chart:
        import altair as alt

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
        import altair as alt
        import polars as pl

        if self.joined:
            ends = self.drawn.drop_nulls("value").group_by("label", maintain_order=True)
            rows = ends.agg(low=pl.col("value").min(), high=pl.col("value").max())
            line = alt.Chart(rows).mark_rule(strokeWidth=2, color=self.colours.muted)
            yield self.at(line, "low", "high")
        for rows, one in self.each():
            line = alt.Chart(rows.drop_nulls(["low", "high"]))
            yield self.at(line.mark_rule(strokeWidth=2, color=one.hue), "low", "high")

    def _references(self) -> Iterator[alt.Chart]:
        import altair as alt

        if self.reference is not None:
            bars = alt.Chart(self.drawn.drop_nulls(["value", "reference"])).mark_point(
                shape=_BAR, color=self.colours.gold, strokeWidth=2, size=90, opacity=1
            )
            yield self.at(bars, "reference")

    def _ticks(self) -> Iterator[alt.Chart]:
        import altair as alt

        if self.ticks:
            of = self.colours
            hues = (of.faults[0], of.gold, of.after["margin"], of.after["log-odds"])
            pairs = zip(self.ticks.values(), hues, strict=False)
            styles = [Series(name, hue, _BAR) for name, hue in pairs]
            wide = self.drawn.select("label", *self.ticks).rename(dict(self.ticks))
            values = wide.unpivot(index="label", variable_name="series", value_name="reference")
            bars = alt.Chart(values.drop_nulls("reference"))
            mark = bars.mark_point(filled=False, strokeWidth=2, size=90, opacity=1)
            yield self.at(mark, "reference").encode(**series_styles(styles, legend=self.legend))

    def _words(self) -> Iterator[alt.Chart]:
        import altair as alt
        import polars as pl

        style: dict[str, Any] = {"align": "right", "font": FONT, "fontSize": _SIZE}
        for at, column in enumerate(self.words, start=1):
            kind, x = column.kind, alt.value(self.width + _WORDS * at)
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
class Curves(_Marks):
    """A panel with one line per series, marks at the values, and confidence bands.

    ``across`` is the column of the horizontal axis, ``banded`` are the series with bands (default:
    all), and ``joined`` is the column whose equal values are joined by a line, if not the series.
    """

    across: Column
    banded: Collection[str] | None = None
    joined: str | None = None
    log: bool = False

    channel = "y"

    def chart(self, text: str) -> alt.LayerChart:
        import altair as alt

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
            width=self.width, height=240, title=heading(text)
        )

    def positioned(self, marks: alt.Chart) -> alt.Chart:
        import altair as alt

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
        import altair as alt

        rows = rows.drop_nulls(column).sort(self.across.name, maintain_order=True)
        line = alt.Chart(rows).mark_line(color=one.hue, strokeWidth=1.8, strokeDash=list(one.dash))
        return self.at(line, column)

    def _references(self) -> Iterator[alt.Chart]:
        import altair as alt

        if self.reference is not None:
            ticks = alt.Chart(self.drawn.drop_nulls(["value", "reference"])).mark_tick(
                orient="horizontal", color=self.colours.gold, thickness=2, size=14
            )
            yield self.at(ticks, "reference")

    def _chance(self) -> Iterator[alt.Chart]:
        """Yield a dotted line at the chance level, or one line per series if the levels differ."""
        import polars as pl

        drawn = self.drawn.drop_nulls(["value", "chance"])
        levels = drawn.group_by(self.across.name).agg(pl.col("chance").round(9).n_unique())
        alike = (levels["chance"] == 1).all()
        for rows, one in [*self.each()][: 1 if alike else None]:
            hue = self.colours.muted if alike else one.hue
            if drawn.height:
                yield self._line(rows, "chance", Series("", hue, dash=(2, 2)))


@dataclass(frozen=True)
class Scatter(_Panel):
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
        import altair as alt
        import polars as pl

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
            self._marks(rest.filter(~is_named), **_HOLLOW, **muted),
            self._at(alt.Chart(own.drop_nulls(ends)).mark_rule(**muted), *ends)
            if self.named
            else None,
            self._marks(own, filled=True, color=self.colours.before).encode(
                **series_styles(hues, legend=True)
            ),
        ]
        if self.text:
            words = alt.Chart(drawn).mark_text(dx=9, dy=-6, fontSize=10, **muted)
            layers.append(self._at(words).encode(text=f"{self.text}:N"))
        layered = alt.LayerChart(layer=[layer for layer in layers if layer is not None])
        return layered.properties(width=self.side, height=self.side, title=heading(text))

    def _marks(self, rows: pl.DataFrame, **style: Any) -> alt.Chart:  # noqa: ANN401 - of the mark
        import altair as alt

        marks = alt.Chart(rows).mark_point(**_POINTS, **style)
        return self._at(marks).encode(description="tip:N")

    def _at(self, marks: alt.Chart, y: str | None = None, y2: str | None = None) -> alt.Chart:
        import altair as alt

        x = alt.X(f"{self.across.name}:Q", **axis(self.across, self.domain))
        up = alt.Y(f"{y or self.column.name}:Q", **axis(self.column, self.domain))
        return marks.encode(x=x, y=up, **({"y2": f"{y2}:Q"} if y2 else {}))

    def _diagonal(self) -> alt.Chart:
        import altair as alt

        names = (self.across.name, self.column.name)
        corners = alt.InlineData(values=[dict.fromkeys(names, end) for end in self.domain])
        line = alt.Chart(corners).mark_line(
            color=self.colours.muted, strokeDash=[2, 3], strokeWidth=1.2
        )
        return self._at(line)


@dataclass(frozen=True)
class Grid(_Panel):
    """A panel of coloured cells with a text, a tooltip (``tip``) and a colour (``hue``) each.

    ``across`` and ``down`` are the labels of the table's columns ``column`` and ``row``, in order;
    cells of rows whose column ``framed`` is true have a frame.
    """

    colours: Palette
    _: KW_ONLY
    down: Sequence[str]
    across: Sequence[str]
    title: str | None = None
    cell: tuple[int, int] = (58, 24)

    def chart(self, text: str) -> alt.LayerChart:
        import altair as alt

        width, height = self.cell
        above: dict[str, Any] = {"orient": "top", "labelAngle": 0, "ticks": False, "domain": False}
        # A label with a slash, such as Yes/No, is broken into two lines.
        above |= {"labelExpr": "split(replace(datum.label, '/', '/\\n'), '\\n')"}
        if any("/" in label for label in self.across):
            above |= {"labelPadding": 18}
        left = {"ticks": False, "domain": False, "labelLimit": 260, "labelPadding": 8}
        x = alt.X("column:N", title=None, scale={"domain": list(self.across)}, axis=above)
        y = alt.Y("row:N", title=self.title, scale={"domain": list(self.down)}, axis=left)
        cells = alt.Chart(self.table).encode(x=x, y=y)
        filled = cells.mark_rect(stroke=PAPER, aria=True)
        layers = [
            filled.encode(color=alt.Color("hue:N", scale=None), description="tip:N"),
            cells.mark_text(
                font=FONT, fontSize=_SIZE, color=self.colours.ink, limit=width - 6
            ).encode(text="text:N"),
        ]
        if "framed" in self.table.columns:
            framed = alt.Chart(self.table.filter("framed")).encode(x=x, y=y)
            frame = framed.mark_rect(filled=False, stroke=self.colours.ink, strokeWidth=1.6)
            layers.append(frame)
        return alt.LayerChart(layer=layers).properties(
            width=width * len(self.across), height=height * len(self.down), title=heading(text)
        )


def series_styles(series: Sequence[Series], *, legend: bool) -> dict[str, Any]:
    """Return the colour and shape encodings of the series; {} if there are no series."""
    import altair as alt

    if not series:
        return {}
    names = [one.name for one in series]
    told = {"title": None, "orient": "bottom", "columns": 3} if legend else None
    hues, shapes = [one.hue for one in series], [one.shape for one in series]
    return {
        "color": alt.Color("series:N", scale={"domain": names, "range": hues}, legend=told),
        "shape": alt.Shape("series:N", scale={"domain": names, "range": shapes}, legend=told),
    }


def in_rows(panels: Sequence[alt.LayerChart], most: int) -> list[Sequence[alt.LayerChart]]:
    """Split panels into rows of at most ``most`` panels, which fit on a report page."""
    return [panels[at : at + most] for at in range(0, len(panels), most)]


def page(title: str, caption: Sequence[str], rows: Iterable[Sequence[alt.LayerChart]]) -> Chart:
    """Arrange rows of panels in one chart; each panel keeps its own colours and shapes."""
    import altair as alt

    apart: Any = dict.fromkeys(("color", "shape", "yOffset"), "independent")
    lines: list[alt.LayerChart | alt.HConcatChart] = [
        row[0] if len(row) == 1 else alt.hconcat(*row, spacing=30).resolve_scale(**apart)
        for row in rows
    ]
    wrapped = [part for line in caption for part in wrap(line, _LETTERS, break_on_hyphens=False)]
    small: Any = {"subtitleFontSize": 11, "subtitlePadding": 5, "offset": 14}
    told = alt.TitleParams(text=title, subtitle=wrapped, **small)
    whole = alt.vconcat(*lines, spacing=36, title=told, usermeta={"caption": list(caption)})
    found: Chart = whole.resolve_scale(**apart)
    return found
