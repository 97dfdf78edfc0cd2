"""The theme of all figures: palettes, fonts, and the colour and shape of each series."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import altair as alt

from tacit.errors import RequestError

Chart: TypeAlias = alt.VConcatChart

Spec: TypeAlias = dict[str, Any]
"""A Vega-Lite chart, or a part of one, as JSON."""

FONT = "Verdana, DejaVu Sans, sans-serif"
_TEXT = 13  # the smallest font size of charts, in pixels
# Combined with the hues of ``Palette.series``, so that series never differ in colour alone.
SHAPES = (
    "circle",
    "diamond",
    "square",
    "triangle-up",
    "cross",
    "triangle-down",
    "triangle-right",
    "triangle-left",
)
PAPER = "#ffffff"
_DEEPEST = 0.6  # the largest share of a hue in a mix, so that text on it is legible


@dataclass(frozen=True)
class Palette:
    """A palette of hexadecimal RGB colours that can be told apart on a white background."""

    name: str
    before: str
    after: Mapping[str, str]
    gold: str
    faults: tuple[str, str, str]
    ink: str = "#1c1f24"
    muted: str = "#5a616b"
    faint: str = "#dfe3e8"

    def of(self, stage: str) -> str:
        """Return the colour for ``stage``: ``before`` (raw beliefs) or a repair objective."""
        return self.before if stage == "before" else self.after.get(stage, self.muted)

    @property
    def series(self) -> tuple[str, ...]:
        """Eight colours for chart series without a fixed colour, such as one series per model."""
        return (self.before, *self.after.values(), self.gold, *self.faults)


PALETTES = {
    "house": Palette(
        "house",
        before="#2f6db5",
        after={"paper": "#d9730d", "log-odds": "#2e8b57", "margin": "#8e4b9e"},
        gold="#3d4450",
        faults=("#c21f39", "#b0189a", "#96620a"),
    ),
    # The colours of Okabe and Ito (2008), distinguishable with every common colour blindness.
    "okabe-ito": Palette(
        "okabe-ito",
        before="#0072b2",
        after={"paper": "#e69f00", "log-odds": "#009e73", "margin": "#cc79a7"},
        gold="#000000",
        faults=("#d55e00", "#b0568a", "#7d6a00"),
        ink="#000000",
    ),
}


HOUSE = PALETTES["house"]


def palette_of(name: str) -> Palette:
    """Return the palette with the given name, or raise an error if there is none."""
    if name not in PALETTES:
        raise RequestError(f"there is no palette {name!r}; expected one of {', '.join(PALETTES)}")
    return PALETTES[name]


@dataclass(frozen=True)
class Series:
    """A series of a chart, with its colour, its shape and its dash pattern."""

    name: str
    hue: str
    shape: str = "circle"
    dash: tuple[int, ...] = ()


def series(names: Iterable[str], colours: Palette) -> tuple[Series, ...]:
    """Return series that differ in colour and shape; from the ninth series on, lines are dashed."""
    hues = colours.series
    return tuple(
        Series(name, hues[at % len(hues)], SHAPES[at % len(SHAPES)], (6, 3) * (at >= len(hues)))
        for at, name in enumerate(names)
    )


def mixed(hue: str, part: float) -> str:
    """Return a colour mixed with white."""
    part = _DEEPEST * min(part, 1)
    levels = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (level - 255)):02x}" for level in levels)


def config(colours: Palette) -> Spec:
    """Return the theme as the configuration of a Vega-Lite chart."""
    ink, text = colours.ink, {"labelFontSize": _TEXT, "titleFontSize": _TEXT, "labelLimit": 320}
    return {
        "font": FONT,
        "mark": {"aria": False},  # the marks with aria=True alone have a label
        "title": {
            "fontSize": 15,
            "color": ink,
            "anchor": "start",
            "subtitleFontSize": _TEXT,
            "subtitleColor": ink,
        },
        "axis": {
            **text,
            "labelColor": ink,
            "titleColor": ink,
            "titleFontWeight": "normal",
            "gridColor": colours.faint,
            "domainColor": colours.muted,
            "tickColor": colours.muted,
        },
        "legend": {**text, "labelColor": ink, "symbolSize": 90},
        "view": {"stroke": None},
    }


def themed(chart: Chart, colours: Palette) -> Chart:
    configured: Chart = chart.configure(**config(colours))
    return configured
