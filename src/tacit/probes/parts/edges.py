"""The edges of a parts graph: the believed relations between the parts, and what they violate."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import Any

import polars as pl

from tacit.coherence.beliefs import STATEMENT, Beliefs
from tacit.coherence.check import check
from tacit.coherence.ontology import Ontology
from tacit.findings.findings import Findings
from tacit.findings.numbers import score
from tacit.probes.parts.beliefs import DRAWING, ontology_of

_SEVERITY = {
    "asymmetric": 0,
    "excludes": 0,
    "functional": 0,
    "inverse_functional": 0,
    "inverse": 1,
    "symmetric": 1,
    "implies": 1,
    "transitive": 2,
}
_WORDED = 50  # number of a drawing's violations that are put into words
_TOLD = 6  # maximum number of violations that an edge tells; the others are counted


@dataclass(frozen=True)
class Edge:
    """A believed relation; a statement and its inverse or symmetric wording are one edge.

    ``fault`` is the severity of the worst violation: 0 if two statements exclude each other, 1 if a
    statement that follows from one is not believed, 2 if one that follows from two is not.
    """

    relation: str
    tail: str
    head: str
    fault: int | None
    tip: str


def edges(
    beliefs: pl.DataFrame, ontology: Ontology, stage: str, groups: Sequence[str]
) -> dict[tuple[Any, ...], tuple[list[Edge], Mapping[str, Any]]]:
    """Return each drawing's edges, where ``stage`` is the column of the truth values, and counts.

    The counts are the drawing's row of ``Check.groups``.
    """
    table = beliefs.select(*groups, *STATEMENT, "p_true")
    checked = check(Beliefs(table, ontology, groups), beliefs[stage])
    key = [*groups, "relation", "tail", "head"]
    gold = pl.col("label").drop_nulls().first().cast(pl.String)
    held = (
        beliefs.filter(stage)
        .with_columns(tip=pl.concat_str(STATEMENT, separator=" "))
        .with_columns(**_ends(ontology))
        .group_by(key, maintain_order=True)
        .agg(pl.col("tip").str.join(" and "), gold=pl.format("gold label: {}", gold))
        .join(_faults(checked.violations, ontology, key), on=key, how="left", maintain_order="left")
        .with_columns(tip=pl.concat_str("tip", "why", "gold", separator="\n", ignore_nulls=True))
        .sort(pl.col("relation").cast(pl.Enum([*ontology.relations])), maintain_order=True)
        .select(*key, "fault", "tip")
        .rows_by_key(groups, named=True)
    )
    counts = checked.groups.rows_by_key(groups, named=True, unique=True)
    by_group = {group: [Edge(**row) for row in rows] for group, rows in held.items()}
    return {group: (by_group.get(group, []), row) for group, row in counts.items()}


def worst_violations(findings: Findings, ontology: Ontology, most: int = 5) -> pl.DataFrame:
    """Return the worst violations in words: of each thing first, exclusions first, the surest.

    A violation is as sure as the least sure of its beliefs.
    """
    numbers = (1, 2, 3)
    sure = [
        pl.when(f"believed_{n}").then(f"p_true_{n}").otherwise(1 - pl.col(f"p_true_{n}"))
        for n in numbers
    ]
    return (
        _violations(findings, ontology)
        .select(
            pl.all(),
            fault=pl.col("constraint").replace_strict(_SEVERITY, return_dtype=pl.Int64),
            sure=pl.min_horizontal(sure),
        )
        .sort("fault", "sure", descending=[False, True], maintain_order=True)
        .filter(pl.int_range(pl.len()).over(DRAWING) < _WORDED)
        .with_columns(violation=_in_words(probabilities=True))
        .unique(["thing", "violation"], maintain_order=True)
        .sort(pl.int_range(pl.len()).over("thing"), maintain_order=True)
        .select("thing", "violation")
        .head(most)
    )


def violations(findings: Findings) -> pl.DataFrame:
    """Return the violated constraints of each drawing in words; see ``Probe.violations``."""
    violated = _violations(findings, ontology_of(findings))
    return violated.select(*DRAWING, "constraint", violation=_in_words())


def _violations(findings: Findings, ontology: Ontology) -> pl.DataFrame:
    rows = findings.tables["beliefs"]
    table = rows.select(*DRAWING, *STATEMENT, "p_true")
    return check(Beliefs(table, ontology, DRAWING), rows["before"]).violations


def _in_words(*, probabilities: bool = False) -> pl.Expr:
    """Return the statements of a violation in words: those believed, and the one that is not."""

    def worded(joint: str, *, believed: bool) -> pl.Expr:
        statements = []
        for n in (1, 2, 3):
            words = pl.concat_str([f"{name}_{n}" for name in STATEMENT], separator=" ")
            p = pl.col(f"p_true_{n}").map_elements(score, pl.String)
            words = pl.format("{} ({})", words, p) if probabilities else words
            statements.append(pl.when(pl.col(f"believed_{n}") == believed).then(words))
        return pl.concat_list(statements).list.drop_nulls().list.join(joint)

    absent = worded(" nor ", believed=False)
    but = pl.when(absent != "").then(pl.format(", but not {}", absent)).otherwise(pl.lit(""))
    return pl.format("{}{}", worded(", and ", believed=True), but)


def _ends(ontology: Ontology) -> dict[str, pl.Expr]:
    """Return the relation, tail and head of a statement's edge."""
    relations = ontology.relations
    first: dict[str, str] = {}  # the edge has the relation that is declared before its inverse
    for name, of in relations.items():
        if of.inverse and name not in first:
            first[of.inverse] = name
    relation, subject, obj = pl.col("relation"), pl.col("subject"), pl.col("object")
    symmetric = relation.is_in([name for name, of in relations.items() if of.symmetric])
    turned = relation.is_in(list(first)) | (symmetric & (obj < subject))
    return {
        "relation": relation.replace(first),
        "tail": pl.when(turned).then(obj).otherwise(subject),
        "head": pl.when(turned).then(subject).otherwise(obj),
    }


def _faults(violations: pl.DataFrame, ontology: Ontology, key: Sequence[str]) -> pl.DataFrame:
    """Return the severity of each edge's worst violation, and its violations in words."""
    each = violations.with_columns(
        fault=pl.col("constraint").replace_strict(_SEVERITY, return_dtype=pl.Int64),
        why=pl.format("violated: {}", _in_words()),
    )
    believed = pl.concat(
        each.filter(f"believed_{n}").select(
            *key[:-3], "fault", "why", **{name: f"{name}_{n}" for name in STATEMENT}
        )
        for n in (1, 2, 3)
    )
    more = pl.when(pl.len() > _TOLD).then(pl.format("and {} more violated", pl.len() - _TOLD))
    return (
        believed.with_columns(**_ends(ontology))
        .unique([*key, "why"])
        .sort("fault", "why")
        .group_by(key, maintain_order=True)
        .agg(pl.col("fault").first(), pl.col("why").head(_TOLD).str.join("\n"), more=more)
        .with_columns(why=pl.concat_str("why", "more", separator="\n", ignore_nulls=True))
    )


def without_implied(every: Sequence[Edge], transitive: Collection[str]) -> list[Edge]:
    """Leave out edges that follow from two others, unless an edge of the relation is lost by it."""
    implied: set[Edge] = set()
    for relation in transitive:
        mine = {(e.tail, e.head): e for e in every if e.relation == relation and e.fault is None}
        heads: dict[str, set[str]] = defaultdict(set)
        for tail, head in mine:
            heads[tail].add(head)
        try:
            TopologicalSorter(heads).prepare()
        except CycleError:
            continue
        arcs = {(tail, end) for tail, head in mine for end in heads.get(head, ())}
        implied |= {mine[arc] for arc in arcs & mine.keys()}
    return [edge for edge in every if edge not in implied]
