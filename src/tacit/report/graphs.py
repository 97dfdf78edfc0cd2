"""The parts graphs of a report: which drawings are shown, and what their edges say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.report.content import Graph, Graphs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.probes.figures.charts import Look
    from tacit.runs.reading import Run

# Of one model; a drawing's graph is drawn in a third of a second.
MOST_GRAPHS = 40
_KEY = ("thing", "annotator")


def parts_graphs(runs: Sequence[Run], ontology: Ontology, look: Look) -> Graphs | None:
    """The graphs of each model's drawings, all of them or a sample; None without beliefs."""
    import polars as pl

    from tacit.probes.parts.graph import parts_graph

    found: list[Graph] = []
    faults: list[list[Any]] = []
    told = ""
    for run in runs:
        beliefs = run.tables["beliefs"]
        if beliefs.is_empty():
            continue
        drawings = run.tables["violation_by_drawing"]
        told_of = drawings.select(*_KEY, ~pl.col("consistent"), "violated").iter_rows()
        by_drawing = {(thing, annotator): fault for thing, annotator, *fault in told_of}
        chosen, told = sampled(drawings, MOST_GRAPHS)
        for thing, annotator in chosen:
            rows = beliefs.filter(pl.col("thing") == thing, pl.col("annotator") == annotator)
            labels = {"model": run.name, "thing": thing, "drawn by": annotator or "nobody"}
            found.append(Graph(labels, parts_graph(rows, ontology, look)))
            faults.append(by_drawing[thing, annotator])
    if not found:
        return None
    about = (
        "One drawing: what the model believes before repair, after repair, and what the annotator "
        "drew. Violated edges are coloured and dashed, or have a sign; rest the pointer on one, or "
        f"reach it with Tab and the arrow keys, and it says what it clashes with. The one that "
        f"contradicts itself most is shown first. {told}"
    )
    first = faults.index(max(faults))
    return Graphs("parts-graphs", "Parts graphs", about, tuple(found), first)


def sampled(drawings: pl.DataFrame, most: int) -> tuple[list[tuple[str, str]], str]:
    """Which drawings are shown: all, or some from the least to the most contradictory.

    Args:
        drawings: The finding ``violation_by_drawing``.
        most: How many at most.

    Returns:
        (thing, annotator) of each, and a sentence that says which part of all they are.
    """
    keys = drawings.select(_KEY).rows()
    if len(keys) <= most:
        return keys, f"All here: {several(len(keys), 'drawing')}."
    ranked = drawings.sort("density", *_KEY, nulls_last=True).select(_KEY).rows()
    places = {round(i * (len(ranked) - 1) / (most - 1)) for i in range(most)} if most > 1 else {0}
    kept = {ranked[place] for place in places}
    return [key for key in keys if key in kept], (
        f"A sample is here, {most:,} of {several(len(keys), 'drawing')}: evenly spaced from the "
        "one with the least contradictions to the one with the most."
    )
