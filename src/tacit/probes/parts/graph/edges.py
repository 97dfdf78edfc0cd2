"""From the beliefs about one drawing to what is drawn: pictures of stages, made of edges.

An edge stands for a statement and for the ones that say the same: of an inverse pair the relation
that the ontology names first, of a symmetric relation the pair of parts in their order. Its faults
are the violated constraints that it has a part in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.coherence.check import check
from tacit.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.coherence.ontology import Ontology

    Statement = tuple[str, str, str]  # subject, relation, object
    Key = tuple[str, str, str]  # relation, tail, head

BEFORE = "before"
"""The stage of the raw beliefs."""

# The kinds of constraint by how their violation is drawn.
FAULTS = (
    ("believed both ways round", ("asymmetric", "excludes")),
    ("believed in one of two wordings that say the same", ("inverse", "symmetric", "implies")),
    ("chain of two without what follows", ("transitive",)),
)
_RANK = {kind: rank for rank, (_, kinds) in enumerate(FAULTS) for kind in kinds}
_TOLD = 6  # faults listed for one edge; the rest is counted


@dataclass(frozen=True)
class Edge:
    """What is believed about two parts in one relation, in either wording.

    Args:
        relation: The relation, the first of its inverse pair in the ontology.
        tail: Its subject.
        head: Its object.
        held: The statements believed, one or two.
        faults: (rank in ``FAULTS``, what clashes) of each violated constraint, gravest first.
        follows: Whether two other edges make it true, so that it need not be drawn.
        gold: What the annotator's drawing implies of it, or None.
    """

    relation: str
    tail: str
    head: str
    held: tuple[Statement, ...]
    faults: tuple[tuple[int, str], ...]
    follows: bool = False
    gold: bool | None = None

    @property
    def fault(self) -> int | None:
        """The rank of its gravest fault; None when it has none."""
        return self.faults[0][0] if self.faults else None

    @property
    def description(self) -> str:
        """All about it in words, one thing per line."""
        lines = [" and ".join(" ".join(statement) for statement in self.held)]
        lines += [f"violated: {why}" for _, why in self.faults[:_TOLD]]
        if len(self.faults) > _TOLD:
            lines.append(f"and {len(self.faults) - _TOLD} more violated")
        if self.gold is not None:
            lines.append(f"by the annotator's drawing: {'true' if self.gold else 'false'}")
        return "\n".join(lines)


@dataclass(frozen=True)
class Graph:
    """One stage of one drawing.

    Args:
        stage: The column that it was read from.
        edges: In the order of relations, tails and heads.
        statements: How many statements there are.
        believed: How many of them are true in this stage.
        violated: How many constraints are violated.
        decided: How many of those that apply are violated or kept.
        undecided: How many apply and are undecided.
    """

    stage: str
    edges: tuple[Edge, ...]
    statements: int
    believed: int
    violated: int
    decided: int
    undecided: int

    @cached_property
    def by_relation(self) -> Mapping[str, tuple[Edge, ...]]:
        """The edges of each relation that has any."""
        found: dict[str, list[Edge]] = {}
        for edge in self.edges:
            found.setdefault(edge.relation, []).append(edge)
        return {relation: tuple(edges) for relation, edges in found.items()}

    @property
    def drawn(self) -> tuple[Edge, ...]:
        """The edges but for those that follow."""
        return tuple(edge for edge in self.edges if not edge.follows)


def parts_of(beliefs: pl.DataFrame) -> list[str]:
    """The parts in order of first mention."""
    return list(dict.fromkeys([*beliefs["subject"], *beliefs["object"]]))


def graph_of(beliefs: pl.DataFrame, ontology: Ontology, stage: str) -> Graph:
    """The edges of one stage.

    Args:
        beliefs: subject, relation, object, p_true, a Boolean column ``stage`` and, when there is
            gold, ``label``, about one drawing.
        ontology: The relations and their constraints.
        stage: The column that says what is true in it (null = not known). A statement without
            a belief is not known in the stage ``before``.

    Raises:
        DataError: A column is missing, or a statement is malformed or there twice.
    """
    import polars as pl

    for name in ("subject", "relation", "object", "p_true", stage):
        if name not in beliefs.columns:
            raise DataError(f"the beliefs have no column {name}, which their graph needs")
    true = pl.col(stage)
    if stage == BEFORE:
        true = pl.when(pl.col("p_true").is_not_null()).then(true)
    plain = beliefs.select("subject", "relation", "object", "p_true", believed=true)
    checked = check(plain, ontology, believed="believed")
    keys = _Keys(ontology, {part: rank for rank, part in enumerate(parts_of(beliefs))})
    held: dict[Key, list[Statement]] = {}
    for *statement, _, believed in plain.iter_rows():
        if believed:
            held.setdefault(keys.of(*statement), []).append((*statement,))
    faults = _faults(checked.violations, keys)
    gold = _gold(beliefs, keys)
    edges = [
        Edge(*key, tuple(held[key]), tuple(sorted(faults.get(key, ()))), gold=gold.get(key))
        for key in sorted(held, key=keys.order)
    ]
    total = checked.total
    return Graph(
        stage,
        tuple(_reduced(edges, ontology)),
        checked.statements,
        checked.believed,
        total.violated,
        total.decided,
        total.undecided,
    )


@dataclass(frozen=True)
class _Keys:
    """Which edge a statement belongs to, and the order of edges."""

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
    """What clashes: ``yolk surrounds shell, and shell surrounds yolk``."""
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
    """Marks the edges that follow from others, where nothing about them is in doubt.

    Only faultless edges of a transitive relation follow or make others follow, and only when they
    have no cycle: then what is left out can be had back from what is drawn.
    """
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
