"""Export of figures: each chart is converted to SVG, and the SVG is converted to PNG and PDF."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.charts.theme import Chart, Palette, Spec, config
from tacit.errors import RequestError, WorkError
from tacit.files import publish_bytes, publish_text
from tacit.findings.display import FigureSpec

if TYPE_CHECKING:
    from tacit.charts.shown import Shown

log = logging.getLogger(__name__)

FORMATS = ("svg", "png", "pdf")
_PNG_SCALE = 2.0
# Characters that XML forbids, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_MARK = re.compile(r'(<(path|line) aria-label="([^"]*)"[^>]*?)(?:/>|></\2>)')
_CLIP = re.compile(r'(?<=id="clip)\d+(?=")|(?<=url\(#clip)\d+(?=\))')


def check_formats(formats: Collection[str]) -> None:
    """Raise an error if a file format is not supported."""
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise RequestError(
            f"unknown figure format {', '.join(unknown)}; expected {', '.join(FORMATS)}"
        )


def charts(figures: Mapping[str, FigureSpec], shown: Shown) -> Iterator[tuple[FigureSpec, Chart]]:
    """Yield each figure with its chart; skip those without data, or that cannot be drawn."""
    for spec in figures.values():
        try:
            chart = spec(shown)
            if chart is not None:
                chart.to_dict()
        except Exception as error:  # noqa: BLE001 - of any plug-in; the results are not lost
            log.warning(
                "the figure %s cannot be drawn: %s",
                spec.name,
                str(error).strip().partition("\n")[0],
            )
            continue
        if chart is not None:
            yield spec, chart


def write_charts(
    figures: Mapping[str, FigureSpec], shown: Shown, folder: Path, formats: Collection[str]
) -> list[Path]:
    """Write to a folder each figure that has data, and return the paths of all files.

    The titles and captions that PDF files lack are in the file captions.txt.
    """
    paths: list[Path] = []
    captions: list[str] = []
    for spec, chart in charts(figures, shown):
        made = chart.to_dict()
        paths += write_chart(made, shown.colours, folder / spec.name, formats)
        lines = made.get("usermeta", {}).get("caption") or (spec.reading.rstrip("."),)
        captions.append(f"{spec.name}: {spec.title}. {'; '.join(lines)}")
    if captions and "pdf" in formats:
        paths.append(folder / "captions.txt")
        publish_text(paths[-1], "\n\n".join([*captions, ""]))
    return paths


def write_chart(chart: Spec, colours: Palette, stem: Path, formats: Collection[str]) -> list[Path]:
    """Write a chart to one file per format; a PDF, which is for a paper, has no title."""
    bare = {key: value for key, value in chart.items() if key != "title"}
    groups = ((chart, {*formats} - {"pdf"}), (bare, {*formats} & {"pdf"}))
    return [
        path
        for each, some in groups
        if some
        for path in write_svg(drawn(each, colours), stem, some)
    ]


def drawn(chart: Spec, colours: Palette) -> str:
    """Return a chart as SVG with the theme and with tooltips; equal charts are equal bytes."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    # If Altair is newer than the converter, use the newest version that the converter supports.
    version = wanted if wanted in known else known[-1]
    svg = vl_convert.vegalite_to_svg(_legal(chart | {"config": config(colours)}), version)
    # The converter numbers clip paths across all charts of the process.
    numbers: dict[str, str] = {}
    svg = _CLIP.sub(lambda match: numbers.setdefault(match[0], str(len(numbers))), svg)
    return _MARK.sub(r"\1><title>\3</title></\2>", svg)


def _legal(part: Any) -> Any:  # noqa: ANN401 - a chart as JSON
    """In all strings of a chart, replace the characters that XML forbids."""
    if isinstance(part, str):
        return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", part)
    if isinstance(part, dict):
        return {key: _legal(value) for key, value in part.items()}
    return [_legal(each) for each in part] if isinstance(part, list) else part


def write_svg(svg: str, stem: Path, formats: Collection[str]) -> list[Path]:
    """Write a figure to one file per requested file format."""
    # Names may contain dots, at which with_suffix would cut them.
    paths = {each: stem.parent / f"{stem.name}.{each}" for each in FORMATS if each in formats}
    for suffix, path in paths.items():
        publish_bytes(path, _converted(svg, suffix, path))
    return [*paths.values()]


def _converted(svg: str, suffix: str, path: Path) -> bytes:
    import vl_convert

    try:
        if suffix == "png":
            return vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
        if suffix == "pdf":
            return vl_convert.svg_to_pdf(svg)
    except (RuntimeError, ValueError) as error:
        # The converter's message ends with a backtrace.
        problem = str(error).split("\n", 1)[0]
        raise WorkError(f"{path}: the figure cannot be converted: {problem}") from error
    return svg.encode()
