"""The figures of the consistency probe, from its findings (Sahu et al. 2022, Figures 3 to 7).

They show one model or several, under the names that the caller gives them; models of different
sizes stand against their number of parameters where the paper's figure does that. A table that is
absent or has nothing to show gives no figure, and what is undefined no mark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import FigureSpec
from tacit.probes.consistency import panels_models, panels_relations, panels_sensitivity
from tacit.probes.consistency.panels_bias import prompting_bias
from tacit.probes.figures.panels import DASH, MINUS, Shown, below, counted, score, titled

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.figures.charts import Chart

_CHANCE = "tick: its chance level, the mean over permutations"
_ANCHORS = tuple(
    f"{anchor} with a background score and an answer" for anchor in ("anchor", "anchors")
)
_HOLLOW = "hollow: no interval (too few anchors, or a perfect ranking)"
_LIFT = f"(consistency {MINUS} chance) / (1 {MINUS} chance)"
_SMALLEST = (
    "triangle: the smallest lift that so many anchors would show (at 5 %, in 80 of 100 samples)"
)
_P = "p: one-sided, from permutations"
_WIDE = 1040.0  # pixels of the caption of two models side by side


def consistency(shown: Shown) -> Chart | None:
    """Figure 3: conceptual consistency with its chance level, and the lift above it.

    Returns:
        The chart; None when consistency is undefined for every model.
    """
    import altair as alt

    table = shown.defined("consistency", "consistency")
    if table is None:
        return None
    table = table.with_columns(label="model")
    panels = [
        ("a) conceptual consistency (CC)", panels_models.precision(table)),
        ("b) lift above chance", panels_models.lift(table)),
    ]
    title = titled(
        "Conceptual consistency",
        f"a) average precision of the background score as a predictor of right anchors; {_CHANCE}",
        f"b) {_LIFT}; lines: {shown.intervals('consistency')}; {_SMALLEST}"
        + _cut(table)
        + ("" if shown.by_size else f"; {_P}"),
        f"{counted(table['n'], *_ANCHORS)}; {_HOLLOW}",
        *panels_models.sizes_told(panels, shown),
    )
    return alt.vconcat(panels_models.by_model(panels, shown), title=title)


def background_and_anchors(shown: Shown) -> Chart | None:
    """Figure 4: the background score averaged over relations, and the anchor accuracy.

    Returns:
        The chart, with one panel when only one of the two is defined; None when neither is.
    """
    import altair as alt

    score_of, accuracy = panels_models.background(shown), panels_models.anchors(shown)
    panels, told = [], []
    if score_of is not None:
        panels.append(("a) background score", score_of))
        told.append(
            "a) mean over relations of their background scores; lines: Student's 95 % intervals "
            f"over {counted(score_of.rows['n'], 'relation')}; dotted line: the same answer to "
            "every question"
        )
    if accuracy is not None:
        panels.append(("b) anchor accuracy", accuracy))
        told.append(
            f"b) share of all answered anchors that are right, "
            f"{counted(accuracy.rows['n'], 'anchor')}; lines: {shown.intervals('others')}; "
            "tick: guessing"
        )
    if not panels:
        return None
    told += panels_models.sizes_told(panels, shown)
    title = titled("Background score and anchor accuracy", *told)
    return alt.vconcat(panels_models.by_model(panels, shown), title=title)


def background_against_consistency(shown: Shown) -> Chart | None:
    """Figure 5: background score against consistency, by relation.

    Returns:
        The chart, a scatter per model; None when no relation has both.
    """
    import altair as alt
    import polars as pl

    found, known = shown.table("consistency_by_relation"), shown.table("background_by_relation")
    if found is None or known is None:
        return None
    columns = ("model", "consistency", "chance", "n", "lift_low")
    keys = ["model", "relation"]
    both = known.join(
        found.select(*columns, relation="name"), on=keys, how="left", maintain_order="left"
    ).with_columns(sure=pl.col("lift_low").is_not_null())
    table = both.drop_nulls(["background_score", "consistency"])
    if table.is_empty():
        return None
    left = both.join(table, on=keys, how="anti", maintain_order="left")
    facts = counted(table["facts"], "fact").removeprefix("n = ")
    title = titled(
        "Background score against conceptual consistency, by relation",
        f"diamonds, with their number of anchors: the {panels_relations.FARTHEST} relations "
        "farthest from the diagonal (dotted); circles: the others",
        f"lines: of the background score, {shown.intervals('background_by_relation')}",
        f"{counted(table['n'], 'anchor')} and {facts} per relation; hollow diamond: no "
        "interval of the lift (too few anchors, or a perfect ranking)",
        _left_out(left),
    )
    return alt.vconcat(panels_relations.scatters(table, shown), title=title)


def consistency_by_relation(shown: Shown) -> Chart | None:
    """Figure 7a: consistency over the anchors whose background holds a relation."""
    return _subsets(shown, "relation")


def consistency_by_concept(shown: Shown) -> Chart | None:
    """Figure 7b: consistency over the anchors whose background holds a concept."""
    return _subsets(shown, "concept")


def prompt_sensitivity(shown: Shown) -> Chart | None:
    """Not in the paper: the background score of every meta-prompt and pair of words.

    Returns:
        The chart, a row of panels per model; None when no score is defined.
    """
    ways, winners = shown.table("background_ways"), shown.table("winners")
    alone = None if ways is None else ways.filter(preset="single")
    if ways is None or alone is None or alone["background_score"].is_null().all():
        return None
    alone_told = (
        "left: each meta-prompt and pair of words alone (single), mean over "
        f"{counted(alone['n'], 'anchor')}; the deeper the shade, the farther from 0.50, which the "
        "same answer to every question gets"
    )
    told = [alone_told]
    won = None if winners is None else winners.filter(of="background")
    if won is not None and won["count"].sum():
        told.append(
            "right: how many background questions each gave the answer to, as the run reads them"
        )
    title = titled("Background score by the way to ask", *told, *_together(ways))
    return below(panels_sensitivity.background(alone, won, shown), title)


def anchor_sensitivity(shown: Shown) -> Chart | None:
    """Not in the paper: the accuracy on the anchors of every form.

    Returns:
        The chart, a row of panels per model and way to answer; None when no accuracy is defined.
    """
    ways = shown.defined("anchor_ways", "accuracy")
    if ways is None:
        return None
    title = titled(
        "Anchor accuracy by the way to ask",
        f"left: each form alone, share of {counted(ways['n'], 'answered anchor')} that are right; "
        "solid line: all forms together; dotted line: guessing",
        "right: how many anchors each gave the answer to, the highest score of all deciding",
    )
    return below(panels_sensitivity.anchors(ways, shown.table("winners"), shown), title)


FIGURES: Mapping[str, FigureSpec] = {
    spec.name: spec
    for spec in (
        FigureSpec(
            "consistency",
            "Conceptual consistency",
            "Figure 3 of the paper, with its chance level and the lift above it.",
            consistency,
        ),
        FigureSpec(
            "background_and_anchors",
            "Background score and answers",
            "Figure 4 of the paper.",
            background_and_anchors,
        ),
        FigureSpec(
            "background_against_consistency",
            "Background against consistency, by relation",
            "Figure 5 of the paper.",
            background_against_consistency,
        ),
        FigureSpec("prompting_bias", "Prompting bias", "Figure 6 of the paper.", prompting_bias),
        FigureSpec(
            "consistency_by_relation",
            "Consistency by relation",
            "Figure 7a of the paper.",
            consistency_by_relation,
        ),
        FigureSpec(
            "consistency_by_concept",
            "Consistency by concept",
            "Figure 7b of the paper.",
            consistency_by_concept,
        ),
        FigureSpec(
            "prompt_sensitivity",
            "How the way to ask changes the background score",
            "Not in the paper: each meta-prompt and pair of answer words alone.",
            prompt_sensitivity,
        ),
        FigureSpec(
            "anchor_sensitivity",
            "How the way to ask changes the answers",
            "Not in the paper: each form alone.",
            anchor_sensitivity,
        ),
    )
}


def _subsets(shown: Shown, kind: str) -> Chart | None:
    import altair as alt

    table = shown.defined(f"consistency_by_{kind}", "consistency")
    if table is None:
        return None
    models = table["model"].n_unique()
    rows = table["name"].n_unique() * models
    empty = f"; an empty row: not among that model's {kind}s" if table.height < rows else ""
    title = titled(
        f"Conceptual consistency by {kind}",
        f"CC: conceptual consistency over the n anchors whose background holds the {kind}; "
        f"{_CHANCE}",
        f"lift: {_LIFT}; lines: {shown.intervals('consistency')}; {_SMALLEST}{_cut(table)}",
        f"{_P}, corrected over the {kind}s of a model (Benjamini and Hochberg); {_HOLLOW}; "
        f"{DASH}: undefined{empty}",
        width=_WIDE if models > 1 else None,
    )
    return alt.vconcat(panels_relations.subsets(table, shown), title=title)


def _cut(table: pl.DataFrame) -> str:
    """What a caption says of intervals of the lift that go on beyond the axis."""
    beyond = (table["lift_low"] < -1).any()
    return f"; arrow: an interval that goes on below {MINUS}1" if beyond else ""


def _left_out(table: pl.DataFrame) -> str:
    """Which relations have no mark, each with its number of anchors."""
    if table.is_empty():
        return ""
    of = [
        f"{model}: "
        + ", ".join(f"{name} ({n or 0:,})" for name, n in part.select("relation", "n").rows())
        for (model,), part in table.group_by("model", maintain_order=True)
    ]
    return f"undefined, so without a mark, with their number of anchors: {'; '.join(of)}"


def _together(ways: pl.DataFrame) -> list[str]:
    """What the inputs get together, for a caption."""
    parts = ways.filter(ways["preset"] != "single")
    return [
        f"all inputs of {model}: "
        + ", ".join(
            f"{preset} {score(value)}"
            for preset, value in parts.filter(model=model)
            .select("preset", "background_score")
            .iter_rows()
        )
        for model in parts["model"].unique(maintain_order=True)
    ]
