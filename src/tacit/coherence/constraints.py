"""Split the relations of an ontology into families that can be repaired independently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from tacit.coherence.closure import Booleans, Integers, Link, Rules, consequences
from tacit.coherence.components import families
from tacit.coherence.ontology import Ontology
from tacit.coherence.relation import Relation


@dataclass(frozen=True)
class Families:
    """Families of relations, which can be repaired independently.

    A relation and its inverse are one relation of a family. ``places`` are, for each relation of
    the ontology, its family, its position there, and whether subject and object are swapped there.
    """

    relations: tuple[Relation, ...]
    rules: tuple[Rules, ...]
    places: tuple[Integers, Integers, Booleans]


@dataclass(frozen=True)
class Clauses:
    """All statements about n items, and their constraints except transitive constraints."""

    variables: Integers
    implications: Integers
    exclusions: Integers
    index: Integers


def families_of(ontology: Ontology) -> Families:
    """Divide the relations of an ontology into those that no constraint connects."""
    rules = ontology.rules
    count = len(rules.relations)
    first = np.arange(count)
    for r, s, turned in rules.implications:
        first[r] = min(r, s) if turned else first[r]
    reversed_ = first != np.arange(count)
    family, position = np.zeros((2, count), dtype=np.int64)
    found = []
    for number, (members, mine) in enumerate(families(rules)):
        family[members] = number
        kept = members[~reversed_[members]]
        position[members] = np.searchsorted(kept, first[members])
        links = [
            _merged(each, members, position, reversed_)
            for each in (mine.implications, mine.exclusions)
        ]
        found.append(Rules(tuple(rules.relations[r] for r in kept), *links))
    return Families(rules.relations, tuple(found), (family, position, reversed_))


def _merged(
    links: tuple[Link, ...], members: Integers, position: Integers, reversed_: Booleans
) -> tuple[Link, ...]:
    """Return links between relations of which each stands for its inverse as well."""
    each = {
        (
            int(position[members[r]]),
            int(position[members[s]]),
            bool(reversed_[members[r]] ^ reversed_[members[s]] ^ turned),
        )
        for r, s, turned in links
    }
    # A relation and its inverse are one, which implies itself.
    return tuple(sorted(link for link in each if link[0] != link[1] or link[2]))


@lru_cache(maxsize=64)
def clauses_of(rules: Rules, n: int) -> Clauses:
    """Return the statements about n items, and their constraints except transitive ones."""
    there = np.ones((len(rules.relations), n, n), dtype=bool)
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
        np.stack([index[c, i, j], index[c, j, k], index[c, i, k]], axis=1)
        for c, each in enumerate(rules.relations)
        if each.transitive
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
