"""What all panels of figures share: axes, tooltips, legends, and their arrangement on a page."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from textwrap import wrap
from typing import Any, Self

import altair as alt
import polars as pl

from tacit.charts.theme import PAPER, Chart, Palette, Series
from tacit.findings.numbers import bounds as ends_of
from tacit.findings.numbers import formatted
from tacit.findings.spec import Column, ColumnKind

DASH = "\N{EN DASH}"
SIZE = 13  # font size of text, in pixels
_LETTERS = 112  # maximum characters per line of a caption
POINTS: dict[str, Any] = {"size": 60, "opacity": 1, "strokeWidth": 1.6, "aria": True}
HOLLOW: dict[str, Any] = {"filled": False, "fill": PAPER}


def written(value: float | None, kind: ColumnKind) -> str:
    """Return a number as text; None becomes a dash."""
    return DASH if value is None else formatted(value, kind)


def tip(row: Mapping[str, Any], columns: Iterable[Column]) -> str:
    """Return the tooltip of a mark: its name, and the value of each column with its interval."""
    texts = []
    for column in columns:
        equals = " = " if column.kind == "count" else " "
        texts.append(f"{column.heading}{equals}{written(row[column.name], column.kind)}")
        low, high = (row.get(end) for end in column.ends or ("", ""))
        if low is not None and high is not None:
            texts[-1] += f" ({ends_of(low, high, column.kind)})"
    names = dict.fromkeys(str(row[key]) for key in ("label", "series") if row[key] is not None)
    return f"{', '.join(names)}: {', '.join(texts)}"


def tipped(
    table: pl.DataFrame, label: str, by: str | None, columns: Sequence[Column]
) -> pl.DataFrame:
    """Return the table with the label, the series and the tooltip of each row's mark."""
    named = table.with_columns(
        label=pl.col(label).cast(pl.String),
        series=(pl.col(by) if by else pl.lit(None)).cast(pl.String),
    )
    tips = [tip(row, columns) for row in named.iter_rows(named=True)]
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
    return {"text": text, "fontSize": SIZE, "frame": "bounds", "offset": offset}


def dotted(colours: Palette) -> dict[str, Any]:
    """Return the style of lines that guide the eye."""
    return {"color": colours.muted, "strokeWidth": 1.2, "strokeDash": [2, 3]}


@dataclass(frozen=True)
class Panel:
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


def series_styles(series: Sequence[Series], *, legend: bool) -> dict[str, Any]:
    """Return the colour and shape encodings of the series; {} if there are no series."""
    if not series:
        return {}
    names = [one.name for one in series]
    options = {"title": None, "orient": "bottom", "columns": 3} if legend else None
    hues, shapes = [one.hue for one in series], [one.shape for one in series]
    return {
        "color": alt.Color("series:N", scale={"domain": names, "range": hues}, legend=options),
        "shape": alt.Shape("series:N", scale={"domain": names, "range": shapes}, legend=options),
    }


def in_rows(panels: Sequence[alt.LayerChart], most: int) -> list[Sequence[alt.LayerChart]]:
    """Split panels into rows of at most ``most`` panels, which fit on a report page."""
    return [panels[at : at + most] for at in range(0, len(panels), most)]


def page(title: str, caption: Sequence[str], rows: Iterable[Sequence[alt.LayerChart]]) -> Chart:
    """Arrange rows of panels in one chart; each panel keeps its own colours and shapes."""
    apart: Any = dict.fromkeys(("color", "shape", "yOffset"), "independent")
    lines: list[alt.LayerChart | alt.HConcatChart] = [
        row[0] if len(row) == 1 else alt.hconcat(*row, spacing=30).resolve_scale(**apart)
        for row in rows
    ]
    wrapped = [part for line in caption for part in wrap(line, _LETTERS, break_on_hyphens=False)]
    small: Any = {"subtitleFontSize": 12, "subtitlePadding": 5, "offset": 14}
    titled = alt.TitleParams(text=title, subtitle=wrapped, **small)
    whole = alt.vconcat(*lines, spacing=36, title=titled, usermeta={"caption": list(caption)})
    arranged: Chart = whole.resolve_scale(**apart)
    return arranged
