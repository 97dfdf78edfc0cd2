"""How much answers depend on the way to ask: panels of the background and of the anchors."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.consistency.knowing import mean_of
from tacit.probes.consistency.panels_models import guessing
from tacit.probes.consistency.panels_ways import NO_PAIR, Grid, Lines, footnote
from tacit.probes.figures.charts import mixed
from tacit.probes.figures.panels import APART, DASH, bounds, score, share
from tacit.probes.figures.rows import PAPER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Palette
    from tacit.probes.figures.panels import Shown

_CELL, _STRIP = 24, 60  # pixels of a meta-prompt's row
_HALF = 0.5  # the background score of who always gives the same answer
_LEAST = 0.1  # the least distance from one half that is given its full shade


def background(
    ways: pl.DataFrame, winners: pl.DataFrame | None, shown: Shown
) -> list[alt.HConcatChart | alt.Chart]:
    """The background score of each meta-prompt and pair, and how often each gives the answer.

    Args:
        ways: The rows of the finding ``background_ways`` for one meta-prompt and pair, with
            ``model``.
        winners: The rows of the finding ``winners`` that are of the background, with ``model``.
        shown: The models.
    """
    colours = shown.look.colours
    grid = _grid(ways, _CELL, colours)
    most = max([_LEAST, *(abs(value - _HALF) for value in ways["background_score"].drop_nulls())])
    charts: list[alt.HConcatChart | alt.Chart] = []
    for model in ways["model"].unique(maintain_order=True):
        cells = _scores(ways.filter(model=model), most, colours)
        own = replace(grid, metas=sorted(cells["meta"].unique()))
        panels = [own.heat(cells, f"{model}: background score")]
        panels += _gives(own, winners, model, "background")
        charts.append(_beside(panels))
    return [*charts, footnote(grid.metas, colours)]


def anchors(
    ways: pl.DataFrame, winners: pl.DataFrame | None, shown: Shown
) -> list[alt.HConcatChart | alt.Chart]:
    """The accuracy on the anchors of each form, and how often each gives the answer.

    Args:
        ways: The finding ``anchor_ways``, with ``model``.
        winners: The finding ``winners``, with ``model``.
        shown: The models.
    """
    colours = shown.look.colours
    whole = _grid(ways, _STRIP, colours)
    keys = list(ways.select("model", "anchoring").unique(maintain_order=True).iter_rows())
    known = {(model, way): _known(model, way, shown) for model, way in keys}
    ends = bounds([*ways["accuracy"], *(value for both in known.values() for value in both)])
    charts: list[alt.HConcatChart | alt.Chart] = []
    for (model, anchoring), (guess, together) in known.items():
        of = _forms(_named(ways.filter(model=model, anchoring=anchoring)))
        grid = replace(whole, metas=sorted(of["meta"].unique()))
        lines = Lines(ends, guess, together, legend=len(charts) == len(keys) - 1)
        panels = [grid.strip(of, lines, f"{model}: {anchoring}")]
        panels += _gives(grid, winners, model, anchoring)
        charts.append(_beside(panels))
    return [*charts, footnote(whole.metas, colours)]


def _beside(panels: Sequence[alt.LayerChart]) -> alt.HConcatChart:
    import altair as alt

    chart: alt.HConcatChart = alt.hconcat(*panels, spacing=30).resolve_scale(**APART)
    return chart


def _gives(
    grid: Grid, winners: pl.DataFrame | None, model: str, of: str
) -> Iterator[alt.LayerChart]:
    """The panel of winners; none where nothing is known of them."""
    won = None if winners is None else winners.filter(model=model, of=of)
    if won is not None and won["count"].sum():
        cells = _wins(_named(won), grid.colours)
        yield grid.heat(cells, f"gave the answer (% of {won['count'].sum():,})")


def _grid(ways: pl.DataFrame, height: int, colours: Palette) -> Grid:
    pairs = _named(ways)["pair"].unique(maintain_order=True)
    return Grid(sorted(ways["meta"].unique()), list(pairs), height, colours)


def _named(table: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return table.with_columns(pl.col("pair").fill_null(NO_PAIR))


def _scores(ways: pl.DataFrame, most: float, colours: Palette) -> pl.DataFrame:
    """Cells of background scores, shaded by their distance from one half."""
    cells = []
    for meta, pair, value, n in ways.select("meta", "pair", "background_score", "n").iter_rows():
        shade = PAPER
        if value is not None:
            hue = colours.before if value > _HALF else colours.after["paper"]
            shade = mixed(hue, abs(value - _HALF) / most)
        tip = (
            f"meta-prompt {meta}, {pair}: background score {score(value)}, n = "
            f"{several(n, 'anchor')}"
        )
        cells.append((meta, pair, score(value), shade, tip))
    return _cells(cells)


def _wins(winners: pl.DataFrame, colours: Palette) -> pl.DataFrame:
    """Cells of how often each form or input gives the answer."""
    most = max([part for part in winners["share"] if part is not None], default=1.0)
    cells = []
    for meta, pair, count, part in winners.select("meta", "pair", "count", "share").iter_rows():
        told = DASH if part is None else f"{100 * part:.0f}"
        told = "< 1" if told == "0" and count else told
        tip = f"meta-prompt {meta}, {pair}: gave {several(count, 'answer')} ({share(part)})"
        cells.append((meta, pair, told, mixed(colours.after["log-odds"], (part or 0) / most), tip))
    return _cells(cells)


def _cells(cells: Sequence[tuple[int, str, str, str, str]]) -> pl.DataFrame:
    import polars as pl

    schema = {"meta": pl.Int64, **dict.fromkeys(("pair", "told", "hue", "tip"), pl.String)}
    return pl.DataFrame(cells, schema, orient="row")


def _forms(ways: pl.DataFrame) -> pl.DataFrame:
    """The forms with ``tip``."""
    import polars as pl

    tips = [
        f"meta-prompt {meta}, {pair}: {share(value)} of n = {several(n, 'anchor')} right"
        for meta, pair, value, n in ways.select("meta", "pair", "accuracy", "n").iter_rows()
    ]
    return ways.with_columns(tip=pl.Series(tips, dtype=pl.String))


def _known(model: str, anchoring: str, shown: Shown) -> tuple[float | None, float | None]:
    """What guessing gets and what all forms together get; None where that is not known."""
    choices, anchors = (shown.table(name) for name in ("choices", "anchors"))
    guess = None if choices is None else guessing(choices).get(model)
    if anchors is None:
        return guess, None
    # The way to answer that does not count has its name before its columns.
    other = f"{anchoring}_right"
    of = anchors.filter(model=model)
    counts = other not in of.columns or of[other].is_null().all()
    return guess, mean_of(of["right" if counts else other])
