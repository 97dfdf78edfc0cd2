"""Joint consistency: whether a group's believed statements can all be true together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.coherence.constraints import Coded, Integers
    from tacit.coherence.enumeration import Booleans
    from tacit.coherence.ontology import Ontology

# Maximum number of truth values in memory at once.
_CELLS = 50_000_000


@dataclass(frozen=True)
class _Rules:
    """The constraints of an ontology, in which each relation is represented by its index."""

    symmetric: list[int]
    transitive: list[int]
    asymmetric: list[int]
    irreflexive: list[int]
    implied: list[tuple[int, int]]
    inverse: list[tuple[int, int]]
    excluded: list[tuple[int, int]]


def jointly_consistent(coded: Coded, believed: Booleans, ontology: Ontology) -> Booleans:
    """Return, for each group, whether its believed statements can all be true together.

    Disbelieved statements are ignored. The closure of the believed statements consists of the
    believed statements and all statements that they imply. The beliefs of a group are consistent if
    and only if the closure of the believed statements violates no constraint.

    Args:
        coded: The beliefs, encoded as integers.
        believed: For each row of the table of beliefs, whether its statement is believed.
        ontology: The ontology, which defines the constraints.

    Returns:
        For each group, whether its believed statements can all be true together.

    Raises:
        RequestError: If believed statements connect more items of a group than the check supports.
    """
    consistent = np.ones(len(coded.groups), dtype=bool)
    rows = np.flatnonzero(believed)
    if not len(rows):
        return consistent
    rules = _rules(ontology)
    width = len(coded.items)
    ends = np.stack([coded.subject[rows], coded.object[rows]])
    nodes, where = np.unique(coded.group[rows] * width + ends, return_inverse=True)
    first, second = where.reshape(2, -1)
    # Consequences connect only items that a chain of beliefs connects.
    graph = coo_array((np.ones(len(rows)), (first, second)), shape=(len(nodes), len(nodes)))
    count, part = connected_components(graph, directed=False)
    by_part = np.argsort(part, kind="stable")
    size = np.bincount(part, minlength=count)
    most = math.isqrt(_CELLS // len(ontology.relations))
    if size.max() > most:
        raise RequestError(
            f"believed statements connect {size.max():,} items of one group; a check with "
            f"{len(ontology.relations)} relations supports at most {most:,}; split the group"
        )
    local = np.empty(len(nodes), dtype=np.int64)
    local[by_part] = np.arange(len(nodes)) - np.repeat(np.cumsum(size) - size, size)
    group = np.zeros(count, dtype=np.int64)
    group[part[first]] = coded.group[rows]
    for n in np.unique(size).tolist():
        parts = np.flatnonzero(size == n)
        step = max(1, _CELLS // (n * n * len(ontology.relations)))
        for begin in range(0, len(parts), step):
            some = parts[begin : begin + step]
            rank = np.full(count, -1)
            rank[some] = np.arange(len(some))
            mine = np.flatnonzero(rank[part[first]] >= 0)
            true = np.zeros((len(some), len(ontology.relations), n, n), dtype=bool)
            at = (rank[part[first[mine]]], coded.relation[rows[mine]])
            true[*at, local[first[mine]], local[second[mine]]] = True
            _close(true, rules)
            consistent[group[some[_breaks(true, rules)]]] = False
    return consistent


def minimal_clash(coded: Coded, believed: Booleans, ontology: Ontology, group: int) -> Integers:
    """Return believed statements of a group that cannot all be true, without superfluous ones.

    If any of the returned statements is left out, the others can all be true together. The
    statements are found by divide and conquer, as in the algorithm QuickXplain (Junker 2004).

    Args:
        coded: The beliefs, encoded as integers.
        believed: For each row of the table of beliefs, whether its statement is believed.
        ontology: The ontology, which defines the constraints.
        group: The group, as an index into ``coded.groups``. Its believed statements cannot all be
            true together.

    Returns:
        The rows of the statements in the table of beliefs, in ascending order.
    """

    def possible(rows: Integers) -> bool:
        chosen = np.zeros_like(believed)
        chosen[rows] = True
        return bool(jointly_consistent(coded, chosen, ontology)[group])

    def needed(kept: Integers, rows: Integers, *, grown: bool) -> Integers:
        """Return the rows that are needed for a clash in addition to the kept rows."""
        if grown and not possible(kept):
            return rows[:0]
        if len(rows) == 1:
            return rows
        first, second = np.array_split(rows, 2)
        later = needed(np.concatenate([kept, first]), second, grown=True)
        earlier = needed(np.concatenate([kept, later]), first, grown=len(later) > 0)
        return np.concatenate([earlier, later])

    rows = np.flatnonzero(believed & (coded.group == group))
    return np.sort(needed(rows[:0], rows, grown=False))


def _close(true: Booleans, rules: _Rules) -> None:
    """Add all implied statements to the Boolean array ``true`` in place.

    ``true`` has the shape (components, relations, n, n).
    """
    own = np.eye(true.shape[-1], dtype=bool)
    before = -1
    while (now := int(true.sum())) != before:
        before = now
        for r in rules.symmetric:
            true[:, r] |= _turned(true[:, r])
        for r, s in rules.inverse:
            true[:, s] |= _turned(true[:, r])
        for r, s in rules.implied:
            true[:, s] |= true[:, r]
        for r in rules.transitive:
            steps = true[:, r].astype(np.float32)
            true[:, r] |= ((steps @ steps) > 0) & ~own


def _breaks(true: Booleans, rules: _Rules) -> Integers:
    """Return the indices of the connected components in which a constraint is violated."""
    broken = np.zeros(len(true), dtype=bool)
    for r in rules.asymmetric:
        broken |= (true[:, r] & _turned(true[:, r])).any(axis=(1, 2))
    for r in rules.irreflexive:
        broken |= np.diagonal(true[:, r], axis1=1, axis2=2).any(axis=1)
    for r, s in rules.excluded:
        broken |= (true[:, r] & true[:, s]).any(axis=(1, 2))
    return np.flatnonzero(broken)


def _turned(true: Booleans) -> Booleans:
    return np.swapaxes(true, 1, 2)


def _rules(ontology: Ontology) -> _Rules:
    numbers = {name: number for number, name in enumerate(ontology.relations)}
    relations = ontology.relations.values()

    def having(flag: str) -> list[int]:
        return [numbers[each.name] for each in relations if getattr(each, flag)]

    def links(key: str) -> list[tuple[int, int]]:
        return [
            (numbers[each.name], numbers[other])
            for each in relations
            for other in getattr(each, key)
        ]

    return _Rules(
        having("symmetric"),
        having("transitive"),
        having("asymmetric"),
        having("irreflexive"),
        links("implies"),
        [(numbers[each.name], numbers[each.inverse]) for each in relations if each.inverse],
        links("excludes"),
    )
