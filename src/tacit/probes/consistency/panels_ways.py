"""Every way to ask beside the others: meta-prompts down, pairs of answer words across."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.probes.consistency.template import load_templates
from tacit.probes.figures.charts import FONT, SHAPES
from tacit.probes.figures.panels import SIZE
from tacit.probes.figures.rows import PAPER, guide, heading_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Palette

NO_PAIR = "no pair"  # of a form that names none
_CELL = 50  # pixels across
_STRIP = 330  # pixels across
_HEADING, _LINE = -40.0, 15.0  # pixels above a panel; from line to line
_DOTS = "\N{HORIZONTAL ELLIPSIS}"


@dataclass(frozen=True)
class Lines:
    """The axis of a strip and the lines across it.

    Args:
        ends: Of the axis.
        guessing: What guessing gets; None where that is not known.
        together: What all forms together get; None where that is undefined.
        legend: Whether the pairs' marks are told below.
    """

    ends: tuple[float, float]
    guessing: float | None
    together: float | None
    legend: bool


@dataclass(frozen=True)
class Grid:
    """Meta-prompts down and pairs across, the same in all panels of a figure.

    Args:
        metas: The meta-prompts' numbers.
        pairs: The pairs' names.
        height: Pixels of a meta-prompt's row.
        colours: The palette.
    """

    metas: Sequence[int]
    pairs: Sequence[str]
    height: int
    colours: Palette

    def heat(self, table: pl.DataFrame, heading: str) -> alt.LayerChart:
        """A cell for each meta-prompt and pair, its number written in.

        Args:
            table: ``meta``, ``pair``, ``told`` (the number), ``hue`` and ``tip``; pairs that are
                not in it have no column.
            heading: What the numbers are.
        """
        import altair as alt

        # The two words of a pair stand one above the other.
        lines = "split(replace(datum.label, '/', '/\\n'), '\\n')"
        axis = alt.Axis(
            orient="top",
            labelExpr=lines,
            labelAngle=0,
            labelFontSize=9,
            ticks=False,
            domain=False,
            labelPadding=14,
        )
        pairs = [pair for pair in self.pairs if (table["pair"] == pair).any()]
        x = alt.X("pair:N", title=None, scale=alt.Scale(domain=pairs), axis=axis)
        cells = alt.Chart(table).mark_rect(stroke=PAPER, aria=True)
        numbers = alt.Chart(table).mark_text(font=FONT, fontSize=SIZE, color=self.colours.ink)
        layers = [
            cells.encode(
                x=x, y=self._y(), color=alt.Color("hue:N", scale=None), description="tip:N"
            ),
            numbers.encode(x=x, y=self._y(), text="told:N"),
            heading_of(heading, _HEADING, self.colours),
        ]
        return self._sized(layers, _CELL * len(pairs))

    def strip(self, table: pl.DataFrame, lines: Lines, heading: str) -> alt.LayerChart:
        """A mark for each form at its accuracy, in a lane for each pair.

        Args:
            table: ``meta``, ``pair``, ``accuracy`` and ``tip``.
            lines: The axis, and the lines across it.
            heading: What the panel shows.
        """
        import altair as alt

        axis = alt.Axis(format=".0%", tickCount=6)
        scale = alt.Scale(domain=list(lines.ends), nice=False, zero=False)
        title = "anchor accuracy"
        layers = [
            guide(self.colours, solid=solid).encode(x=alt.XDatum(at, title=title, scale=scale))
            for at, solid in ((lines.guessing, False), (lines.together, True))
            if at is not None
        ]
        domain, count = list(self.pairs), range(len(self.pairs))
        hue = self.colours.series
        hues = alt.Scale(domain=domain, range=[hue[at % len(hue)] for at in count])
        shapes = alt.Scale(domain=domain, range=[SHAPES[at % len(SHAPES)] for at in count])
        legend = alt.Legend(title=None, orient="bottom", columns=3) if lines.legend else None
        points = alt.Chart(table.drop_nulls("accuracy"))
        points = points.mark_point(filled=True, size=36, opacity=1, aria=True).encode(
            x=alt.X("accuracy:Q", title=title, scale=scale, axis=axis),
            y=self._y(apart=True),
            yOffset=alt.YOffset("pair:N", scale=alt.Scale(domain=domain)),
            color=alt.Color("pair:N", scale=hues, legend=legend),
            shape=alt.Shape("pair:N", scale=shapes, legend=legend),
            description="tip:N",
        )
        layers += [points, heading_of(heading, _HEADING, self.colours)]
        return self._sized(layers, _STRIP)

    def _y(self, *, apart: bool = False) -> alt.Y:
        """The axis of meta-prompts, with lines between them or not."""
        import altair as alt

        axis = alt.Axis(ticks=False, domain=False, grid=apart, tickBand="extent")
        scale = alt.Scale(domain=list(self.metas))
        return alt.Y("meta:O", title="meta-prompt", scale=scale, axis=axis)

    def _sized(self, layers: list[alt.Chart], width: int) -> alt.LayerChart:
        import altair as alt

        height = self.height * len(self.metas)
        return alt.LayerChart(layer=layers).properties(width=width, height=height)


def footnote(metas: Sequence[int], colours: Palette) -> alt.Chart:
    """The meta-prompts in words (Table 1), one below the other."""
    import altair as alt
    import polars as pl

    texts = load_templates().meta_prompts
    lines = ["meta-prompts, with Yes/No for the pair:"]
    lines += [
        f"{meta}  {texts[meta - 1].format(question=_DOTS, label_a='Yes', label_b='No')}"
        for meta in metas
        if meta <= len(texts)
    ]
    table = pl.DataFrame({"line": lines, "at": [_LINE * at for at in range(len(lines))]})
    words = alt.Chart(table, width=_STRIP, height=_LINE * len(lines)).mark_text(
        align="left", baseline="top", font=FONT, fontSize=SIZE, color=colours.ink
    )
    down = alt.Y("at:Q", scale=None, axis=None)
    chart: alt.Chart = words.encode(x=alt.value(0), y=down, text="line:N")
    return chart
