"""Figures of findings, written as runs write them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import polars as pl

from tacit.charts import save
from tacit.charts.save import write_charts
from tacit.charts.shown import Shown
from tacit.charts.theme import HOUSE, PALETTES, Chart, Palette
from tacit.findings.display import FigureSpec
from tacit.findings.findings import Findings

Figures = Mapping[str, FigureSpec]

_SVG = "{http://www.w3.org/2000/svg}"


def shown(tables: Mapping[str, pl.DataFrame], colours: Palette = HOUSE) -> Shown:
    """One model's tables, or those of the models that their column ``model`` names."""
    models = [
        name
        for table in tables.values()
        if "model" in table.columns
        for name in table["model"].unique(maintain_order=True)
    ]
    if not models:
        return Shown({"m": _findings(tables)}, {}, colours)
    found = {
        name: _findings(
            {key: table.filter(model=name).drop("model") for key, table in tables.items()}
        )
        for name in dict.fromkeys(models)
    }
    return Shown(found, {}, colours)


def write_figures(
    figures: Figures,
    found: Mapping[str, Findings],
    folder: Path,
    formats: Collection[str] = ("svg",),
    colours: Palette = HOUSE,
) -> list[Path]:
    return write_charts(figures, Shown(found, {}, colours), folder, formats)


def _findings(tables: Mapping[str, pl.DataFrame]) -> Findings:
    return Findings(pl.DataFrame(), tables, {})


def drawn(chart: Chart | None) -> Chart:
    assert chart is not None
    return chart


def svg(chart: Chart | None, palette: str = "house") -> str:
    return save.drawn(drawn(chart).to_dict(), PALETTES[palette])


def rows(chart: Chart | None) -> list[dict[str, Any]]:
    """The rows of all tables that the specification holds."""
    return [row for table in drawn(chart).to_dict()["datasets"].values() for row in table]


def texts(figure: str) -> list[str]:
    return [" ".join(each.itertext()) for each in _elements(figure, "text")]


def joined_text(figure: str) -> str:
    """All texts of a figure as one, however its caption is broken into lines."""
    return " ".join(" ".join(texts(figure)).split())


def tips(figure: str) -> list[str]:
    """What a pointer that rests on a mark reads."""
    return ["".join(each.itertext()) for each in _elements(figure, "title")]


def rules(figure: str) -> int:
    """How many lines that are no part of an axis."""
    marks = [g for g in _elements(figure, "g") if "mark-rule role-mark" in (g.get("class") or "")]
    return sum(len(list(each.iter(f"{_SVG}line"))) for each in marks)


def _elements(figure: str, name: str) -> Iterator[ET.Element]:
    return ET.fromstring(figure).iter(f"{_SVG}{name}")  # noqa: S314 - our own
