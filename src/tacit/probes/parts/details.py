"""Graphs and tables of statements about individual drawings, as shown in the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.files import file_name
from tacit.findings.numbers import evenly_spaced
from tacit.findings.spec import Details, GraphSet
from tacit.probes.parts.figures import FIGURES
from tacit.probes.parts.tables import DETAILS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Spec, Theme
    from tacit.coherence.ontology import Ontology
    from tacit.findings.findings import Findings

MOST_GRAPHS = 40
"""Maximum number of graphs per model; each takes about 5 kB of the report."""

MOST_STATEMENTS = 30_000
"""Maximum number of statements per model in the report's table of statements.

If a model has more than ``MOST_STATEMENTS`` statements, the table of statements covers only a
sample of the annotators' drawings.
"""

_KEY = ("thing", "annotator")
_QUESTION = ("thing", "subject", "relation", "object")


def graph_set(found: Mapping[str, Findings], look: Theme) -> GraphSet | None:
    """Return the parts graphs of each model and drawing; None if there are no beliefs."""
    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.graph import parts_graphs

    graphs: list[tuple[Mapping[str, str], Spec]] = []
    faults: list[tuple[bool, int]] = []
    told = ""
    for model, findings in found.items():
        own = findings.summary.get("ontology")
        ontology = Ontology.of(own) if own else Ontology.load("parts")
        drawings = findings.tables["violation_by_drawing"]
        chosen, told = sampled(drawings, MOST_GRAPHS)
        rows = findings.tables["beliefs"].join(_drawings(chosen), on=_KEY, how="semi")
        drawn = parts_graphs(rows, ontology, look)
        each = drawings.select(*_KEY, ~pl.col("consistent"), "violated").rows()
        for thing, annotator, *fault in each:
            if (thing, annotator) in drawn:
                labels = {"model": model, "thing": thing, "annotator": annotator or "none"}
                graphs.append((labels, drawn[thing, annotator]))
                faults.append((fault[0], fault[1]))
    if not graphs:
        return None
    text = FIGURES.text("graphs")
    reading, first = f"{text.reading} {told}", faults.index(max(faults))
    return GraphSet("graphs", text.title, reading, tuple(graphs), first)


def graph_files(
    shown: Shown, ontology: Ontology, things: Collection[str] | None
) -> dict[str, Spec]:
    """Return the graphs of the drawings of things, or of a typical drawing, by file name."""
    import polars as pl

    from tacit.probes.parts.graph import parts_graphs

    beliefs, drawings = shown.alone("beliefs"), shown.alone("violation_by_drawing")
    if beliefs is None or drawings is None:
        return {}
    if things is None:  # the median of constraint violations
        ranked = drawings.sort("violated", *_KEY)
        chosen = ranked.slice((ranked.height - 1) // 2, 1).select(_KEY)
    else:
        chosen = drawings.filter(pl.col("thing").is_in(things)).select(_KEY)
    rows = beliefs.join(chosen, on=_KEY, how="semi", maintain_order="left")
    found: dict[str, Spec] = {}
    taken: set[str] = set()
    for group, graph in parts_graphs(rows, ontology, shown.look).items():
        stem = file_name("-".join(["parts_graph", *group]))
        # Names can differ only in case, or in characters that a file name cannot contain.
        free = (stem, *(f"{stem}-{number}" for number in range(2, len(taken) + 3)))
        name = next(each for each in free if each.casefold() not in taken)
        taken.add(name.casefold())
        found[name] = graph
    return found


def details(findings: Findings, request: Mapping[str, Any], most: int) -> Iterator[Details]:
    """Yield a table of statements, prompts and beliefs for all drawings or for a sample."""
    del request
    beliefs, drawings = findings.tables["beliefs"], findings.tables["violation_by_drawing"]
    if beliefs.is_empty():
        return
    each = beliefs.height / max(1, drawings.height)
    bound = min(most, MOST_STATEMENTS)
    chosen, told = sampled(drawings, max(1, int(bound / max(1.0, each))))
    some = beliefs.join(_drawings(chosen), on=_KEY, how="semi", maintain_order="left")
    asked = findings.questions
    # If each drawing has separate answers, a question has one row per drawing.
    key = [*_QUESTION, *(["annotator"] if "annotator" in asked.columns else [])]
    more = [name for name in _OF_ANSWERS if name in asked.columns]
    wide = some.join(asked.select(*key, *more), on=key, how="left", maintain_order="left")
    yield Details(DETAILS["statements"].with_reading(told), wide)


def sampled(drawings: pl.DataFrame, most: int) -> tuple[list[tuple[str, str]], str]:
    """Select all drawings, or a sample evenly spaced by rank of violation rate."""
    keys = drawings.select(_KEY).rows()
    if len(keys) <= most:
        every = f"All {len(keys):,} drawings are included."
        return keys, every if len(keys) != 1 else "The run has only one drawing."
    ranked = drawings.sort("density", *_KEY, nulls_last=True).select(_KEY).rows()
    kept = {ranked[index] for index in evenly_spaced(len(ranked), most)}
    return [key for key in keys if key in kept], (
        f"This is a sample of {most:,} of {several(len(keys), 'drawing')}, evenly spaced by rank "
        "from the lowest to the highest violation rate."
    )


def _drawings(chosen: list[tuple[str, str]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(chosen, dict.fromkeys(_KEY, pl.String), orient="row")


_OF_ANSWERS = (
    *("text", "logprob_true", "logprob_false", "votes_true", "votes_false"),
    *("unparsed", "truncated"),
)
