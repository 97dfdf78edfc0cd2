"""Figures of the consistency probe (Sahu et al. 2022, Figures 3 to 7)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import altair as alt
import polars as pl

from tacit.charts.figures import Drawn, Figures
from tacit.charts.marks import Curves, LabelledRows
from tacit.charts.panels import bounds, in_rows
from tacit.charts.plots import Histograms, Scatter
from tacit.charts.shown import Shown, counted, spread
from tacit.charts.theme import Series, series
from tacit.findings.spec import Column
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.background import ACCURACIES
from tacit.probes.consistency.measures import measures

FARTHEST = 6
"""Number of relations named in a scatter plot: those farthest from the diagonal."""

FEWEST_ANCHORS = 10
"""Number of anchor questions below which a relation is plotted in grey and never named."""

_HALF = 0.5  # the background score of always giving the same answer
_SINGLE = "Yes/No"  # used with the last meta-prompt: the paper does not name its single prompt


def consistency(shown: Shown) -> Drawn | None:
    """Conceptual consistency, its chance level and its lift (Sahu et al. 2022, Figure 3)."""
    both = _consistency_and_lift(shown, "consistency")
    if both is None:
        return None
    texts = ("a) conceptual consistency", "b) lift")
    panels = [_models(rows, shown, text) for rows, text in zip(both, texts, strict=True)]
    return [panels], {
        "intervals": shown.intervals("consistency"),
        "cut": _cut(both[1]),
        "n": counted(both[0].table["n"], "anchor question"),
        **_by_size(shown),
    }


def background_and_anchors(shown: Shown) -> Drawn | None:
    """The background score and the anchor accuracy (Sahu et al. 2022, Figure 4)."""
    values: dict[str, Any] = {"n": None, "relations": None, "intervals": shown.intervals("others")}
    panels = []
    if rows := _rows(shown, "background_score", "value", n="relations", dotted=_HALF):
        value, relations = rows.words
        words = (replace(value, heading="score"), replace(relations, heading="n"))
        panels.append(_models(replace(rows, words=words), shown, "a) background score"))
        values["relations"] = counted(rows.table["relations"], "relation")
    rows = _rows(shown, "anchor_accuracy", "value")
    table = rows.table.filter(of="all") if rows else None
    if rows and table is not None and not table["value"].is_null().all():
        if (baselines := shown.table("anchor_baselines")) is not None:
            random = baselines.filter(baseline="random").select("model", guess="accuracy")
            table = table.join(random, on="model", how="left", maintain_order="left")
        guess = Column("guess", "random guessing", "percent", optional=True)
        rows = replace(rows, table=table, reference=guess)
        panels.append(_models(rows, shown, "b) anchor accuracy"))
        values["n"] = counted(table["n"], "anchor question")
    return ([panels], values | _by_size(shown)) if panels else None


def background_against_consistency(shown: Shown) -> Drawn | None:
    """Relations' background scores against consistency (Sahu et al. 2022, Figure 5)."""
    both = _by_relation(shown)
    if both is None:
        return None
    table = both.drop_nulls(["background_score", "consistency"])
    left = both.join(table, on=["model", "relation"], how="anti", maintain_order="left")
    ends = TABLES["background_by_relation"].column("background_score").names
    values = table.select("consistency", *ends)
    apart = (pl.col("background_score") - pl.col("consistency")).abs()
    panels = []
    for (model,), part in table.group_by("model", maintain_order=True):
        enough = part.filter(pl.col("n") >= FEWEST_ANCHORS).sort(-apart, "relation")
        far = enough.head(FARTHEST).select(
            "relation", pl.format("{} ({})", "relation", "n").alias("name")
        )
        scatter = replace(_scatter(part, values, shown), named=dict(far.iter_rows()))
        panels.append(scatter.chart(str(model)))
    undefined = "; ".join(
        f"{model}: {name} ({n or 0:,})"
        for model, name, n in left.select("model", "relation", "n").iter_rows()
    )
    return in_rows(panels, 2), {
        "farthest": FARTHEST,
        "intervals": shown.intervals("background_by_relation"),
        "few": FEWEST_ANCHORS if (table["n"] < FEWEST_ANCHORS).any() else None,
        "n": counted(table["n"], "anchor question"),
        "facts": counted(table["facts"], "fact").removeprefix("n = "),
        "undefined": undefined,
    }


def relations_across_models(shown: Shown) -> Drawn | None:
    """Background score against consistency of several models, one panel per relation."""
    both = None if len(shown.found) == 1 else _by_relation(shown)
    if both is None:
        return None
    numbers = {label: str(at) for at, label in enumerate(shown.labels.values(), 1)}
    most = pl.col("n").max().over("relation")
    table = both.drop_nulls(["background_score", "consistency"]).with_columns(
        number=pl.col("model").replace_strict(numbers)
    )
    panels, values = [], table.select("consistency", "background_score")
    table = table.sort(-most, "relation", maintain_order=True)
    for (relation,), part in table.group_by("relation", maintain_order=True):
        n = f"n = {spread(part['n'])}"
        scatter = replace(_scatter(part, values, shown), label="model", text="number", side=200)
        panels.append(scatter.chart(f"{relation} ({n})"))
    return in_rows(panels, 3), {
        "models": ", ".join(f"{at} {label}" for label, at in numbers.items()),
        "size": "size" if shown.by_size else None,
        "few": FEWEST_ANCHORS,
        "n": counted(table["n"], "anchor question"),
    }


def prompting_bias(shown: Shown) -> Drawn | None:
    """The accuracies on facts and on negatives (Sahu et al. 2022, Figure 6)."""
    table = shown.defined("background_variants", "background_score")
    if table is None:
        return None
    last = (pl.col("pair") == _SINGLE) & (
        pl.col("meta") == pl.col("meta").max().over("model", "pair")
    )
    single = (pl.col("preset") == "single") & last
    table = table.filter(pl.col("preset").is_in(["max", "votes"]) | single.fill_null(value=False))
    if table.is_empty():
        return None
    column = TABLES["background_variants"].column
    signs = {sign: column(sign).heading for sign in ACCURACIES}
    keys = ["model", "preset", "meta", "n", "background_score"]
    long = table.unpivot(ACCURACIES, index=keys, variable_name="sign").with_columns(
        pl.col("sign").replace_strict(signs), label=pl.format("{}: {}", "model", "preset")
    )
    green, red = shown.colours.after["log-odds"], shown.colours.faults[0]
    facts, negatives = signs.values()
    rows = LabelledRows(
        long,
        Column("value", "accuracy", "percent"),
        shown.colours,
        label="label",
        by="sign",
        series=(Series(facts, green), Series(negatives, red, "diamond")),
        told=[column("n")],
        domain=(0.0, 1.0),
        dotted=_HALF,
        joined=True,
        words=(replace(column("background_score"), heading="mean"), column("n")),
        width=300,
    )
    metas = sorted(table["meta"].drop_nulls().unique())
    used = " or ".join(f"meta-prompt {meta}" for meta in metas) or "one meta-prompt"
    return [[rows.chart("accuracy on facts and on negatives")]], {
        "single": f"{used} with the answer words {_SINGLE}",
        "n": counted(table["n"], "anchor question"),
    }


def consistency_by_relation(shown: Shown) -> Drawn | None:
    """Each relation's consistency and lift above chance (Sahu et al. 2022, Figure 7a)."""
    return _subsets(shown, "relation")


def consistency_by_concept(shown: Shown) -> Drawn | None:
    """Each frequent concept's consistency and lift above chance (Figure 7b)."""
    return _subsets(shown, "concept")


def controls(shown: Shown) -> Drawn | None:
    """The lift with other facts, and the accuracy of baselines (not in Sahu et al. 2022)."""
    lifts = _rows(shown, "controls", "lift", label="background", dotted=0.0)
    answers = _rows(shown, "anchor_baselines", "accuracy", label="baseline")
    if lifts is None or answers is None:
        return None
    panels = lifts.panels("model", "{}: a) lift"), answers.panels("model", "b) accuracy")
    values = {"intervals": shown.intervals("consistency"), "others": shown.intervals("others")}
    return list(zip(*panels, strict=True)), values


def probabilities(shown: Shown) -> Drawn | None:
    """P(yes) of facts and of their negatives (not in Sahu et al. 2022)."""
    table = shown.defined("fact_answers", "margin")
    if table is None:
        return None
    voted = any("votes" in findings.questions.columns for findings in shown.found.values())
    margin, names = pl.col("margin"), {"yes": "facts", "no": "negatives"}
    drawn = Histograms(
        table.drop_nulls("margin")
        .with_columns(
            side=pl.col("expected").replace_strict(names),
            p_yes=(1 + margin) / 2 if voted else 1 / (1 + (-margin).exp()),
        )
        .unique(["model", "question", "side"], maintain_order=True),
        Column("p_yes", "P(yes)", "score"),
        shown.colours,
        by="side",
        series=series(names.values(), shown.colours),
        unit="questions",
    )
    return in_rows(drawn.panels("model"), 2), {}


def accuracy_by_score(shown: Shown) -> Drawn | None:
    """The accuracy on anchor questions by background score (not in Sahu et al. 2022)."""
    table = shown.defined("accuracy_by_score", "accuracy")
    if table is None:
        return None
    column = TABLES["accuracy_by_score"].column
    curves = Curves(
        table,
        column("accuracy"),
        shown.colours,
        across=replace(column("background_score"), heading="background score (mean in the bin)"),
        by="model",
        told=[column("n")],
        domain=(0.0, 1.0),
        height=150,
    )
    values = {"intervals": shown.intervals("others"), "n": counted(table["n"], "anchor question")}
    return [[curves.chart("")]], values


def intervention(shown: Shown) -> Drawn | None:
    """How the accuracy changes if facts are added to the prompt, by kind of fact."""
    rows = _rows(shown, "intervention", "change", label="label", by="group", dotted=0.0, width=300)
    if rows is None:
        return None
    label = pl.format("{} facts, against {}", "condition", "against")
    heading = replace(rows.column, heading="change of accuracy (points)")
    rows = replace(rows, table=rows.table.with_columns(label=label), column=heading)
    n = counted(rows.table["n"], "anchor question")
    values = {"intervals": shown.intervals("others"), "n": n}
    return [[panel] for panel in rows.panels("model")], values


def _rows(shown: Shown, name: str, value: str, n: str = "n", **how: Any) -> LabelledRows | None:  # noqa: ANN401 - attributes of the rows
    """Rows of a table's values, with the value and n as text; None if no value is defined."""
    table, column = shown.defined(name, value), TABLES[name].column
    if table is None:
        return None
    words = (column(value), column(n))
    return LabelledRows(table, words[0], shown.colours, told=words[1:], words=words, **how)


def _consistency_and_lift(
    shown: Shown, name: str, label: str = "model"
) -> tuple[LabelledRows, LabelledRows] | None:
    """Rows of the conceptual consistency with its chance level, and rows of the lift."""
    rows, column = _rows(shown, name, "consistency", label=label), TABLES[name].column
    if rows is None:
        return None
    words = (column("lift"), replace(column("p_corrected"), heading="p"))
    lift = replace(
        rows, column=words[0], reference=column("smallest_lift"), words=words, dotted=0.0
    )
    return replace(rows, reference=column("chance")), lift


def _cut(lift: LabelledRows) -> str | None:
    """The end of the axis, if intervals of the lift extend below it."""
    return "\N{MINUS SIGN}1" if (lift.drawn["low"] < -1).any() else None


def _models(rows: LabelledRows, shown: Shown, text: str) -> alt.LayerChart:
    """One row per model, or one point per model if model sizes are compared."""
    labels = list(shown.labels.values())
    if not shown.by_size:
        return replace(rows, order=labels).chart(text)
    known = {label: shown.sizes[name] for name, label in shown.labels.items()}
    return Curves(
        rows.table.with_columns(
            parameters=pl.col("model").replace_strict(known, return_dtype=pl.Int64),
            family=pl.col("model").replace_strict(dict(shown.families)),
        ),
        rows.column,
        rows.colours,
        across=Column("parameters", "parameters", "count"),
        by="model",
        series=series(labels, shown.colours),
        reference=rows.reference,
        told=rows.told,
        dotted=rows.dotted,
        joined="family",
        log=True,
    ).chart(text)


def _by_size(shown: Shown) -> dict[str, str | None]:
    """The placeholders of captions of panels in which models may stand at their sizes."""
    joined = shown.by_size and len(set(shown.families.values())) < len(shown.families)
    return {
        "across": "horizontal axis" if shown.by_size else None,
        "family": "family" if joined else None,
    }


def _subsets(shown: Shown, kind: str) -> Drawn | None:
    both = _consistency_and_lift(shown, f"consistency_by_{kind}", "name")
    if both is None:
        return None
    scores, lift = both
    table = scores.table
    counts = table.group_by("name").agg(pl.col("n").max())
    order = counts.sort("n", "name", descending=[True, False])["name"].to_list()
    panels = (
        replace(scores, order=order).panels("model"),
        replace(lift, order=order, labelled=False).panels("model", "lift"),
    )
    empty = len(table) < len(order) * table["model"].n_unique()
    return list(zip(*panels, strict=True)), {
        "kind": kind,
        "intervals": shown.intervals("consistency"),
        "cut": _cut(lift),
        "empty": f"the model's results do not include the {kind}" if empty else None,
    }


def _by_relation(shown: Shown) -> pl.DataFrame | None:
    """Return background score and consistency by model and relation; None if no row has both."""
    of_anchors = shown.table("consistency_by_relation")
    of_facts = shown.table("background_by_relation")
    if of_anchors is None or of_facts is None:
        return None
    of_anchors = of_anchors.select("model", "consistency", "chance", "n", relation="name")
    both = of_facts.join(of_anchors, on=["model", "relation"], how="left", maintain_order="left")
    return None if both.drop_nulls(["background_score", "consistency"]).is_empty() else both


def _scatter(part: pl.DataFrame, values: pl.DataFrame, shown: Shown) -> Scatter:
    column, known = TABLES["consistency"].column, TABLES["background_by_relation"].column
    return Scatter(
        part,
        column("consistency"),
        known("background_score"),
        shown.colours,
        label="relation",
        domain=bounds(value for each in values for value in each),
        faint=pl.col("n") < FEWEST_ANCHORS,
        told=(known("facts"), column("chance"), column("n")),
    )


FIGURES = Figures("consistency", globals(), measures)
