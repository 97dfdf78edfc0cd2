"""What statements imply and what they rule out, computed on Boolean arrays.

An array of statements has the shape (components, relations, n, n): the last two axes are the
subject and the object. Items that no statement connects need no common array, so the statements of
a table are divided into connected components.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.errors import RequestError

Booleans = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

Link: TypeAlias = tuple[int, int, bool]
"""Two relations r and s by index; if the Boolean is True, s has subject and object swapped."""

# Maximum number of truth values in memory at once.
_CELLS = 50_000_000


@dataclass(frozen=True)
class RelationClass:
    """A relation, or a relation and its inverse under the name that the ontology lists first."""

    name: str
    symmetric: bool
    asymmetric: bool
    transitive: bool
    irreflexive: bool


@dataclass(frozen=True)
class Rules:
    """The constraints of relations that are given by their index."""

    relations: tuple[RelationClass, ...]
    implications: tuple[Link, ...] = ()
    exclusions: tuple[Link, ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether at least one relation is transitive."""
        return any(each.transitive for each in self.relations)

    @property
    def order(self) -> bool:
        """Whether there is one relation, which is an order."""
        first, *more = self.relations
        alone = not (more or self.implications or self.exclusions)
        return alone and first.transitive and first.asymmetric


def close(true: Booleans, rules: Rules) -> None:
    """Add all implied statements to ``true`` in place."""
    own = np.eye(true.shape[-1], dtype=bool)
    before = -1
    while (now := int(true.sum())) != before:
        before = now
        for r, each in enumerate(rules.relations):
            if each.symmetric:
                true[:, r] |= swapped(true[:, r])
        for r, s, turned in rules.implications:
            true[:, s] |= swapped(true[:, r]) if turned else true[:, r]
        for r, each in enumerate(rules.relations):
            if each.transitive:
                steps = true[:, r].astype(np.float32)
                true[:, r] |= ((steps @ steps) > 0) & ~own


def denied(true: Booleans, rules: Rules) -> Booleans:
    """Return the statements that are false if those of the closed array ``true`` are true."""
    false = np.zeros_like(true)
    own = np.eye(true.shape[-1], dtype=bool)
    for r, each in enumerate(rules.relations):
        if each.asymmetric:
            false[:, r] |= swapped(true[:, r])
        if each.irreflexive:
            false[:, r] |= true[:, r] & own
    for r, s, turned in rules.exclusions:
        false[:, s] |= swapped(true[:, r]) if turned else true[:, r]
        false[:, r] |= swapped(true[:, s]) if turned else true[:, s]
    for r, each in enumerate(rules.relations):
        if each.symmetric:
            false[:, r] |= swapped(false[:, r])
    for r, s, turned in rules.implications:
        if (s, r, turned) in rules.implications:  # the two statements are equivalent
            false[:, s] |= swapped(false[:, r]) if turned else false[:, r]
    return false


def swapped(statements: Booleans) -> Booleans:
    """Return the statements with subject and object swapped."""
    return np.swapaxes(statements, -1, -2)


def components(
    ends: Integers, relation: Integers, relations: int, *sets: Booleans
) -> Iterator[tuple[Integers, Booleans]]:
    """Yield items, shape (components, n), and which statements about them each set contains.

    ``ends`` are the subject and the object of each row, and ``sets`` select rows. The rows of the
    first set connect items. The array of statements has one more axis, in front, for the sets.
    """
    rows = np.flatnonzero(sets[0])
    if not len(rows):
        return
    nodes, where = np.unique(ends[:, rows], return_inverse=True)
    links = where.reshape(2, -1)
    graph = coo_array((np.ones(len(rows)), (links[0], links[1])), shape=(len(nodes), len(nodes)))
    count, labels = connected_components(graph, directed=False)
    part: Integers = labels.astype(np.int64)
    size = np.bincount(part, minlength=count)
    most = math.isqrt(_CELLS // relations)
    if size.max() > most:
        raise RequestError(
            f"believed statements connect {size.max():,} items of one group; a check with "
            f"{relations} relations supports at most {most:,}; split the group"
        )
    members = np.argsort(part, kind="stable")
    start = np.cumsum(size) - size
    local = np.empty(len(nodes), dtype=np.int64)
    local[members] = np.arange(len(nodes)) - np.repeat(start, size)
    entries = [_entries(np.flatnonzero(one), ends, relation, nodes, part) for one in sets]
    for n in np.unique(size).tolist():
        parts = np.flatnonzero(size == n)
        step = max(1, _CELLS // (2 * n * n * relations))
        for some in (parts[begin : begin + step] for begin in range(0, len(parts), step)):
            rank = np.full(count, -1)
            rank[some] = np.arange(len(some))
            arrays = np.zeros((len(sets), len(some), relations, n, n), dtype=bool)
            for array, codes in zip(arrays, entries, strict=True):
                r, one, other = (of[rank[part[codes[1]]] >= 0] for of in codes)
                array[rank[part[one]], r, local[one], local[other]] = True
            yield nodes[members[start[some][:, None] + np.arange(n)]], arrays


def _entries(
    rows: Integers, ends: Integers, relation: Integers, nodes: Integers, part: Integers
) -> tuple[Integers, Integers, Integers]:
    """Return the relation, subject and object of the rows whose two items are in one component."""
    at = np.minimum(np.searchsorted(nodes, ends[:, rows]), len(nodes) - 1)
    inside = (nodes[at] == ends[:, rows]).all(axis=0) & (part[at[0]] == part[at[1]])
    return relation[rows[inside]], at[0, inside], at[1, inside]
