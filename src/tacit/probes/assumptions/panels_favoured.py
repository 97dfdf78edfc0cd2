"""The words that a model favours whatever the concept (Weir et al. 2020, footnote 16)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.probes.assumptions.panels import relations, spread, with_preface
from tacit.probes.figures.charts import FONT, mixed
from tacit.probes.figures.lettering import shortened
from tacit.probes.figures.panels import SIZE, below, share, titled
from tacit.probes.figures.rows import heading_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart, Palette
    from tacit.probes.figures.panels import Shown

MOST = 5  # words of a relation
_ROW, _WIDTH, _WORD = 18, 108, 74.0  # pixels
_HEADING, _MODEL = -10.0, -34.0  # pixels above a panel


def favoured(shown: Shown) -> Chart | None:
    """The most frequent top candidates of each relation, and how often they were right.

    Returns:
        The chart, a row of panels per model; None when no word was ever the top candidate.
    """
    import altair as alt
    import polars as pl

    table = shown.table("favoured")
    if table is None:
        return None
    table, preface = with_preface(table)
    table = table.filter(pl.col("first") > 0).drop_nulls("share")
    table = table.group_by("model", "relation", maintain_order=True).head(MOST)
    if table.is_empty():
        return None
    order = [name for name in relations() if name in set(table["relation"])]
    most = max(table["share"])
    rows = []
    for (model,), part in table.group_by("model", maintain_order=True):
        panels = [
            _panel(part.filter(relation=name), name, most, shown.look.colours) for name in order
        ]
        panels[0] = panels[0] + heading_of(str(model), _MODEL, shown.look.colours)
        rows.append(
            alt.hconcat(*panels, spacing=18).resolve_scale(y="independent", x="independent")
        )
    title = titled(
        "The words that a model favours, whatever the concept",
        f"how often a word is the best of the whole vocabulary, in per cent of a relation's "
        f"prompts (n = {spread(table['prompts'].to_list())}); the {MOST} most frequent; dark: it "
        f"was one of people's responses; {preface}",
        width=900.0,
    )
    return below(rows, title, spacing=34)


def _panel(part: pl.DataFrame, relation: str, most: float, colours: Palette) -> alt.LayerChart:
    import altair as alt
    import polars as pl

    tips = [_tip(row) for row in part.iter_rows(named=True)]
    rows = part.with_columns(
        shown=pl.Series([shortened(word, SIZE, _WORD) for word in part["word"]], dtype=pl.String),
        tip=pl.Series(tips, dtype=pl.String),
        correct=pl.col("right") / pl.col("prompts"),
        told=pl.Series([f"{100 * value:.0f} %" for value in part["share"]], dtype=pl.String),
    )
    axis = {"ticks": False, "domain": False, "labelPadding": 5, "minExtent": _WORD + 6}
    y = alt.Y("word:N", title=None, scale={"domain": part["word"].to_list()}, axis=axis)
    scale = {"domain": [0, 1.45 * most], "nice": False}
    bars = alt.Chart(rows).mark_bar(height=_ROW - 6, color=mixed(colours.before, 0.55), aria=True)
    right = alt.Chart(rows).mark_bar(height=_ROW - 6, color=colours.before, aria=True)
    words = alt.Chart(rows).mark_text(
        align="left", dx=4, font=FONT, fontSize=SIZE, color=colours.ink
    )
    x: dict[str, Any] = {"scale": scale, "axis": None}
    layers = [
        bars.encode(x=alt.X("share:Q", **x), y=y, description="tip:N"),
        right.encode(x=alt.X("correct:Q", **x), y=y, description="tip:N"),
        words.encode(x=alt.X("share:Q", **x), y=y, text="told:N"),
        heading_of(relation, _HEADING, colours),
    ]
    return alt.LayerChart(layer=layers).properties(width=_WIDTH, height=_ROW * max(part.height, 1))


def _tip(row: dict[str, Any]) -> str:
    return (
        f"{row['model']}, {row['relation']} {row['word']}: first in {row['first']:,} of "
        f"{several(row['prompts'], 'prompt')} ({share(row['share'])}), right in {row['right']:,}"
    )
