"""Figures as files: from charts to SVG, and from SVG to PNG and PDF."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tacit.charts.theme import themed
from tacit.errors import RequestError, WorkError
from tacit.files import publish_bytes
from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart, Palette
    from tacit.findings.spec import FigureSpec

Format: TypeAlias = Literal["svg", "png", "pdf"]

FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
_PNG_SCALE = 2.0
# Characters that no XML document may hold, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
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


def check_formats(formats: Collection[str]) -> None:
    """Refuses, before any work, a format that figures are not written in.

    Raises:
        RequestError: A format is none of svg, png and pdf.
    """
    unknown = sorted(set(strings(formats, "formats")) - set(FORMATS))
    if unknown:
        raise RequestError(
            f"figures are not written as {', '.join(unknown)}; expected {', '.join(FORMATS)}"
        )


def svg_of(chart: Chart) -> str:
    """The chart as SVG; the same chart always gives the same bytes."""
    import altair as alt
    import vl_convert

    wanted = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    # An Altair newer than the converter is drawn by the newest version that the converter knows.
    version = wanted if wanted in known else known[-1]
    svg = vl_convert.vegalite_to_svg(_legal(chart.to_dict()), vl_version=version)
    # The converter counts clip paths through the life of the process.
    numbers: dict[str, str] = {}

    def renumber(found: re.Match[str]) -> str:
        number = numbers.setdefault(found[2], str(len(numbers)))
        return f"{found[1]}{number}{found[3]}"

    return re.sub(r'(id="clip|url\(#clip)(\d+)("|\))', renumber, svg)


def legal(words: str) -> str:
    """The words with what XML forbids replaced by the replacement character."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", words)


def _legal(part: Any) -> Any:  # noqa: ANN401 - a chart as JSON
    """A chart whose words SVG can hold; of others the converter ends the whole process."""
    if isinstance(part, str):
        return legal(part)
    if isinstance(part, dict):
        return {key: _legal(value) for key, value in part.items()}
    return [_legal(each) for each in part] if isinstance(part, list) else part


def write_svg(svg: str, stem: Path, formats: Collection[str]) -> list[Path]:
    """Writes a figure in each format, beside one another.

    Args:
        svg: The figure.
        stem: The path without a suffix.
        formats: Some of svg, png (twice the size in pixels) and pdf.

    Returns:
        The files, in the order SVG, PNG, PDF.

    Raises:
        RequestError: A format is none of the three.
        WorkError: A file cannot be written, or the figure not converted.
    """
    check_formats(formats)
    written = []
    for suffix in (each for each in FORMATS if each in formats):
        # Names hold dots, so that with_suffix would cut them.
        path = stem.parent / f"{stem.name}.{suffix}"
        publish_bytes(path, _converted(svg, suffix, path))
        written.append(path)
    return written


def _converted(svg: str, suffix: Format, path: Path) -> bytes:
    import vl_convert

    try:
        if suffix == "png":
            return vl_convert.svg_to_png(svg, scale=_PNG_SCALE)
        if suffix == "pdf":
            return vl_convert.svg_to_pdf(svg)
    except (RuntimeError, ValueError) as error:
        # The converter's message ends in a backtrace of its own.
        problem = str(error).split("\n", 1)[0]
        raise WorkError(f"{path}: the figure cannot be converted: {problem}") from error
    return svg.encode()
