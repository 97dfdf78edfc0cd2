"""One figure of each model: what the measures are, and how models stand side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import several
from tacit.probes.consistency.panels_sizes import Against, Sizes
from tacit.probes.figures.panels import (
    bounds,
    number,
    probability,
    score,
    share,
    spanned,
    written,
)
from tacit.probes.figures.rows import TRIANGLE, Measure, marks, rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import altair as alt
    import polars as pl

    from tacit.probes.figures.panels import Shown

_WIDTH = 210  # pixels of a panel of rows, without words


def by_model(panels: Sequence[tuple[str, Measure]], shown: Shown) -> alt.HConcatChart:
    """Panels side by side: a row per model, or against size when two sizes at least are known.

    Args:
        panels: The heading of each and what it shows; the rows' labels are those of the models.
        shown: The models.
    """
    import altair as alt

    if not shown.by_size:
        return rows(panels, list(shown.labels.values()), shown.look, _WIDTH)
    sizes = Sizes(shown)
    charts = [Against(measure, sizes).chart(heading) for heading, measure in panels]
    return alt.hconcat(*charts, spacing=40)


def sizes_told(panels: Sequence[tuple[str, Measure]], shown: Shown) -> Iterator[str]:
    """What a caption says of panels against size; nothing of rows."""
    if not shown.by_size:
        return
    joined = len(set(shown.families.values())) < len(shown.families)
    lines = "; a line joins models whose names differ in size alone" if joined else ""
    yield f"against the number of parameters, on a logarithmic scale{lines}"
    for heading, measure in panels:
        left = measure.rows.filter(measure.rows["value"].is_null())["label"]
        if not left.is_empty():
            yield f"{heading}: undefined, so without a mark: {', '.join(left)}"


def precision(table: pl.DataFrame) -> Measure:
    """Conceptual consistency with its chance level.

    Args:
        table: Rows as ``consistency.by_relation`` describes them, with ``label``.
    """
    tips = [
        f"{row['label']}: consistency {score(row['consistency'])}, "
        f"chance level {score(row['chance'])}, n = {several(row['n'], 'anchor')}"
        for row in table.iter_rows(named=True)
    ]
    return Measure(
        "consistency",
        marks(
            table.with_columns(
                told=written(table, "consistency", score), count=written(table, "n", number)
            ),
            tips,
            value="consistency",
            reference="chance",
            sure="lift_low",
        ),
        bounds([*table["consistency"], *table["chance"]]),
        columns=(("CC", "told"), ("n", "count")),
    )


def lift(table: pl.DataFrame) -> Measure:
    """The lift above chance, its interval, and the smallest lift that could be seen.

    Args:
        table: As for ``precision``.
    """
    tips = [
        f"{row['label']}: lift {score(row['lift'])}{spanned(row['lift_low'], row['lift_high'])}, "
        f"p = {probability(row['p_corrected'])}, n = {several(row['n'], 'anchor')}"
        for row in table.iter_rows(named=True)
    ]
    fields = {
        "value": "lift",
        "low": "lift_low",
        "high": "lift_high",
        "reference": "smallest_lift",
    }
    return Measure(
        "lift",
        marks(
            table.with_columns(
                told=written(table, "lift", score), p=written(table, "p_corrected", probability)
            ),
            tips,
            sure="lift_low",
            **fields,
        ),
        bounds([0.0, *(value for name in fields.values() for value in table[name])], least=-1.0),
        line=0.0,
        reference=TRIANGLE,
        columns=(("lift", "told"), ("p", "p")),
    )


def background(shown: Shown) -> Measure | None:
    """The background score averaged over relations; None where no model has one."""
    found = [
        (label, of["value"], of["low"], of["high"], of["relations"], None)
        for label, of in shown.summaries("background_score")
    ]
    return _estimates(found, "background score", "relations")


def anchors(shown: Shown) -> Measure | None:
    """The accuracy on all anchors, with what guessing gets; None where no model has one."""
    choices = shown.table("choices")
    guesses = {} if choices is None else guessing(choices)
    found = [
        (label, each["value"], each["low"], each["high"], each["n"], guesses.get(label))
        for label, of in shown.summaries("anchor_accuracy")
        for each in of
        if each["of"] == "all"
    ]
    return _estimates(found, "anchor accuracy", "anchors")


def accuracies(ways: pl.DataFrame, sign: str) -> Measure:
    """The accuracy on positive or on negative facts.

    Args:
        ways: Rows of the finding ``background_ways``, with ``label``.
        sign: positive or negative.
    """
    name = f"{sign}_accuracy"
    tips = [
        f"{label}: {share(value)} of {sign} facts right, n = {several(n, 'anchor')}"
        for label, value, n in ways.select("label", name, "n").iter_rows()
    ]
    told = ways.with_columns(told=written(ways, name, share), count=written(ways, "n", number))
    return Measure(
        f"accuracy on {sign} facts",
        marks(told, tips, value=name),
        (0.0, 1.0),
        line=0.5,
        columns=(("accuracy", "told"), ("n", "count")),
        percent=True,
    )


def guessing(choices: pl.DataFrame) -> dict[str, float]:
    """By model, the accuracy of guessing: the mean over anchors of one in so many choices.

    Args:
        choices: The finding ``choices``, with ``model``.
    """
    import polars as pl

    counts = choices.group_by("model", "anchor", "meta", "pair").len()
    widest = counts.group_by("model", "anchor").agg(pl.col("len").max())
    return dict(widest.group_by("model").agg((1 / pl.col("len")).mean()).iter_rows())


def _estimates(
    found: Sequence[tuple[str, float | None, float | None, float | None, int, float | None]],
    axis: str,
    counted: str,
) -> Measure | None:
    """A measure of label, value, both ends, n and reference of each model.

    Of ``anchors`` it is in per cent; of ``relations`` a line is drawn at one half.
    """
    import polars as pl

    floats = ("value", "low", "high", "reference")
    schema = {"label": pl.String, **dict.fromkeys(floats[:3], pl.Float64), "n": pl.Int64}
    table = pl.DataFrame(found, schema | {"reference": pl.Float64}, orient="row")
    if table["value"].is_null().all():
        return None
    percent, line = counted == "anchors", None if counted == "anchors" else 0.5
    how = share if percent else score
    tips = [
        f"{row['label']}: {axis} {how(row['value'])}{spanned(row['low'], row['high'], how)}, "
        f"n = {row['n']:,} {counted}"
        for row in table.iter_rows(named=True)
    ]
    told = table.with_columns(told=written(table, "value", how), count=written(table, "n", number))
    return Measure(
        axis,
        marks(told, tips, sure="low", **{name: name for name in floats}),
        bounds([line, *(value for name in floats for value in table[name])]),
        line=line,
        columns=((axis.rsplit(maxsplit=1)[-1], "told"), ("n", "count")),
        percent=percent,
    )
