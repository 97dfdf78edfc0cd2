"""Graphs, violations and statements of individual drawings, as shown in the report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.charts.shown import Shown
from tacit.coherence.ontology import Ontology
from tacit.english import several
from tacit.files import file_names
from tacit.findings.declared import shipped
from tacit.findings.display import Details, GraphSet
from tacit.findings.findings import Findings
from tacit.findings.numbers import evenly_spaced
from tacit.probes.parts import DETAILS
from tacit.probes.parts.beliefs import DRAWING, STATEMENT, ontology_of
from tacit.probes.parts.edges import worst_violations

if TYPE_CHECKING:
    from tacit.charts.theme import Palette, Spec

MOST_GRAPHS = 40
"""Maximum number of graphs per model; each takes about 5 kB of the report."""

MOST_STATEMENTS = 30_000
"""Maximum number of statements per model in the report's table, which else shows a sample."""


def graph_set(found: Mapping[str, Findings], colours: Palette) -> GraphSet | None:
    """Return the parts graphs of each model and drawing; None if there are no beliefs."""
    from tacit.probes.parts.graph import parts_graphs

    graphs: list[tuple[Mapping[str, str], Spec]] = []
    faults: list[tuple[bool, int]] = []
    sample = ""
    for model, findings in found.items():
        chosen, sample = sampled(findings.tables["violation_by_drawing"], MOST_GRAPHS)
        rows = findings.tables["beliefs"].join(chosen, on=DRAWING, how="semi")
        drawn = parts_graphs(rows, ontology_of(findings), colours)
        for one in chosen.iter_rows(named=True):
            thing, annotator = (one[name] for name in DRAWING)
            if (thing, annotator) in drawn:
                labels = {"model": model, "thing": thing, "annotator": annotator or "none"}
                graphs.append((labels, drawn[thing, annotator]))
                faults.append((not one["consistent"], one["violated"]))
    if not graphs:
        return None
    text, first = shipped("texts", "parts")["graphs"], faults.index(max(faults))
    reading = f"{text['reading']} {sample}"
    return GraphSet("graphs", text["title"], reading, tuple(graphs), first, text["tab"])


def graph_files(
    shown: Shown, ontology: Ontology, things: Collection[str] | None
) -> dict[str, Spec]:
    """Return the graphs of the drawings of things, or of a typical drawing, by file name."""
    from tacit.probes.parts.graph import parts_graphs

    beliefs, drawings = shown.alone("beliefs"), shown.alone("violation_by_drawing")
    if beliefs is None or drawings is None:
        return {}
    if things is None:  # the median of constraint violations
        ranked = drawings.sort("violated", *DRAWING)
        chosen = ranked.slice((ranked.height - 1) // 2, 1).select(DRAWING)
    else:
        chosen = drawings.filter(pl.col("thing").is_in(things)).select(DRAWING)
    rows = beliefs.join(chosen, on=DRAWING, how="semi", maintain_order="left")
    graphs = parts_graphs(rows, ontology, shown.colours)
    names = file_names("-".join(["parts_graph", *group]) for group in graphs)
    return dict(zip(names, graphs.values(), strict=True))


def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[Details]:
    """Yield the worst violations, and the statements of all drawings or of a sample."""
    del request
    worst = worst_violations(findings, ontology_of(findings))
    if not worst.is_empty():
        yield Details(DETAILS["worst"], worst)
    beliefs, drawings = findings.tables["beliefs"], findings.tables["violation_by_drawing"]
    if beliefs.is_empty():
        return
    each = beliefs.height / max(1, drawings.height)
    bound = min(most, MOST_STATEMENTS)
    chosen, sample = sampled(drawings, max(1, int(bound / max(1.0, each))))
    some = beliefs.join(chosen, on=DRAWING, how="semi", maintain_order="left")
    asked, spec = findings.questions, DETAILS["statements"]
    key = [name for name in STATEMENT if name in asked.columns]
    more = [name for name in spec.schema if name in asked.columns and name not in some.columns]
    wide = some.join(asked.select(*key, *more), on=key, how="left", maintain_order="left")
    yield Details(spec.with_reading(sample), wide)


def sampled(drawings: pl.DataFrame, most: int) -> tuple[pl.DataFrame, str]:
    """Select all drawings, or a sample evenly spaced by rank of violation rate."""
    n = drawings.height
    if n <= most:
        every = f"All {n:,} drawings are included."
        return drawings, every if n != 1 else "The run has only one drawing."
    ranked = drawings.with_row_index("at").sort("density", *DRAWING, nulls_last=True)
    return ranked[evenly_spaced(n, most)].sort("at"), (
        f"This is a sample of {most:,} of {several(n, 'drawing')}, evenly spaced by rank "
        "from the lowest to the highest violation rate."
    )
