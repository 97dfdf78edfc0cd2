"""A row per relation with a lane per model: values with intervals, and pairs of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.probes.figures.charts import FONT
from tacit.probes.figures.lettering import width_of
from tacit.probes.figures.panels import SIZE
from tacit.probes.figures.rows import HEADING, PAPER, guide, heading_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.assumptions.panels import Series
    from tacit.probes.figures.charts import Palette

_LANE, _BETWEEN = 15, 8  # pixels of a lane, and between relations
_GAP = 12.0  # pixels between columns of words
_HEADER = -8.0  # pixels above the rows


@dataclass(frozen=True)
class Axis:
    """The level axis of a panel.

    Args:
        title: What it measures.
        domain: Its ends.
        zero: Whether a dotted line marks 0.
        width: Pixels.
        columns: Header and field of the words beside the lanes.
    """

    title: str
    domain: tuple[float, float]
    zero: bool = False
    width: int = 170
    columns: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Lanes:
    """A panel.

    Args:
        rows: A lane each: ``relation``, ``model``, ``value``, ``low`` and ``high`` (null where
            there is no interval), ``tip``, the columns of words; for pairs also ``other``.
        relations: From top to bottom.
        of: The models, in the order of their lanes.
        axis: The level axis.
        colours: The palette.
    """

    rows: pl.DataFrame
    relations: Sequence[str]
    of: Sequence[Series]
    axis: Axis
    colours: Palette

    def values(self, heading: str, *, labelled: bool, legend: bool) -> alt.LayerChart:
        """A mark per lane with its interval; nothing where the value is null."""
        rows = self.rows.drop_nulls("value")
        spans = self._rules(rows.drop_nulls(["low", "high"]), ("low", "high"), 2)
        marks = self._marks(rows, "value", legend=legend)
        return self._panel([*spans, marks], heading, labelled=labelled)

    def pairs(self, heading: str, *, labelled: bool, legend: bool) -> alt.LayerChart:
        """A filled mark (``value``) and a hollow one (``other``) per lane, joined by a line."""
        both = self._rules(self.rows.drop_nulls(["value", "other"]), ("value", "other"), 1.4)
        filled = self._marks(self.rows.drop_nulls("value"), "value", legend=legend)
        hollow = self._marks(self.rows.drop_nulls("other"), "other", legend=legend, hollow=True)
        return self._panel([*both, hollow, filled], heading, labelled=labelled)

    def _panel(self, marks: list[alt.Chart], heading: str, *, labelled: bool) -> alt.LayerChart:
        import altair as alt

        y = self._y(labelled=labelled)
        # The first layer settles the axis of the rows.
        layers = [each.encode(y=y) for each in marks]
        if self.axis.zero:
            layers.append(guide(self.colours).encode(x=alt.datum(0.0)))
        layers += self._words()
        layers.append(heading_of(heading, HEADING, self.colours))
        height = len(self.relations) * (_LANE * len(self.of) + _BETWEEN)
        return alt.LayerChart(layer=layers).properties(width=self.axis.width, height=height)

    def _rules(
        self, rows: pl.DataFrame, ends: tuple[str, str], width: float
    ) -> Iterator[alt.Chart]:
        """Lines from one column to the other, by themselves so that no legend tells them."""
        import altair as alt

        for one in self.of:
            lines = alt.Chart(rows.filter(model=one.name))
            drawn = lines.mark_rule(color=one.hue, strokeWidth=width)
            yield drawn.encode(x=self._x(ends[0]), x2=f"{ends[1]}:Q", yOffset=self._offset())

    def _marks(
        self, rows: pl.DataFrame, field: str, *, legend: bool, hollow: bool = False
    ) -> alt.Chart:
        import altair as alt

        style = {"fill": PAPER, "filled": False} if hollow else {"filled": True}
        marks: alt.Chart = (
            alt.Chart(rows)
            .mark_point(size=56, opacity=1, strokeWidth=1.6, aria=True, **style)
            .encode(
                x=self._x(field),
                yOffset=self._offset(),
                color=self._hue(legend=legend),
                shape=self._shape(legend=legend),
                description="tip:N",
            )
        )
        return marks

    def _words(self) -> Iterator[alt.Chart]:
        """The columns of words, each below its header, flush right."""
        import altair as alt
        import polars as pl

        at = float(self.axis.width)
        for header, field in self.axis.columns:
            at += _GAP + max(width_of(text, SIZE) for text in (header, *self.rows[field]))
            column = alt.Chart(self.rows).mark_text(
                align="right", font=FONT, fontSize=SIZE, color=self.colours.ink
            )
            yield column.encode(
                x=alt.value(at),
                y=self._y(labelled=False),
                yOffset=self._offset(),
                text=f"{field}:N",
            )
            head = alt.Chart(pl.DataFrame({"header": [header]})).mark_text(
                align="right", font=FONT, fontSize=SIZE, color=self.colours.muted
            )
            yield head.encode(x=alt.value(at), y=alt.value(_HEADER), text="header:N")

    def _x(self, field: str) -> alt.X:
        import altair as alt

        scale = {"domain": list(self.axis.domain), "nice": False, "zero": False}
        axis = {"tickCount": 4, "format": "~r", "grid": True, "labelFlush": False}
        return alt.X(f"{field}:Q", title=self.axis.title, scale=scale, axis=axis)

    def _y(self, *, labelled: bool) -> alt.Y:
        import altair as alt

        axis = {
            "ticks": False,
            "domain": False,
            "labels": labelled,
            "labelPadding": 8,
            "grid": len(self.of) > 1,
            "tickBand": "extent",
        }
        scale = {"domain": list(self.relations), "paddingInner": 0.0, "paddingOuter": 0.0}
        return alt.Y("relation:N", title=None, scale=scale, axis=axis)

    def _offset(self) -> alt.YOffset:
        import altair as alt

        return alt.YOffset("model:N", scale={"domain": [one.name for one in self.of]})

    def _hue(self, *, legend: bool) -> alt.Color:
        import altair as alt

        scale = {"domain": [s.name for s in self.of], "range": [s.hue for s in self.of]}
        return alt.Color("model:N", scale=scale, legend=self._legend(told=legend))

    def _shape(self, *, legend: bool) -> alt.Shape:
        import altair as alt

        scale = {"domain": [s.name for s in self.of], "range": [s.shape for s in self.of]}
        return alt.Shape("model:N", scale=scale, legend=self._legend(told=legend))

    @staticmethod
    def _legend(*, told: bool) -> dict[str, Any] | None:

        return {"title": None, "orient": "bottom", "columns": 3, "symbolSize": 70} if told else None
