"""Graphs for one drawing: beliefs before repair, beliefs after repair, and gold labels."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tacit.charts.theme import Theme
from tacit.english import several
from tacit.errors import DataError, RequestError
from tacit.findings.numbers import percent
from tacit.probes.parts.graph.drawing import Column, Subject, drawn
from tacit.probes.parts.graph.edges import BEFORE, graphs_of, parts_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import polars as pl

    from tacit.charts.theme import Palette
    from tacit.coherence.ontology import Ontology
    from tacit.probes.parts.graph.edges import Graph

_GROUP = ("model", "thing", "annotator")


def parts_graph(beliefs: pl.DataFrame, ontology: Ontology, look: Theme | None = None) -> str:
    """Return an SVG graph of the relations between the parts in one annotator's drawing."""
    found = parts_graphs(beliefs, ontology, look or Theme())
    if len(found) != 1:
        raise DataError(
            f"a parts graph shows one drawing, but these beliefs are about {len(found)}; "
            f"select the rows of one {' and '.join(_groups(beliefs))}"
        )
    (svg,) = found.values()
    return svg


def parts_graphs(
    beliefs: pl.DataFrame, ontology: Ontology, look: Theme
) -> dict[tuple[str, ...], str]:
    """Return the SVG graph of each drawing; see ``parts_graph``."""
    groups = _groups(beliefs)
    if beliefs.is_empty():
        return {}
    stages = [BEFORE, look.objective]
    if "label" in beliefs.columns:
        stages.append("label")
    staged = {stage: graphs_of(beliefs, ontology, stage, groups) for stage in stages}
    found = {}
    for group, mine in beliefs.partition_by(groups, as_dict=True).items():
        of = {stage: each[group] for stage, each in staged.items()}
        columns = _columns(mine, of, look.objective, look.colours)
        found[group] = drawn(_subject(mine), columns, ontology, look.colours)
    return found


def _groups(beliefs: pl.DataFrame) -> list[str]:
    return [name for name in _GROUP if name in beliefs.columns]


def graphs(
    tables: Mapping[str, pl.DataFrame],
    ontology: Ontology,
    look: Theme,
    drawings: Collection[tuple[str, str]] | None = None,
) -> list[tuple[str, str]]:
    """Return parts graphs for selected drawings of things by annotators."""
    import polars as pl

    beliefs = tables.get("beliefs")
    if beliefs is None or beliefs.is_empty():
        return []
    if drawings is None:
        drawings = [_typical(tables, beliefs)]
    found: list[tuple[str, str]] = []
    for thing, annotator in drawings:
        mine = beliefs.filter(pl.col("thing") == thing, pl.col("annotator") == annotator)
        if mine.is_empty():
            raise RequestError(
                f"the beliefs contain no drawing of {thing!r} by {annotator!r}; "
                "expected a thing and its annotator as in the beliefs"
            )
        for names, svg in parts_graphs(mine, ontology, look).items():
            stem = "-".join(["parts_graph", *map(_slug, map(str, names))])
            taken = {name.casefold() for name, _ in found}
            # Number names that differ only in characters that a file name cannot contain.
            free = [stem, *(f"{stem}-{number}" for number in range(2, len(found) + 3))]
            name = next(each for each in free if each.casefold() not in taken)
            found.append((name, svg))
    return found


def _columns(
    beliefs: pl.DataFrame, stages: Mapping[str, Graph], objective: str, colours: Palette
) -> list[Column]:
    before, after = stages[BEFORE], stages[objective]
    missing = beliefs["p_true"].null_count()
    columns = [
        Column(
            before,
            colours.before,
            "Before repair",
            (
                *_counts(before),
                *([f"{several(missing, 'belief is', 'beliefs are')} missing"] * (missing > 0)),
            ),
        ),
        Column(after, colours.of(objective), f"After repair ({objective})", _counts(after)),
    ]
    if "label" not in stages or beliefs["label"].null_count() == len(beliefs):
        return columns
    gold = stages["label"]
    labelled = beliefs["label"].count()
    about = (f"{several(gold.believed, 'statement')} true, {labelled - gold.believed:,} false,",)
    title = "Gold: the annotator's mental model"
    return [*columns, Column(gold, colours.gold, title, (*about, "including implied statements"))]


def _counts(stage: Graph) -> tuple[str, ...]:
    share = f" ({percent(stage.violated / stage.decided)})" if stage.decided else ""
    undecided = (f"{stage.undecided:,} undecided",) if stage.undecided else ()
    return (
        f"{stage.believed:,} of {several(stage.statements, 'statement')} believed",
        f"{stage.violated:,} of {several(stage.decided, 'constraint')} violated{share}",
        *undecided,
    )


def _subject(beliefs: pl.DataFrame) -> Subject:
    parts = parts_of(beliefs)
    named = {name: str(beliefs[name][0]) for name in _GROUP if name in beliefs.columns}
    by = f", annotator: {named['annotator']}" if named.get("annotator") else ""
    of = f", model: {named['model']}" if "model" in named else ""
    return Subject(
        f"Parts of: {named.get('thing', 'a thing')}",
        f"{several(len(parts), 'part')}{by}{of}",
        parts,
    )


def _typical(tables: Mapping[str, pl.DataFrame], beliefs: pl.DataFrame) -> tuple[str, str]:
    """Return the drawing with the median number of constraint violations."""
    violations = tables.get("violation_by_drawing")
    if violations is None or violations.is_empty():
        return beliefs["thing"][0], beliefs["annotator"][0]
    rows = violations.sort("violated", "thing", "annotator").select("thing", "annotator").rows()
    thing, annotator = rows[(len(rows) - 1) // 2]
    return thing, annotator


def _slug(name: str) -> str:
    """Replace the characters of a name that are unsafe in a file name."""
    return re.sub(r"[^0-9A-Za-z.]+", "_", name).strip("._")[:60] or "_"
