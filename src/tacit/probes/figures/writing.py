"""Charts that show findings, drawn one after the other and written."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tacit.probes.figures.charts import check_formats, svg_of, themed, write_svg

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from tacit.findings.spec import FigureSpec
    from tacit.probes.figures.charts import Chart, Palette
    from tacit.probes.figures.panels import Shown

_MARK = re.compile(r'(<path aria-label="([^"]*)"[^>]*?)(?:/>|></path>)')


def charts(figures: Mapping[str, FigureSpec], shown: Shown) -> Iterator[tuple[FigureSpec, Chart]]:
    """Each figure that the findings allow, with its chart."""
    for spec in figures.values():
        chart = spec(shown)
        if chart is not None:
            yield spec, chart


def write_charts(
    figures: Mapping[str, FigureSpec],
    shown: Shown,
    folder: Path,
    formats: Collection[str],
) -> list[Path]:
    """Writes each figure that the findings allow into a folder, and returns the files.

    Raises:
        RequestError: A format or the palette is not known.
        WorkError: A file cannot be written.
    """
    colours = shown.look.colours
    check_formats(formats)
    return [
        path
        for spec, chart in charts(figures, shown)
        for path in write_svg(drawn(chart, colours), folder / spec.name, formats)
    ]


def drawn(chart: Chart, colours: Palette) -> str:
    """The chart as SVG; a pointer that rests on a mark reads its figures."""
    # Only marks that say what they are described by are described.
    described = themed(chart, colours)
    described["config"]["mark"] = {"aria": False}
    return _MARK.sub(r"\1><title>\2</title></path>", svg_of(described))
