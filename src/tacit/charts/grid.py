"""Panels of coloured cells in rows and columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import altair as alt

from tacit.charts.panels import SIZE, Panel, heading
from tacit.charts.theme import PAPER, Palette


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
