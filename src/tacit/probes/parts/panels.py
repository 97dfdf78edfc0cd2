"""The panels of the parts probe's figures: what each shows of one model, encoded for Altair.

Raw beliefs and repaired world differ in colour and shape; shares are 0 to 1, shown in per cent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.figures.charts import FONT

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Look

_INTERVAL = "95 % bootstrap intervals, clustered by thing"
_LEGEND = (
    "datum.label == 'before' ? 'before repair' : datum.label == 'improvement' ? datum.label"
    " : 'after repair (' + datum.label + ')'"
)
_IMPROVEMENT = "improvement"
_AT = "drawings with accuracy of at least s (%)"
_ACCURACY = "accuracy (% of gold statements)"
_HAS_INTERVAL = "isValid(datum.low) && isValid(datum.high)"
_WIDTH = 280  # pixels of a chart of rows
_ROW = 17  # pixels of a row
_COLUMN = 20  # things in a column of the chart of all things


def _titled(text: str, *subtitle: str) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(text=text, subtitle=[line for line in subtitle if line], offset=10)


def _panel(text: str) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(text=text, fontSize=12, offset=4)


def _legend() -> alt.Legend:
    import altair as alt

    return alt.Legend(title=None, orient="bottom", labelExpr=_LEGEND)


def _colour(worlds: Sequence[str], look: Look) -> alt.Color:
    """The colour of each world; the improvement is drawn in ink, as in the paper."""
    import altair as alt

    colours = look.colours
    hues = [colours.ink if world == _IMPROVEMENT else colours.of(world) for world in worlds]
    scale = alt.Scale(domain=list(worlds), range=hues)
    return alt.Color("world:N", scale=scale, legend=_legend())


def _shape(worlds: Sequence[str]) -> alt.Shape:
    """The shape of each world, so that colour is never the only sign."""
    import altair as alt

    shapes = ["circle", "diamond", "square"][: len(worlds)]
    scale = alt.Scale(domain=list(worlds), range=shapes)
    return alt.Shape("world:N", scale=scale, legend=_legend())


def worlds_of(look: Look) -> list[str]:
    """The worlds that a figure compares."""
    return ["before", look.objective]


def _gains(table: pl.DataFrame, key: str, share: str, look: Look) -> pl.DataFrame:
    """The keys that have both shares: ``gain`` (after less before) and it in points, as text."""
    import polars as pl

    before = table.filter(pl.col("world") == "before").select(key, before=share)
    after = table.filter(pl.col("world") == look.objective).select(key, after=share)
    gains = (
        before.join(after, on=key, maintain_order="left")
        .with_columns(gain=pl.col("after") - pl.col("before"))
        .drop_nulls()
    )
    return gains.with_columns(
        text=pl.Series([_points(gain) for gain in gains["gain"]], dtype=pl.String)
    )


def _points(gain: float) -> str:
    """A gain in percentage points; nothing has no sign."""
    text = f"{100 * gain:+.1f}".replace("-", "\N{MINUS SIGN}")
    return "0.0" if text[1:] == "0.0" else text


def accuracy_at(table: pl.DataFrame, look: Look, model: str) -> alt.LayerChart:
    """The share of drawings right to at least s %, and the improvement (Figure 3)."""
    import altair as alt
    import polars as pl

    gains = _gains(table, "s", "share", look)
    improved = gains.select("s", "text", share="gain", world=pl.lit(_IMPROVEMENT))
    lines = pl.concat([table, improved], how="diagonal_relaxed")
    lowest = min([0.0, *gains["gain"]])
    axis = alt.Axis(format=".0%", tickCount=11)
    y = alt.Y("share:Q", title=_AT, scale=alt.Scale(domain=[lowest, 1]), axis=axis)
    worlds = [*worlds_of(look), _IMPROVEMENT]
    offsets = alt.Scale(domain=worlds, range=[13, 45])
    x = alt.X("s:O", title="s (accuracy, %)", axis=alt.Axis(labelAngle=0))
    base = alt.Chart(lines).encode(
        x=x, xOffset=alt.XOffset("world:N", scale=offsets), color=_colour(worlds, look)
    )
    interval = base.transform_filter(_HAS_INTERVAL).mark_rule(strokeWidth=2)
    better = base.transform_filter(f"datum.world == '{_IMPROVEMENT}'")
    others = base.transform_filter(f"datum.world != '{_IMPROVEMENT}'")
    words = alt.Chart(gains).mark_text(font=FONT, fontSize=10, color=look.colours.ink)
    layers = [
        interval.encode(y="low:Q", y2="high:Q"),
        # Beneath the others, which it meets where there was nothing right before repair.
        better.mark_line(strokeWidth=1.2, strokeDash=[4, 3]).encode(y=y),
        others.mark_line(strokeWidth=2).encode(y=y),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=_shape(worlds)),
        words.encode(x=x, y=alt.value(-10), text="text:N"),
    ]
    return alt.LayerChart(layer=layers).properties(
        width=480,
        height=320,
        title=_titled(
            f"{model}Drawings with at least s % of their gold statements right",
            f"n = {several(max(table['n']), 'drawing')}; {_INTERVAL}",
            "above the chart: improvement by repair, in percentage points",
        ),
    )


def accuracy_by_relation(table: pl.DataFrame, look: Look, model: str) -> alt.LayerChart:
    """Accuracy by relation, with intervals and gain (Figure 4)."""
    import polars as pl

    base = table.filter(pl.col("world") == "before")
    names = base.sort("accuracy", descending=True, nulls_last=True, maintain_order=True)["relation"]
    labels = dict(zip(base["relation"], _labels(base, "relation"), strict=True))
    rows = table.with_columns(label=pl.col("relation").replace_strict(labels, default=None))
    return _rows(rows, [labels[name] for name in names], look).properties(
        title=_titled(
            f"{model}Accuracy by relation, before and after repair",
            f"n in brackets: gold statements with a belief; {_left_out(base)}",
            f"{_INTERVAL}; right: gain in percentage points",
        )
    )


def best_and_worst(table: pl.DataFrame, look: Look, model: str) -> alt.HConcatChart:
    """Accuracy by thing, the bands side by side (Figures 5 and 6)."""
    import altair as alt

    panels = []
    for band in table["band"].unique(maintain_order=True).sort():
        mine = table.filter(table["band"] == band)
        # Where there are fewer than 100 things, a band named for 20 of them holds fewer.
        n = mine["thing"].n_unique()
        title = _panel(f"{model}{band.split()[0]} {several(n, 'thing')}")
        panels.append(_things(mine, look).properties(title=title))
    return alt.hconcat(*panels, spacing=40).properties(title=_about_things(table))


def middle_things(table: pl.DataFrame, look: Look, model: str) -> alt.HConcatChart:
    """Accuracy by thing, in columns of 20 (Figure 11)."""
    import altair as alt

    ranks = sorted(set(table["rank"]))
    panels = []
    for start in range(0, len(ranks), _COLUMN):
        first, *_, last = [*ranks[start : start + _COLUMN], ranks[start : start + _COLUMN][-1]]
        mine = table.filter(table["rank"].is_between(first, last))
        title = _panel(f"{model}ranks {first} to {last}")
        panels.append(_things(mine, look).properties(title=title))
    return alt.hconcat(*panels, spacing=30).properties(title=_about_things(table))


def _about_things(table: pl.DataFrame) -> alt.TitleParams:
    base = table.filter(table["world"] == "before")
    return _titled(
        "Accuracy by thing, before and after repair",
        f"{several(len(base), 'thing')} by rank before repair; n in brackets: gold statements "
        "with a belief; "
        f"{_left_out(base)}",
        "right: gain in percentage points; dotted line: one half",
    )


def _left_out(base: pl.DataFrame) -> str:
    return f"{base['missing'].sum()} without a belief left out"


def _labels(base: pl.DataFrame, name: str) -> list[str]:
    """What stands beside a row: its name and its n."""
    return [f"{name} ({n:,})" for name, n in base.select(name, "n").iter_rows()]


def _things(table: pl.DataFrame, look: Look) -> alt.LayerChart:
    import polars as pl

    base = table.filter(pl.col("world") == "before").sort("rank")
    labels = {
        thing: f"{rank}. {label}"
        for thing, rank, label in zip(
            base["thing"], base["rank"], _labels(base, "thing"), strict=True
        )
    }
    rows = table.with_columns(label=pl.col("thing").replace_strict(labels, default=None))
    return _rows(rows, list(labels.values()), look)


def _rows(table: pl.DataFrame, order: Sequence[str], look: Look) -> alt.LayerChart:
    """A row per label: both accuracies, what lies between them or their intervals, the gain."""
    import altair as alt

    colours = look.colours
    gains = _gains(table, "label", "accuracy", look)
    y = alt.Y("label:N", sort=list(order), title=None, axis=alt.Axis(ticks=False, domain=False))
    axis = alt.Axis(format=".0%", tickCount=6)
    x = alt.X("accuracy:Q", title=_ACCURACY, scale=alt.Scale(domain=[0, 1]), axis=axis)
    points = alt.Chart(table).encode(y=y, color=_colour(worlds_of(look), look))
    layers = [
        alt.Chart(gains).mark_rule(color=colours.muted).encode(y=y, x="before:Q", x2="after:Q")
    ]
    if "low" in table.columns:
        offsets = alt.Scale(domain=worlds_of(look))
        points = points.encode(yOffset=alt.YOffset("world:N", scale=offsets))
        interval = points.transform_filter(_HAS_INTERVAL).mark_rule(strokeWidth=2)
        layers = [interval.encode(x="low:Q", x2="high:Q")]
    half = alt.Chart().mark_rule(color=colours.muted, strokeDash=[2, 3]).encode(x=alt.datum(0.5))
    words = alt.Chart(gains).mark_text(align="right", color=colours.ink, font=FONT, fontSize=10)
    layers = [
        half,
        *layers,
        points.mark_point(filled=True, size=60, opacity=1).encode(
            x=x, shape=_shape(worlds_of(look))
        ),
        words.encode(y=y, x=alt.value(_WIDTH + 44), text="text:N"),
    ]
    height = len(order) * (_ROW if "low" not in table.columns else 2 * _ROW)
    return alt.LayerChart(layer=layers).properties(width=_WIDTH, height=height)
