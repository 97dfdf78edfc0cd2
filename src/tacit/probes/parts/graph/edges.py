"""The edges of a parts graph, computed from the beliefs about one drawing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.coherence.beliefs import STATEMENT
from tacit.coherence.check import check
from tacit.english import several
from tacit.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.coherence.ontology import Ontology

    Statement = tuple[str, str, str]  # subject, relation, object
    Key = tuple[str, str, str]  # relation, tail, head

BEFORE = "before"
"""The name of the column with the truth values before repair."""

# The kinds of constraint, grouped by how their violation is shown.
FAULTS = (
    ("two statements that exclude each other are believed", ("asymmetric", "excludes")),
    (
        "a statement is believed, but another statement that follows from it is not",
        ("inverse", "symmetric", "implies"),
    ),
    (
        "two statements are believed, but a third statement that follows from them is not",
        ("transitive",),
    ),
)
_RANK = {kind: rank for rank, (_, kinds) in enumerate(FAULTS) for kind in kinds}
_TOLD = 6  # maximum faults listed per edge; the rest are counted


@dataclass(frozen=True)
class Edge:
    """An edge of the graph: a believed relation between two parts."""

    relation: str
    tail: str
    head: str
    held: tuple[Statement, ...]
    faults: tuple[tuple[int, str], ...]
    follows: bool = False
    gold: bool | None = None

    @property
    def fault(self) -> int | None:
        """The index in ``FAULTS`` of the edge's most severe fault; None if there is no fault."""
        return self.faults[0][0] if self.faults else None

    @property
    def description(self) -> str:
        """The text of the edge's tooltip: its statements, its violations and its gold label."""
        lines = [" and ".join(" ".join(statement) for statement in self.held)]
        lines += [f"violated: {why}" for _, why in self.faults[:_TOLD]]
        if len(self.faults) > _TOLD:
            lines.append(f"and {several(len(self.faults) - _TOLD, 'more violation')}")
        if self.gold is not None:
            lines.append(f"gold label: {'true' if self.gold else 'false'}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Graph:
    """The graph of one drawing, computed from one set of truth values."""

    stage: str
    edges: tuple[Edge, ...]
    statements: int
    believed: int
    violated: int
    decided: int
    undecided: int

    @cached_property
    def by_relation(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges of each relation; relations without edges are omitted."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.relation, []).append(edge)
        return {relation: tuple(edges) for relation, edges in found.items()}

    @property
    def drawn(self) -> tuple[Edge, ...]:
        """The edges to draw: all edges for which ``follows`` is False."""
        return tuple(edge for edge in self.edges if not edge.follows)


def parts_of(beliefs: pl.DataFrame) -> list[str]:
    """Return all parts: first the statements' subjects, then parts that are only objects."""
    return list(dict.fromkeys([*beliefs["subject"], *beliefs["object"]]))


def graphs_of(
    beliefs: pl.DataFrame, ontology: Ontology, stage: str, groups: Sequence[str]
) -> dict[tuple[Any, ...], Graph]:
    """Return the graph of each drawing at one stage, by the values of the group columns."""
    for name in (*STATEMENT, "p_true", stage):
        if name not in beliefs.columns:
            raise DataError(f"the beliefs have no column {name}; a parts graph needs it")
    plain = beliefs.select(*groups, *STATEMENT, "p_true", believed=stage)
    checked = check(plain, ontology, believed="believed", groups=groups)
    violations = checked.violations.partition_by(groups, as_dict=True)
    counts = {tuple(row[name] for name in groups): row for row in checked.groups.to_dicts()}
    found = {}
    for group, mine in beliefs.partition_by(groups, as_dict=True).items():
        keys = _Keys(ontology, {part: rank for rank, part in enumerate(parts_of(mine))})
        held: dict[Key, list[Statement]] = {}
        for *statement, believed in mine.select(*STATEMENT, stage).iter_rows():
            if believed:
                held.setdefault(keys.of(*statement), []).append((*statement,))
        faults = _faults(violations[group], keys) if group in violations else {}
        gold = _gold(mine, keys)
        edges = [
            Edge(*key, tuple(held[key]), tuple(sorted(faults.get(key, ()))), gold=gold.get(key))
            for key in sorted(held, key=keys.order)
        ]
        count = counts[group]
        numbers = ("statements", "believed", "violated", "applicable", "undecided")
        statements, believed, violated, applicable, undecided = (count[name] for name in numbers)
        found[group] = Graph(
            stage,
            tuple(_reduced(edges, ontology)),
            statements,
            believed,
            violated,
            applicable - undecided,
            undecided,
        )
    return found


@dataclass(frozen=True)
class _Keys:
    """Converts statements to edge keys (relation, tail, head), and orders the keys."""

    ontology: Ontology
    ranks: Mapping[str, int]

    @cached_property
    def relations(self) -> list[str]:
        return list(self.ontology.relations)

    def of(self, subject: str, relation: str, obj: str) -> Key:
        properties = self.ontology.relations[relation]
        turned = (relation, obj, subject)
        if properties.symmetric:
            return turned if self.ranks[obj] < self.ranks[subject] else (relation, subject, obj)
        inverse = properties.inverse
        if inverse and self.relations.index(inverse) < self.relations.index(relation):
            return (inverse, obj, subject)
        return (relation, subject, obj)

    def order(self, key: Key) -> tuple[int, int, int]:
        return self.relations.index(key[0]), self.ranks[key[1]], self.ranks[key[2]]


def _gold(beliefs: pl.DataFrame, keys: _Keys) -> dict[Key, bool]:
    if "label" not in beliefs.columns:
        return {}
    rows = beliefs.select("subject", "relation", "object", "label").drop_nulls()
    return {keys.of(*statement): label for *statement, label in rows.iter_rows()}


def _faults(violations: pl.DataFrame, keys: _Keys) -> dict[Key, list[tuple[int, str]]]:
    found: dict[Key, list[tuple[int, str]]] = {}
    for row in violations.iter_rows(named=True):
        fault = (_RANK[row["constraint"]], _why(row))
        for statement in _statements(row, believed=True):
            mine = found.setdefault(keys.of(*statement), [])
            if fault not in mine:
                mine.append(fault)
    return found


def _why(row: Mapping[str, Any]) -> str:
    """Describe a violation, such as ``yolk surrounds shell, and shell surrounds yolk``."""
    there = ", and ".join(" ".join(each) for each in _statements(row, believed=True))
    absent = " nor ".join(" ".join(each) for each in _statements(row, believed=False))
    return f"{there}, but not {absent}" if absent else there


def _statements(row: Mapping[str, Any], *, believed: bool) -> list[Statement]:
    return [
        (row[f"subject_{number}"], row[f"relation_{number}"], row[f"object_{number}"])
        for number in (1, 2, 3)
        if row[f"believed_{number}"] is believed
    ]


def _reduced(edges: Sequence[Edge], ontology: Ontology) -> list[Edge]:
    """Mark the edges that two other edges imply, by setting ``follows`` to True."""
    found = []
    relations = dict.fromkeys(edge.relation for edge in edges)
    for relation in relations:
        mine = [edge for edge in edges if edge.relation == relation]
        sound = {(edge.tail, edge.head) for edge in mine if not edge.faults}
        if not ontology.relations[relation].transitive or _has_cycle(sound):
            found += mine
            continue
        middles = {part for arc in sound for part in arc}
        for edge in mine:
            follows = (edge.tail, edge.head) in sound and any(
                (edge.tail, middle) in sound and (middle, edge.head) in sound for middle in middles
            )
            found.append(Edge(**(vars(edge) | {"follows": follows})))
    return found


def _has_cycle(arcs: set[tuple[str, str]]) -> bool:
    left = set(arcs)
    while left:
        tails = {tail for tail, _ in left}
        going_on = {arc for arc in left if arc[1] in tails}
        if going_on == left:
            return True
        left = going_on
    return False
