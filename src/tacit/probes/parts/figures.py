"""The figures of the parts probe, from its findings (Gu et al. 2023, Figures 3 to 6 and 11).

Every figure compares the raw beliefs with the world repaired under one objective. When a table
has a column ``model``, each model has a chart of its own, one above the other. A table without a
row gives no figure; a share that could not be had (n = 0) has no mark, and one without an interval
has a mark alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.figures.charts import Look, check_formats, svg_of, themed, write_svg
from tacit.probes.parts import panels
from tacit.probes.parts.graph import graphs

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    import altair as alt
    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Chart

    Panel = Callable[[pl.DataFrame, Look, str], alt.LayerChart | alt.HConcatChart]


def accuracy_at(table: pl.DataFrame, look: Look | None = None) -> Chart | None:
    """Figure 3: the share of drawings with at least s % of their gold statements right.

    Args:
        table: The finding ``accuracy_at``.
        look: Palette and objective.

    Returns:
        The chart, with the improvement in percentage points; None when the table is empty.
    """
    return _per_model(table, look or Look(), panels.accuracy_at)


def accuracy_by_relation(table: pl.DataFrame, look: Look | None = None) -> Chart | None:
    """Figure 4: accuracy before and after repair for each relation, and the gain.

    Args:
        table: The finding ``accuracy_by_relation``.
        look: Palette and objective.

    Returns:
        The chart, relations by falling accuracy before repair; None when the table is empty.
    """
    return _per_model(table, look or Look(), panels.accuracy_by_relation)


def best_and_worst_things(table: pl.DataFrame, look: Look | None = None) -> Chart | None:
    """Figures 5 and 6: the things with the best and the worst accuracy before repair.

    Args:
        table: The finding ``accuracy_by_thing``.
        look: Palette and objective.

    Returns:
        The chart; None when no thing is in either band.
    """
    ends = table.filter(table["band"] != "middle").drop_nulls("rank")
    return _per_model(ends, look or Look(), panels.best_and_worst)


def all_things(table: pl.DataFrame, look: Look | None = None) -> Chart | None:
    """Figure 11: the things between the best and the worst (ranks 21 to 80 of 100).

    Args:
        table: The finding ``accuracy_by_thing``.
        look: Palette and objective.

    Returns:
        The chart; None when no thing is in the middle band.
    """
    middle = table.filter(table["band"] == "middle").drop_nulls("rank")
    return _per_model(middle, look or Look(), panels.middle_things)


FIGURES: Mapping[str, tuple[str, Callable[[pl.DataFrame, Look], Chart | None]]] = {
    "accuracy_at": ("accuracy_at", accuracy_at),
    "accuracy_by_relation": ("accuracy_by_relation", accuracy_by_relation),
    "best_and_worst_things": ("accuracy_by_thing", best_and_worst_things),
    "all_things": ("accuracy_by_thing", all_things),
}


def write_figures(
    tables: Mapping[str, pl.DataFrame],
    ontology: Ontology,
    folder: Path,
    formats: Collection[str] = ("svg",),
    look: Look | None = None,
    drawings: Collection[tuple[str, str]] | None = None,
) -> list[Path]:
    """Writes every figure that the findings allow; a table that is absent or empty gives none.

    Args:
        tables: The findings' tables by name.
        ontology: The relations of the beliefs.
        folder: Where the figures go; made when it is not there.
        formats: Some of svg, png and pdf.
        look: Palette and objective.
        drawings: The (thing, annotator) to draw as graphs. When None, one typical drawing: the
            one with the median number of violated constraints.

    Returns:
        The files written.

    Raises:
        RequestError: A format, the palette or a drawing is not known.
        WorkError: A file cannot be written.
    """
    look = look or Look()
    check_formats(formats)
    written = []
    for name, (source, draw) in FIGURES.items():
        table = tables.get(source)
        chart = None if table is None else draw(table, look)
        if chart is not None:
            written += write_svg(svg_of(chart), folder / name, formats)
    for name, svg in graphs(tables, ontology, look, drawings):
        written += write_svg(svg, folder / name, formats)
    return written


def _per_model(table: pl.DataFrame, look: Look, panel: Panel) -> Chart | None:
    """One chart per model, one above the other; None when there is nothing to show."""
    import altair as alt

    table = table.filter(table["world"].is_in(panels.worlds_of(look)))
    if table.is_empty():
        return None
    if "model" not in table.columns:
        charts = [panel(table, look, "")]
    else:
        models = table["model"].unique(maintain_order=True)
        charts = [panel(table.filter(table["model"] == name), look, f"{name}: ") for name in models]
    return themed(alt.vconcat(*charts, spacing=30), look.colours)
