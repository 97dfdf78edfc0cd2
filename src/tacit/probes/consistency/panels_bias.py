"""The bias towards one answer: accuracy on positive and on negative facts, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.consistency.panels_models import accuracies, by_model, sizes_told
from tacit.probes.figures.panels import below, counted, number, score, share, titled, written
from tacit.probes.figures.rows import HEADING, ROW, guide, heading_of, label_axis, words

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart, Look
    from tacit.probes.figures.panels import Shown

_WIDTH = 300  # pixels
_SINGLE = "Yes/No"  # with the last meta-prompt: the paper does not name its single prompt
_SIGNS = {"positive_accuracy": "positive facts", "negative_accuracy": "negative facts"}


def prompting_bias(shown: Shown) -> Chart | None:
    """Figure 6: accuracy on positive and on negative facts, majority-style and by one input.

    Returns:
        The chart; None when there is no accuracy.
    """
    import polars as pl

    table = shown.defined("background_ways", "background_score")
    if table is None:
        return None
    most = table.filter(pl.col("preset").is_in(("max", "votes")))
    single = table.filter(preset="single", pair=_SINGLE)
    single = single.filter(pl.col("meta") == pl.col("meta").max().over("model"))
    ranks = {label: rank for rank, label in enumerate(shown.labels.values())}
    both = pl.concat([most, single]).sort(
        pl.col("model").replace_strict(ranks), "preset", maintain_order=True
    )
    both = both.with_columns(label=pl.col("model") + ": " + pl.col("preset"))
    inputs = " or ".join(f"meta-prompt {meta}" for meta in sorted(single["meta"].unique()))
    ways = (
        "a) max: as the highest-scoring of all inputs says (majority-style), or votes: as most "
        "sampled replies say; single: as "
        f"{inputs or 'one meta-prompt'} with {_SINGLE} says; the line between the two accuracies "
        "is long where one answer is preferred; mean: of the two, the background score"
    )
    told = [
        ways,
        f"means over {counted(both['n'], 'anchor')}; dotted line: one half",
    ]
    charts: list[alt.LayerChart | alt.HConcatChart] = [_bias(both, "a) max and single", shown.look)]
    if len(shown.labels) > 1:
        most = most.with_columns(label="model")
        panels = [
            (f"b) {sign} facts, max", accuracies(most, sign)) for sign in ("positive", "negative")
        ]
        charts.append(by_model(panels, shown))
        told += sizes_told(panels, shown)
    return below(charts, titled("Prompting bias", *told), spacing=50)


def _bias(table: pl.DataFrame, heading: str, look: Look) -> alt.LayerChart:
    """Both accuracies of each row, joined by a line.

    Args:
        table: Rows of the finding ``background_ways`` from top to bottom, with ``label``.
        heading: Above the panel.
        look: The palette.
    """
    import altair as alt

    colours, y = look.colours, label_axis(table["label"].to_list())
    axis = alt.Axis(format=".0%", tickCount=6)
    x = alt.X("accuracy:Q", title="accuracy", scale=alt.Scale(domain=[0, 1]), axis=axis)
    legend, names = alt.Legend(title=None, orient="bottom"), list(_SIGNS.values())
    hues = alt.Scale(domain=names, range=[colours.after["log-odds"], colours.faults[0]])
    shapes = alt.Scale(domain=names, range=["circle", "diamond"])
    points = alt.Chart(_points(table)).mark_point(filled=True, size=64, opacity=1, aria=True)
    spans = alt.Chart(table.drop_nulls(list(_SIGNS))).mark_rule(color=colours.muted)
    told = table.with_columns(
        score=written(table, "background_score", score), count=written(table, "n", number)
    )
    layers = [
        guide(colours).encode(x=alt.XDatum(0.5, title="accuracy", axis=axis)),
        spans.encode(y=y, x="positive_accuracy:Q", x2="negative_accuracy:Q"),
        points.encode(
            x=x,
            y=y,
            color=alt.Color("sign:N", scale=hues, legend=legend),
            shape=alt.Shape("sign:N", scale=shapes, legend=legend),
            description="tip:N",
        ),
        *words(told, (("mean", "score"), ("n", "count")), y, colours, _WIDTH),
        heading_of(heading, HEADING, colours),
    ]
    return alt.LayerChart(layer=layers).properties(width=_WIDTH, height=ROW * table.height)


def _points(table: pl.DataFrame) -> pl.DataFrame:
    """A row for each accuracy: ``label``, ``sign``, ``accuracy``, ``tip``."""
    import polars as pl

    points = [
        (row["label"], sign, row[field], row["n"])
        for row in table.iter_rows(named=True)
        for field, sign in _SIGNS.items()
        if row[field] is not None
    ]
    rows = [
        (label, sign, value, f"{label}: {share(value)} of {sign} right, n = {several(n, 'anchor')}")
        for label, sign, value, n in points
    ]
    text = dict.fromkeys(("label", "sign"), pl.String)
    return pl.DataFrame(rows, {**text, "accuracy": pl.Float64, "tip": pl.String}, orient="row")
