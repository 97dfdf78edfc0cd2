"""The figures of the parts probe, from its findings (Gu et al. 2023, Figures 3 to 6 and 11).

Every figure compares the raw beliefs with the world repaired under one objective. When a table
has a column ``model``, each model has a chart of its own, one above the other. A table without a
row gives no figure; a share that could not be had (n = 0) has no mark, and one without an interval
has a mark alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import FigureSpec
from tacit.probes.parts import panels

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import altair as alt
    import polars as pl

    from tacit.probes.figures.charts import Chart, Look
    from tacit.probes.figures.panels import Shown

    Panel = Callable[[pl.DataFrame, Look, str], alt.LayerChart | alt.HConcatChart]


def accuracy_at(shown: Shown) -> Chart | None:
    """Figure 3: the share of drawings with at least s % of their gold statements right.

    Returns:
        The chart, with the improvement in percentage points; None when the table is empty.
    """
    return _per_model(shown.alone("accuracy_at"), shown.look, panels.accuracy_at)


def accuracy_by_relation(shown: Shown) -> Chart | None:
    """Figure 4: accuracy before and after repair for each relation, and the gain.

    Returns:
        The chart, relations by falling accuracy before repair; None when the table is empty.
    """
    table = shown.alone("accuracy_by_relation")
    return _per_model(table, shown.look, panels.accuracy_by_relation)


def best_and_worst_things(shown: Shown) -> Chart | None:
    """Figures 5 and 6: the things with the best and the worst accuracy before repair.

    Returns:
        The chart; None when no thing is in either band.
    """
    table = shown.alone("accuracy_by_thing")
    ends = None if table is None else table.filter(table["band"] != "middle").drop_nulls("rank")
    return _per_model(ends, shown.look, panels.best_and_worst)


def all_things(shown: Shown) -> Chart | None:
    """Figure 11: the things between the best and the worst (ranks 21 to 80 of 100).

    Returns:
        The chart; None when no thing is in the middle band.
    """
    table = shown.alone("accuracy_by_thing")
    middle = None if table is None else table.filter(table["band"] == "middle").drop_nulls("rank")
    return _per_model(middle, shown.look, panels.middle_things)


FIGURES: Mapping[str, FigureSpec] = {
    spec.name: spec
    for spec in (
        FigureSpec(
            "accuracy_at",
            "How many drawings are right to at least s per cent",
            "Figure 3 of the paper. Higher is better; the further right, the stricter.",
            accuracy_at,
        ),
        FigureSpec(
            "accuracy_by_relation",
            "Accuracy by relation",
            "Figure 4 of the paper: agreement with people's drawings before and after repair.",
            accuracy_by_relation,
        ),
        FigureSpec(
            "best_and_worst_things",
            "The best and the worst things",
            "Figures 5 and 6 of the paper.",
            best_and_worst_things,
        ),
        FigureSpec("all_things", "The things between", "Figure 11 of the paper.", all_things),
    )
}


def _per_model(table: pl.DataFrame | None, look: Look, panel: Panel) -> Chart | None:
    """One chart per model, one above the other; None when there is nothing to show."""
    import altair as alt

    if table is None:
        return None
    table = table.filter(table["world"].is_in(panels.worlds_of(look)))
    if table.is_empty():
        return None
    if "model" not in table.columns:
        charts = [panel(table, look, "")]
    else:
        models = table["model"].unique(maintain_order=True)
        charts = [panel(table.filter(table["model"] == name), look, f"{name}: ") for name in models]
    return alt.vconcat(*charts, spacing=30)
