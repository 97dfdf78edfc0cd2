"""Figures of findings, written as runs write them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from tacit.charts.save import write_charts
from tacit.charts.shown import Shown
from tacit.charts.theme import Theme
from tacit.findings.findings import Findings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from tacit.findings.spec import FigureSpec

    Figures = Mapping[str, FigureSpec]


def shown(tables: Mapping[str, pl.DataFrame], look: Theme | None = None) -> Shown:
    """One model's tables, or those of the models that their column ``model`` names."""
    models = [
        name
        for table in tables.values()
        if "model" in table.columns
        for name in table["model"].unique(maintain_order=True)
    ]
    if not models:
        return Shown({"m": _findings(tables)}, {}, look or Theme())
    found = {
        name: _findings(
            {key: table.filter(model=name).drop("model") for key, table in tables.items()}
        )
        for name in dict.fromkeys(models)
    }
    return Shown(found, {}, look or Theme())


def write_figures(
    figures: Figures,
    found: Mapping[str, Findings],
    folder: Path,
    formats: Collection[str] = ("svg",),
    look: Theme | None = None,
) -> list[Path]:
    """Writes the figures that findings allow, by model."""
    return write_charts(figures, Shown(found, {}, look or Theme()), folder, formats)


def _findings(tables: Mapping[str, pl.DataFrame]) -> Findings:
    return Findings(pl.DataFrame(), tables, {})
