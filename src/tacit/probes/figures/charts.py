"""What all figures share: palettes, the house's look, and writing a figure as SVG, PNG and PDF."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from tacit.errors import RequestError, WorkError
from tacit.publishing import publish_bytes
from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import altair as alt

    Chart: TypeAlias = alt.VConcatChart

Format: TypeAlias = Literal["svg", "png", "pdf"]

FORMATS: tuple[Format, ...] = ("svg", "png", "pdf")
FONT = "Verdana, DejaVu Sans, sans-serif"
# With the hues of ``Palette.series``, so that colour is never the only sign.
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
_PNG_SCALE = 2.0
# Characters that no XML document may hold, escaped or not.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_DEEPEST = 0.6  # of a hue, so that ink can be read on it


@dataclass(frozen=True)
class Palette:
    """Colours, each a hexadecimal RGB triple, all told apart on white.

    Args:
        name: The palette's name.
        before: Raw beliefs.
        after: The world repaired under each objective.
        gold: What annotators drew.
        faults: A contradiction of each kind: believed both ways round, believed in one of two
            wordings only, a chain that is not closed.
        ink: Text.
        muted: Lines that only guide the eye, and lesser text; dark enough to be read.
        faint: Grids.
    """

    name: str
    before: str
    after: Mapping[str, str]
    gold: str
    faults: tuple[str, str, str]
    ink: str = "#1c1f24"
    muted: str = "#5a616b"
    faint: str = "#dfe3e8"

    def of(self, world: str) -> str:
        """The colour of a world: ``before``, or the objective of a repair."""
        return self.before if world == "before" else self.after.get(world, self.muted)

    @property
    def series(self) -> tuple[str, ...]:
        """Eight hues for what is only to be told apart, such as models."""
        return (self.before, *self.after.values(), self.gold, *self.faults)


PALETTES = {
    "house": Palette(
        "house",
        before="#2f6db5",
        after={"paper": "#d9730d", "log-odds": "#2e8b57", "margin": "#8e4b9e"},
        gold="#3d4450",
        faults=("#c21f39", "#b0189a", "#96620a"),
    ),
    # The colours of Okabe and Ito (2008), told apart with every common colour blindness.
    "okabe-ito": Palette(
        "okabe-ito",
        before="#0072b2",
        after={"paper": "#e69f00", "log-odds": "#009e73", "margin": "#cc79a7"},
        gold="#000000",
        faults=("#d55e00", "#b0568a", "#7d6a00"),
        ink="#000000",
    ),
}


@dataclass(frozen=True)
class Look:
    """How figures are drawn, and which repaired world they show.

    Args:
        palette: A name in ``PALETTES``; ``okabe-ito`` is safe for the colour-blind.
        objective: The objective of the repair that stands beside the raw beliefs.
    """

    palette: str = "house"
    objective: str = "paper"

    @property
    def colours(self) -> Palette:
        """The palette.

        Raises:
            RequestError: No palette has this name.
        """
        if self.palette not in PALETTES:
            raise RequestError(
                f"there is no palette {self.palette!r}; expected one of {', '.join(PALETTES)}"
            )
        return PALETTES[self.palette]


def mixed(hue: str, part: float) -> str:
    """A colour mixed with white.

    Args:
        hue: A hexadecimal RGB triple.
        part: How much of it, 0 to 1; at most 0.6, so that ink can be read on it, is taken.
    """
    part = _DEEPEST * min(part, 1)
    levels = (int(hue[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (level - 255)):02x}" for level in levels)


def themed(chart: Chart, colours: Palette) -> Chart:
    """The chart in the house's look."""
    import altair as alt

    # In one go: each of Altair's own methods copies the whole chart.
    framed: Chart = chart.configure(
        title=alt.TitleConfig(
            font=FONT,
            fontSize=15,
            color=colours.ink,
            anchor="start",
            subtitleFont=FONT,
            subtitleColor=colours.ink,
        ),
        axis=alt.AxisConfig(
            labelFont=FONT,
            titleFont=FONT,
            labelColor=colours.ink,
            titleColor=colours.ink,
            titleFontWeight="normal",
            labelLimit=320,
            gridColor=colours.faint,
            domainColor=colours.muted,
            tickColor=colours.muted,
        ),
        legend=alt.LegendConfig(
            labelFont=FONT, titleFont=FONT, labelColor=colours.ink, labelLimit=320, symbolSize=90
        ),
        view=alt.ViewConfig(stroke=None),
    )
    return framed


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
