"""Figures of the consistency probe (Sahu et al. 2022, Figures 3 to 7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.marks import (
    DASH,
    Axis,
    Curves,
    Rows,
    bounds,
    heading,
    in_rows,
    measured,
    page,
    series_styles,
    written,
)
from tacit.charts.scale import scale_chart
from tacit.charts.shown import Shown, counted, titled
from tacit.charts.theme import PAPER, Series, mixed, series
from tacit.english import several
from tacit.findings.numbers import score
from tacit.findings.spec import figure
from tacit.probes.consistency import prediction_figures
from tacit.probes.consistency.relation_figures import (
    FEWEST_ANCHORS,
    GREY,
    by_relation,
    diagonal,
    relations_across_models,
)
from tacit.probes.consistency.scale import scaling
from tacit.probes.consistency.tables import TABLES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import altair as alt
    import polars as pl

    from tacit.charts.theme import Chart, Palette
    from tacit.findings.spec import Column, FigureSpec

FARTHEST = 6
"""Number of relations labelled in a scatter plot: those farthest from the diagonal."""

_CHANCE = "tick: chance level (mean over permutations of the answers)"
_ANCHORS = (
    "anchor question with a background score and an answer",
    "anchor questions with a background score and an answer",
)
_HOLLOW = (
    "hollow mark: no interval (too few anchor questions, too few question concepts, or a higher "
    "background score for every correctly answered question than for every other question)"
)
_FORMULA = "(consistency \N{MINUS SIGN} chance)/(1 \N{MINUS SIGN} chance)"
_SMALLEST = "tick: smallest lift that a test at the 5 % level detects with a probability of 80 %"
_P = "p: p-value of a one-sided permutation test of whether the lift exceeds 0"
_HALF = 0.5  # the background score of always giving the same answer
_SINGLE = "Yes/No"  # used with the last meta-prompt: the paper does not name its single prompt
_SIGNS = ("positive_accuracy", "negative_accuracy")


@figure(
    "Conceptual consistency",
    "This figure corresponds to Figure 3 of Sahu et al. (2022); the chance level and the lift "
    "above chance are added.",
)
def consistency(shown: Shown) -> Chart | None:
    """Plot conceptual consistency, its chance level, and its lift above chance."""
    table = shown.defined("consistency", "consistency")
    if table is None:
        return None
    panels = [
        _models(*_measure(kind, table.with_columns(label="model")), shown, text)
        for kind, text in (("consistency", "a) conceptual consistency"), ("lift", "b) lift"))
    ]
    title = titled(
        "Conceptual consistency",
        f"a) average precision of the background score as a predictor of correct answers; "
        f"{_CHANCE}",
        f"b) lift: {_FORMULA}; lines: {shown.intervals('consistency')}; {_SMALLEST}{_cut(table)}; "
        f"{_P}",
        f"{counted(table['n'], *_ANCHORS)}",
        f"b) {_HOLLOW}",
        *_size_caption(shown),
    )
    return page(title, panels)


@figure(
    "Background score and answers", "This figure corresponds to Figure 4 of Sahu et al. (2022)."
)
def background_and_anchors(shown: Shown) -> Chart | None:
    """Plot the background score and the anchor accuracy (Sahu et al. 2022, Figure 4)."""
    import polars as pl

    choices = shown.table("choices")
    guesses = {} if choices is None else _guessing(choices)
    known = [(label, of) for label, of in shown.summaries("background_score")]
    right = [
        (label, {**each, "guess": guesses.get(label)})
        for label, of in shown.summaries("anchor_accuracy")
        for each in of
        if each["of"] == "all"
    ]
    panels: list[alt.LayerChart] = []
    told: list[str] = []
    for spec, rows, reference, n in (
        (TABLES["background_score"], known, None, "relations"),
        (TABLES["anchor_accuracy"], right, "guess", "n"),
    ):
        names = [n, "value", "low", "high", *([reference] if reference else [])]
        table = pl.DataFrame(
            [{"label": label} | {name: of[name] for name in names} for label, of in rows],
            {"label": pl.String, n: pl.Int64} | dict.fromkeys(names[1:], pl.Float64),
        )
        if table["value"].is_null().all():
            continue
        letter = "ab"[len(panels)]
        column = spec.column("value")
        drawn = measured(table, column, reference, spec.column(n))
        dotted = None if reference else _HALF
        axis = _axis(column, [dotted, *(x for name in names[1:] for x in table[name])], dotted)
        panels.append(_models(drawn, axis, column, shown, f"{letter}) {spec.title.lower()}"))
        told.append(
            f"{letter}) share of answered anchor questions that are answered correctly, "
            f"{counted(table[n], 'anchor question')}; lines: {shown.intervals('others')}; tick: "
            "random guessing"
            if reference
            else f"{letter}) background score, averaged over relations; lines: 95 % CIs (Student's "
            f"t over {counted(table[n], 'relation')}); dotted line: score of a model that always "
            "gives the same answer"
        )
    if not panels:
        return None
    return page(
        titled("Background score and anchor accuracy", *told, *_size_caption(shown)), panels
    )


@figure(
    "Background score and consistency by relation",
    "This figure corresponds to Figure 5 of Sahu et al. (2022).",
)
def background_against_consistency(shown: Shown) -> Chart | None:
    """Plot relations' background scores against consistency (Sahu et al. 2022, Figure 5)."""
    import polars as pl

    both = by_relation(shown)
    if both is None:
        return None
    table = both.drop_nulls(["background_score", "consistency"])
    if table.is_empty():
        return None
    left = both.filter(pl.any_horizontal(pl.col("background_score", "consistency").is_null()))
    ends = bounds(
        value
        for name in ("background_score", "low", "high", "consistency")
        for value in table[name]
    )
    panels = [
        _scatter(part, ends, str(model), shown.look.colours)
        for (model,), part in table.group_by("model", maintain_order=True)
    ]
    facts = counted(table["facts"], "fact").removeprefix("n = ")
    undefined = "; ".join(
        f"{model}: {name} ({n or 0:,})"
        for model, name, n in left.select("model", "relation", "n").iter_rows()
    )
    title = titled(
        "Background score against conceptual consistency, by relation",
        f"coloured marks, named below: the {FARTHEST} relations farthest from the dotted diagonal "
        "(in brackets: number of anchor questions); hollow circles: other relations",
        "vertical lines, for the "
        f"background score: {shown.intervals('background_by_relation')}"
        + f"; {GREY}, never coloured"
        * bool((table["n"] < FEWEST_ANCHORS).any()),
        f"{counted(table['n'], 'anchor question')} and {facts} per relation",
        "relations that are not drawn because their background score or consistency is undefined "
        f"(in brackets: number of anchor questions): {undefined}" * bool(undefined),
    )
    return page(title, *in_rows(panels, 2))


@figure("Prompting bias", "This figure corresponds to Figure 6 of Sahu et al. (2022).")
def prompting_bias(shown: Shown) -> Chart | None:
    """Plot the accuracies on facts and on negatives (Sahu et al. 2022, Figure 6)."""
    import polars as pl

    table = shown.defined("background_variants", "background_score")
    if table is None:
        return None
    most = table.filter(pl.col("preset").is_in(("max", "votes")))
    single = table.filter(preset="single", pair=_SINGLE)
    single = single.filter(pl.col("meta") == pl.col("meta").max().over("model"))
    ranks = {label: rank for rank, label in enumerate(shown.labels.values())}
    if most.is_empty() and single.is_empty():
        return None
    both = pl.concat([most, single]).sort(
        pl.col("model").replace_strict(ranks), "preset", maintain_order=True
    )
    both = both.with_columns(label=pl.format("{}: {}", "model", "preset"))
    columns = [TABLES["background_variants"].column(sign) for sign in _SIGNS]
    means = TABLES["background_variants"].column("background_score")
    drawn = pl.concat(
        measured(
            both.with_columns(series=pl.lit(column.heading)),
            column,
            n=TABLES["consistency"].column("n"),
        ).with_columns(
            mean=pl.Series(
                [written(mean, means.kind) for mean in both[means.name]], dtype=pl.String
            )
        )
        for column in columns
    )
    hues = (shown.look.colours.after["log-odds"], shown.look.colours.faults[0])
    signs = [
        Series(column.heading, hue, shape)
        for column, hue, shape in zip(columns, hues, ("circle", "diamond"), strict=True)
    ]
    inputs = " or ".join(f"meta-prompt {meta}" for meta in sorted(single["meta"].unique()))
    title = titled(
        "Prompting bias",
        "max: the answer word with the highest score over all prompt variants is the answer; "
        "votes: the answer of the majority of sampled replies; single: only "
        f"{inputs or 'one meta-prompt'} with the answer words {_SINGLE} is used",
        "a line joins the accuracy on facts (true) and the accuracy on negatives (false "
        "versions of facts); the longer the line, the more the model prefers one of the answers "
        "“yes” and “no”; dotted line: 50 %",
        "mean: the background score, which is the mean of the accuracy on facts and the "
        "accuracy on their false versions; all values are averaged over anchor questions "
        f"({counted(both['n'], 'anchor question')})",
    )
    panel = Rows(
        drawn,
        Axis("accuracy", (0.0, 1.0), percent=True, dotted=_HALF),
        shown.look.colours,
        "accuracy on facts and on negatives",
        both["label"].to_list(),
        signs,
        joined=True,
        words=(("mean", "mean"), ("n", "count")),
        width=300,
    )
    return page(title, [panel.chart()])


@figure("Consistency by relation", "This figure corresponds to Figure 7a of Sahu et al. (2022).")
def consistency_by_relation(shown: Shown) -> Chart | None:
    """Plot each relation's conceptual consistency and its lift above chance."""
    return _subsets(shown, "relation")


@figure("Consistency by concept", "This figure corresponds to Figure 7b of Sahu et al. (2022).")
def consistency_by_concept(shown: Shown) -> Chart | None:
    """Plot conceptual consistency and its lift above chance for each frequent concept."""
    return _subsets(shown, "concept")


@figure(
    "Size of models",
    "This figure is not in Sahu et al. (2022). Lift, background score and anchor accuracy, "
    "plotted against the number of parameters for each family of models.",
)
def size_of_models(shown: Shown) -> Chart | None:
    """Plot measures of several models against the models' numbers of parameters."""
    return scale_chart(shown, scaling)


@figure(
    "Intervention",
    "This figure is not in Sahu et al. (2022). How the accuracy on anchor questions changes if "
    "facts precede the question in the prompt. Each anchor question in the figure is asked both "
    "without and with facts in the prompt.",
)
def intervention(shown: Shown) -> Chart | None:
    """Plot how the accuracy changes if facts are added to the prompt, by kind of fact."""
    import polars as pl

    table = shown.defined("intervention", "change")
    if table is None:
        return None
    column = TABLES["intervention"].column("change")
    label = pl.format("{} facts, against {}", "condition", "against")
    drawn = measured(
        table.with_columns(label=label, series="group"),
        column,
        n=TABLES["intervention"].column("n"),
    )
    ends = bounds([0.0, *(x for end in ("value", "low", "high") for x in drawn[end])], -1.0)
    axis = Axis("change of accuracy (points)", ends, percent=True, dotted=0.0)
    groups = series(table["group"].unique(maintain_order=True), shown.look.colours)
    order = drawn["label"].unique(maintain_order=True).to_list()
    panels = [
        Rows(
            *(drawn.filter(model=model), axis, shown.look.colours, str(model), order, groups),
            words=[("change", "told"), ("n", "count")],
            legend=at == 0,
            width=300,
        ).chart()
        for at, model in enumerate(table["model"].unique(maintain_order=True))
    ]
    title = titled(
        "Intervention: accuracy with facts in the prompt",
        "paired change of anchor accuracy between two kinds of facts in the prompt; true: the "
        "question's own facts; false: the negatives (false versions) of the question's own facts; "
        "irrelevant: facts of another question that shares no concept with the question; none: no "
        "facts",
        f"lines: {shown.intervals('others')}; {counted(table['n'], 'anchor question')}; hollow "
        "mark: no interval",
        "facts correct: anchor questions for which the model says “yes” to every background fact "
        "when the prompt contains no facts; answer in a fact: anchor questions for which a "
        "background fact contains a concept of the correct choice",
    )
    return page(title, *([panel] for panel in panels))


FIGURES: Mapping[str, FigureSpec] = {
    one.name: one
    for one in (
        consistency,
        background_and_anchors,
        background_against_consistency,
        relations_across_models,
        prompting_bias,
        consistency_by_relation,
        consistency_by_concept,
        *prediction_figures.FIGURES,
        size_of_models,
        intervention,
    )
}


def _measure(kind: str, table: pl.DataFrame) -> tuple[pl.DataFrame, Axis, Column]:
    """Return a panel's data, its value axis, and the specification of the plotted column."""
    import polars as pl

    if kind == "consistency":
        column = TABLES["consistency"].column("consistency")
        drawn = measured(table, column, "chance", TABLES["consistency"].column("n"))
        return drawn, _axis(column, [*table["consistency"], *table["chance"]]), column
    drawn = measured(
        table,
        TABLES["consistency"].column("lift"),
        "smallest_lift",
        TABLES["consistency"].column("n"),
    ).with_columns(p=pl.Series([written(p, "p") for p in table["p_corrected"]], dtype=pl.String))
    names = ("lift", "lift_low", "lift_high", "smallest_lift")
    values = [0.0, *(value for name in names for value in table[name])]
    return (
        drawn,
        _axis(TABLES["consistency"].column("lift"), values, 0.0, least=-1.0),
        TABLES["consistency"].column("lift"),
    )


def _axis(
    column: Column, values: list[float | None], dotted: float | None = None, least: float = 0.0
) -> Axis:
    return Axis(column.heading, bounds(values, least), column.kind == "percent", dotted)


def _models(
    drawn: pl.DataFrame, axis: Axis, column: Column, shown: Shown, text: str
) -> alt.LayerChart:
    """Plot one row per model, or one point per model if model sizes are compared."""
    import polars as pl

    labels, colours = list(shown.labels.values()), shown.look.colours
    if not shown.by_size:
        words = [(column.heading.split()[-1], "told"), ("n", "count")]
        words += [("p", "p")] * ("p" in drawn.columns)
        return Rows(drawn, axis, colours, text, labels, words=words).chart()
    sizes = {label: shown.sizes[name] for name, label in shown.labels.items()}
    table = drawn.with_columns(
        at=pl.col("label").replace_strict(sizes, return_dtype=pl.Float64),
        family=pl.col("label").replace_strict(dict(shown.families)),
        series="label",
    )
    told = series(labels, colours)
    return Curves(table, axis, colours, text, "parameters", told, log=True, joined="family").chart()


def _size_caption(shown: Shown) -> Iterator[str]:
    """Yield a caption for panels in which the horizontal axis is the number of parameters."""
    if shown.by_size:
        joined = len(set(shown.families.values())) < len(shown.families)
        yield "horizontal axis: number of parameters, on a logarithmic scale" + (
            "; a line connects models of the same family" * joined
        )


def _subsets(shown: Shown, kind: str) -> Chart | None:
    """Plot consistency and lift by relation or concept, with two panels per model."""
    import polars as pl

    table = shown.defined(f"consistency_by_{kind}", "consistency")
    if table is None:
        return None
    table = table.with_columns(label="name")
    order = (
        table.group_by("name")
        .agg(pl.col("n").max())
        .sort("n", "name", descending=[True, False])["name"]
        .to_list()
    )
    parts = {name: _measure(name, table) for name in ("consistency", "lift")}
    panels = []
    for model in table["model"].unique(maintain_order=True):
        row = []
        for name, (drawn, axis, column) in parts.items():
            words = [
                (column.heading, "told"),
                *([("p", "p")] if name == "lift" else [("n", "count")]),
            ]
            panel = Rows(
                drawn.filter(model=model),
                axis,
                shown.look.colours,
                model if name == "consistency" else "lift",
                order,
                words=words,
                labelled=name == "consistency",
            )
            row.append(panel.chart())
        panels.append(row)
    models = table["model"].n_unique()
    empty = (f"; empty row: the model's results do not include the {kind}") * (
        len(table) < len(order) * models
    )
    title = titled(
        f"Conceptual consistency by {kind}",
        "CC: conceptual consistency over the n anchor questions whose background facts contain the "
        f"{kind}; {_CHANCE}",
        f"lift: {_FORMULA}; lines: {shown.intervals('consistency')}; {_SMALLEST}{_cut(table)}",
        f"{_P}, corrected for the number of {kind}s by the method of Benjamini and Hochberg",
        f"{_HOLLOW}; {DASH}: undefined{empty}",
    )
    return page(title, *panels)


def _cut(table: pl.DataFrame) -> str:
    """Return a caption if the axis cuts off intervals of the lift, else an empty string."""
    return "; intervals that extend below \N{MINUS SIGN}1 are cut off" * bool(
        (table["lift_low"] < -1).any()
    )


def _scatter(
    part: pl.DataFrame, ends: tuple[float, float], model: str, colours: Palette
) -> alt.LayerChart:
    """Plot one model's relations, and label the relations farthest from the diagonal."""
    import altair as alt
    import polars as pl

    column = TABLES["background_by_relation"].column("background_score")
    table = measured(part.with_columns(label="relation"), column)
    tips = [
        f"{row['tip']}, {several(row['facts'], 'fact')}; conceptual consistency (CC) "
        f"{score(row['consistency'])}, chance {score(row['chance'])}, n = {row['n']:,}"
        for row in table.iter_rows(named=True)
    ]
    apart = (pl.col("background_score") - pl.col("consistency")).abs()
    table = table.with_columns(tip=pl.Series(tips)).sort(-apart, "relation")
    enough = table.filter(pl.col("n") >= FEWEST_ANCHORS)
    far, near = enough.head(FARTHEST), enough.slice(FARTHEST)
    few = table.filter(pl.col("n") < FEWEST_ANCHORS)
    far = far.with_columns(series=pl.format("{} ({})", "relation", "n"))
    across, up = Axis("CC", ends), Axis(column.heading, ends, percent=True)
    x, y = alt.X("consistency:Q", **across.shared), alt.Y("value:Q", **up.shared)
    marks: dict[str, Any] = {"opacity": 1, "size": 60, "aria": True}
    others = alt.Chart(near).mark_point(color=colours.muted, filled=False, fill=PAPER, **marks)
    grey = alt.Chart(few).mark_point(color=mixed(colours.muted, 0.7), filled=True, **marks)
    spans = alt.Chart(far.drop_nulls(["low", "high"])).mark_rule(color=colours.muted)
    named = alt.Chart(far).mark_point(filled=True, **marks)
    layers = [
        diagonal(ends, colours),
        grey.encode(x=x, y=y, description="tip:N"),
        others.encode(x=x, y=y, description="tip:N"),
        spans.encode(x=x, y=alt.Y("low:Q", **up.shared), y2="high:Q"),
        named.encode(
            x=x,
            y=y,
            description="tip:N",
            **series_styles(series(far["series"], colours), legend=True),
        ),
    ]
    chart = alt.LayerChart(layer=layers)
    return chart.properties(width=330, height=330, title=heading(model))


def _guessing(choices: pl.DataFrame) -> dict[str, float]:
    """Return each model's accuracy under random guessing: the mean of 1/(number of choices)."""
    import polars as pl

    counts = choices.group_by("model", "anchor", "meta", "pair").len()
    widest = counts.group_by("model", "anchor").agg(pl.col("len").max())
    return dict(widest.group_by("model").agg((1 / pl.col("len")).mean()).iter_rows())
