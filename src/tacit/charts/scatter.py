"""Panels of marks at the values of two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.panels import HOLLOW, POINTS, Panel, axis, heading, series_styles, tipped
from tacit.charts.theme import Palette, mixed, series
from tacit.findings.spec import Column


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
        line = alt.Chart(corners).mark_line(
            color=self.colours.muted, strokeDash=[2, 3], strokeWidth=1.2
        )
        return self._at(line)
