"""Rows of marks: one row per model, relation or concept, panels side by side, words at the right.

A mark is hollow where there is no interval, so that what rests on too little looks like it; an
interval that goes on beyond its axis ends in an arrow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.probes.figures.charts import FONT
from tacit.probes.figures.lettering import width_of
from tacit.probes.figures.panels import SIZE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Look, Palette

# Reference marks, as paths about a square from -1 to 1, by the way that values run.
TICK = {"across": "M0,-1.2L0,1.2", "up": "M-1.2,0L1.2,0"}
TRIANGLE = {"across": "M-0.9,-0.8L-0.9,0.8L0.6,0Z", "up": "M-0.8,0.9L0.8,0.9L0,-0.6Z"}
ROW = 22  # pixels of a row
PAPER = "#ffffff"
_GAP = 14.0  # pixels between columns of words
_POINT = 64  # square pixels
HEADING = -26.0  # pixels above the rows
_HEADER = -8.0


@dataclass(frozen=True)
class Measure:
    """What a panel shows: one figure of each row.

    Args:
        axis: The axis's title.
        rows: What ``marks`` gives, and the columns of words.
        domain: The ends of the axis.
        line: Where a dotted line is drawn.
        reference: How reference marks look.
        columns: Header and field of the words beside the rows.
        percent: Whether the axis is in per cent.
    """

    axis: str
    rows: pl.DataFrame
    domain: tuple[float, float]
    line: float | None = None
    reference: dict[str, str] | None = None
    columns: tuple[tuple[str, str], ...] = ()
    percent: bool = False

    @property
    def drawn(self) -> pl.DataFrame:
        """The rows with a value; ``from`` and ``to`` are the interval's ends within the axis."""
        import polars as pl

        low, high = self.domain
        whole = pl.col("low").is_not_null() & pl.col("high").is_not_null()
        return self.rows.drop_nulls("value").with_columns(
            pl.when(whole).then(pl.col("low").clip(low, high)).alias("from"),
            pl.when(whole).then(pl.col("high").clip(low, high)).alias("to"),
        )

    @property
    def scaled(self) -> dict[str, Any]:
        """What an axis of this measure is made of."""
        # Altair copies its own classes many times over, each with a hundred fields.
        axis = {"format": ".0%" if self.percent else ".2~f", "tickCount": 5, "grid": True}
        scale = {"domain": list(self.domain), "nice": False, "zero": False}
        return {"title": self.axis, "scale": scale, "axis": axis}

    def marked(self, drawn: pl.DataFrame, way: str, colours: Palette) -> alt.Chart:
        """The reference marks of such rows, for an axis that runs ``across`` or ``up``."""
        import altair as alt

        shape = (self.reference or TICK)[way]
        points: alt.Chart = alt.Chart(drawn.drop_nulls("reference")).mark_point(
            shape=shape, filled=False, color=colours.gold, strokeWidth=2, size=90, opacity=1
        )
        return points


def marks(
    table: pl.DataFrame, tips: Sequence[str], *, sure: str | None = None, **fields: str
) -> pl.DataFrame:
    """The rows of a measure from a finding.

    Args:
        table: The finding, with ``label``.
        tips: What a pointer that rests on a mark reads.
        sure: The column that is null where there is too little for an interval.
        fields: Which of its columns are ``value``, ``low``, ``high`` and ``reference``; those that
            are not named are null.

    Returns:
        The finding with these columns, ``tip`` and ``sure``.
    """
    import polars as pl

    none = pl.lit(None, dtype=pl.Float64)
    floats = {
        name: pl.col(fields[name]).cast(pl.Float64) if name in fields else none
        for name in ("value", "low", "high", "reference")
    }
    return table.with_columns(
        **floats,
        tip=pl.Series(tips, dtype=pl.String),
        sure=pl.lit(value=True) if sure is None else pl.col(sure).is_not_null(),
    )


def rows(
    panels: Sequence[tuple[str, Measure]], order: Sequence[str], look: Look, width: int = 200
) -> alt.HConcatChart:
    """Panels side by side that share their rows.

    Args:
        panels: The heading of each panel and what it shows.
        order: The rows' labels from top to bottom.
        look: The palette.
        width: Pixels of each panel, without words.
    """
    import altair as alt

    charts: list[alt.LayerChart] = []
    for heading, measure in panels:
        y = label_axis(order, labelled=not charts)
        layers = [
            *_layers(measure, y, look.colours),
            *words(measure.rows, measure.columns, y, look.colours, width),
        ]
        layers.append(heading_of(heading, HEADING, look.colours))
        charts.append(alt.LayerChart(layer=layers).properties(width=width, height=ROW * len(order)))
    return alt.hconcat(*charts, spacing=24)


def _layers(measure: Measure, y: alt.Y, colours: Palette) -> Iterator[alt.Chart]:
    import altair as alt

    drawn, hue, (least, most) = measure.drawn, colours.before, measure.domain
    x = alt.X("value:Q", **measure.scaled)
    if measure.line is not None:
        yield guide(colours).encode(x=alt.XDatum(measure.line, **measure.scaled))
    spans = alt.Chart(drawn.drop_nulls("from")).mark_rule(color=hue, strokeWidth=2)
    yield spans.encode(y=y, x="from:Q", x2="to:Q")
    for end, beyond, angle in (
        (least, drawn["low"] < least, 270),
        (most, drawn["high"] > most, 90),
    ):
        if beyond.any():
            arrow = alt.Chart(drawn.filter(beyond)).mark_point(
                shape="triangle", angle=angle, filled=True, color=hue, size=30, opacity=1
            )
            yield arrow.encode(y=y, x=alt.datum(end))
    yield measure.marked(drawn, "across", colours).encode(y=y, x="reference:Q")
    for mark in dots(drawn, hue):
        yield mark.encode(x=x, y=y, description="tip:N")


def dots(drawn: pl.DataFrame, hue: str, shape: str = "circle") -> Iterator[alt.Chart]:
    """The marks of values: those that are sure, then the hollow ones."""
    import altair as alt

    for sure in (True, False) if not drawn["sure"].all() else (True,):
        yield alt.Chart(drawn.filter(drawn["sure"] == sure)).mark_point(
            shape=shape,
            size=_POINT,
            opacity=1,
            strokeWidth=1.6,
            stroke=hue,
            fill=hue if sure else PAPER,
            aria=True,
        )


def label_axis(order: Sequence[str], *, labelled: bool = True) -> alt.Y:
    """The axis of the rows, in this order from top to bottom."""
    import altair as alt

    axis = {"ticks": False, "domain": False, "labels": labelled, "labelPadding": 8, "grid": True}
    return alt.Y("label:N", title=None, scale={"domain": list(order)}, axis=axis)


def words(
    table: pl.DataFrame,
    columns: Sequence[tuple[str, str]],
    y: alt.Y,
    colours: Palette,
    width: float,
) -> Iterator[alt.Chart]:
    """Columns of words at the right of rows, each below its header, flush right.

    Args:
        table: The rows.
        columns: The header and the field of each.
        y: The axis of the rows.
        colours: The palette.
        width: Pixels of the panel beside which they stand.
    """
    import altair as alt
    import polars as pl

    for header, field in columns:
        width += _GAP + max(width_of(text, SIZE) for text in (header, *table[field]))
        column = alt.Chart(table).mark_text(
            align="right", font=FONT, fontSize=SIZE, color=colours.ink
        )
        yield column.encode(y=y, x=alt.value(width), text=f"{field}:N")
        head = alt.Chart(pl.DataFrame({"header": [header]})).mark_text(
            align="right", font=FONT, fontSize=SIZE, color=colours.muted
        )
        yield head.encode(x=alt.value(width), y=alt.value(_HEADER), text="header:N")


def heading_of(text: str, above: float, colours: Palette) -> alt.Chart:
    """A panel's heading, so many pixels above it; the same in panels side by side."""
    import altair as alt
    import polars as pl

    words = alt.Chart(pl.DataFrame({"heading": [text]})).mark_text(
        align="left", font=FONT, fontSize=12, fontWeight="bold", color=colours.ink
    )
    chart: alt.Chart = words.encode(x=alt.value(0), y=alt.value(above), text="heading:N")
    return chart


def guide(
    colours: Palette, *, solid: bool = False, values: Sequence[dict[str, float]] = ({},)
) -> alt.Chart:
    """A line that only guides the eye, dotted unless ``solid``; one for each of some values."""
    import altair as alt

    dash = [] if solid else [2, 3]
    lines = alt.Chart(alt.InlineData(values=list(values)))
    drawn: alt.Chart = lines.mark_rule(color=colours.muted, strokeWidth=1.2, strokeDash=dash)
    return drawn
