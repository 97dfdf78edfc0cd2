"""The statements about n items, and the constraints on them, as arrays of integers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.coherence.closure import Integers, Link, Rules, consequences


@dataclass(frozen=True)
class Clauses:
    """All statements about n items, and their constraints except transitive constraints.

    Equivalent statements, such as inverse ones, are one variable: relation, subject and object.
    """

    variables: Integers
    implications: Integers
    exclusions: Integers
    index: Integers


@lru_cache(maxsize=64)
def clauses_of(rules: Rules, n: int) -> Clauses:
    """Return the statements about n items, and their constraints except transitive ones."""
    canonical = rules.canonical
    there = np.zeros((len(canonical), n, n), dtype=bool)
    there[np.unique(canonical)] = True
    for position, each in enumerate(rules.relations):
        if n > 1:
            np.fill_diagonal(there[position], val=False)
        if each.symmetric:
            there[position] &= np.triu(there[position])
    variables = np.argwhere(there).astype(np.int64)
    index = np.full(there.shape, -1, dtype=np.int64)
    index[there] = np.arange(len(variables))
    for position, each in enumerate(rules.relations):
        if each.symmetric:
            index[position] = np.maximum(index[position], index[position].T)
    for inverse in np.flatnonzero(canonical != np.arange(len(canonical))):
        index[inverse] = index[canonical[inverse]].T
    implied, excluded = consequences(rules, min(n, 2))
    first, then = _linked(implied, variables, index)
    implications = _sorted(first[first != then], then[first != then], len(variables))
    links = [_linked(excluded, variables, index)]
    links += [
        pairs
        for each, here in zip(rules.relations, index, strict=True)
        for unique, of in ((each.functional, here), (each.inverse_functional, here.T))
        for pairs in (_pairs(of) if unique else ())
    ]
    one, other = (np.concatenate(ends) for ends in zip(*links, strict=True))
    exclusions = _sorted(np.minimum(one, other), np.maximum(one, other), len(variables))
    return Clauses(variables, implications, exclusions, index)


def _pairs(statements: Integers) -> Iterator[tuple[Integers, Integers]]:
    """Yield, for each row, all pairs of its statements (-1 where there is none)."""
    for row in statements:
        among = row[row >= 0]
        one, other = np.triu_indices(len(among), 1)
        yield among[one], among[other]


def triples_of(rules: Rules, n: int) -> Integers:
    """Return all transitive constraints on n items as (premise, premise, conclusion) rows."""
    index = clauses_of(rules, n).index
    i, j, k = (axis.ravel() for axis in np.indices((n, n, n)))
    different = (i != j) & (j != k) & (i != k)
    i, j, k = i[different], j[different], k[different]
    found = [
        np.stack([index[c, i, j], index[c, j, k], index[c, i, k]], axis=1) for c in rules.transitive
    ]
    return np.concatenate([*found, np.empty((0, 3), dtype=np.int64)])


def _linked(
    links: Sequence[Link], variables: Integers, index: Integers
) -> tuple[Integers, Integers]:
    """Return two arrays: the first and second statement of each implication or exclusion."""
    nothing = np.empty(0, dtype=np.int64)
    ones, others = [nothing], [nothing]
    for a, b, turned in links:
        numbers = np.flatnonzero(variables[:, 0] == a)
        i, j = variables[numbers, 1], variables[numbers, 2]
        ones.append(numbers)
        others.append(index[b, j, i] if turned else index[b, i, j])
    return np.concatenate(ones), np.concatenate(others)


def _sorted(one: Integers, other: Integers, count: int) -> Integers:
    """Return the distinct pairs of statements in ascending order, shape (m, 2)."""
    keys = np.unique(one * max(1, count) + other)
    return np.stack(np.divmod(keys, max(1, count)), axis=1)
