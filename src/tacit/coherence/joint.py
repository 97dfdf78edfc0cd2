"""Joint consistency: whether a group's believed statements can all be true together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.coherence.violations import KINDS
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

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


@dataclass(frozen=True)
class Examined:
    """Whether the beliefs of each group are consistent, and the counts of its constraints."""

    consistent: Booleans
    violated: Mapping[str, Integers]
    applicable: Mapping[str, Integers]
    undecided: Mapping[str, Integers]


def examine(
    coded: Coded, believed: Booleans, disbelieved: Booleans, ontology: Ontology
) -> Examined:
    """Count the constraints of each group as `violations.applicable` lists them."""
    rules = _rules(ontology)
    consistent = np.ones(len(coded.groups), dtype=bool)
    numbers = [
        {kind: np.zeros(len(coded.groups), dtype=np.int64) for kind in KINDS} for _ in range(3)
    ]
    for group, true, false in _components(coded, believed, disbelieved, ontology):
        for kind, *counts in _counted(true, true | false, rules):
            for number, count in zip(numbers, counts, strict=True):
                np.add.at(number[kind], group, count.sum(axis=(1, 2), dtype=np.int64))
        _close(true, rules)
        consistent[group[_breaks(true, rules)]] = False
    return Examined(consistent, *numbers)


def jointly_consistent(coded: Coded, believed: Booleans, ontology: Ontology) -> Booleans:
    """Return, for each group, whether its believed statements can all be true together."""
    consistent = np.ones(len(coded.groups), dtype=bool)
    rules = _rules(ontology)
    for group, true, _ in _components(coded, believed, np.zeros_like(believed), ontology):
        _close(true, rules)
        consistent[group[_breaks(true, rules)]] = False
    return consistent


def _components(
    coded: Coded, believed: Booleans, disbelieved: Booleans, ontology: Ontology
) -> Iterator[tuple[Integers, Booleans, Booleans]]:
    """Yield the groups of components, and whether their statements are believed, or disbelieved."""
    rows = np.flatnonzero(believed)
    if not len(rows):
        return
    width, relations = len(coded.items), len(ontology.relations)
    ends = np.stack([coded.group * width + coded.subject, coded.group * width + coded.object])
    nodes, where = np.unique(ends[:, rows], return_inverse=True)
    links = where.reshape(2, -1)
    graph = coo_array((np.ones(len(rows)), (links[0], links[1])), shape=(len(nodes), len(nodes)))
    count, part = connected_components(graph, directed=False)
    size = np.bincount(part, minlength=count)
    most = math.isqrt(_CELLS // relations)
    if size.max() > most:
        raise RequestError(
            f"believed statements connect {size.max():,} items of one group; a check with "
            f"{relations} relations supports at most {most:,}; split the group"
        )
    local = np.empty(len(nodes), dtype=np.int64)
    local[np.argsort(part, kind="stable")] = np.arange(len(nodes)) - np.repeat(
        np.cumsum(size) - size, size
    )
    group = np.zeros(count, dtype=np.int64)
    group[part[links[0]]] = coded.group[rows]

    def entries(rows: Integers) -> tuple[Integers, ...]:
        """The component, relation, subject and object of the rows whose items it connects."""
        at = np.minimum(np.searchsorted(nodes, ends[:, rows]), len(nodes) - 1)
        inside = (nodes[at] == ends[:, rows]).all(axis=0) & (part[at[0]] == part[at[1]])
        one, other = at[:, inside]
        return part[one], coded.relation[rows[inside]], local[one], local[other]

    held, denied = entries(rows), entries(np.flatnonzero(disbelieved))
    for n in np.unique(size).tolist():
        parts = np.flatnonzero(size == n)
        step = max(1, _CELLS // (2 * n * n * relations))
        for begin in range(0, len(parts), step):
            some = parts[begin : begin + step]
            rank = np.full(count, -1)
            rank[some] = np.arange(len(some))
            arrays = np.zeros((2, len(some), relations, n, n), dtype=bool)
            for array, (of, *place) in zip(arrays, (held, denied), strict=True):
                mine = rank[of] >= 0
                array[rank[of[mine]], *(each[mine] for each in place)] = True
            yield group[some], arrays[0], arrays[1]


def minimal_clash(coded: Coded, believed: Booleans, ontology: Ontology, group: int) -> Integers:
    """Return believed statements of a group that cannot all be true, without superfluous ones."""

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


def _counted(true: Booleans, known: Booleans, rules: _Rules) -> Iterator[tuple[Any, ...]]:
    """Yield kinds of constraint, and where they are violated, apply and are undecided."""
    n = true.shape[-1]
    apart, above = ~np.eye(n, dtype=bool), np.triu(np.ones((n, n), dtype=bool), 1)
    for kind, relations in (("symmetric", rules.symmetric), ("asymmetric", rules.asymmetric)):
        for r in relations:
            back = _turned(true[:, r])
            alone, both = true[:, r] & ~back & apart, true[:, r] & back & above
            unknown = alone & ~_turned(known[:, r])
            violated = both if kind == "asymmetric" else alone & ~unknown
            yield kind, violated, alone | both, unknown
    for r, s in rules.inverse:
        alone = true[:, r] & ~_turned(true[:, s])
        unknown = alone & ~_turned(known[:, s])
        yield "inverse", alone & ~unknown, true[:, r] if r < s else alone, unknown
    for r in rules.transitive:
        steps = (true[:, r] & apart).astype(np.float32)
        chains = (steps @ steps) * apart
        yield (
            "transitive",
            chains * (known[:, r] & ~true[:, r]),
            chains,
            chains * ~known[:, r],
        )
    for r, s in set(rules.implied):
        unknown = true[:, r] & ~known[:, s]
        yield "implies", true[:, r] & known[:, s] & ~true[:, s], true[:, r], unknown
    for r, s in {(min(link), max(link)) for link in rules.excluded}:
        one, other = true[:, r], true[:, s]
        unknown = (one & ~known[:, s]) | (other & ~known[:, r])
        yield "excludes", one & other, one | other, unknown


def _close(true: Booleans, rules: _Rules) -> None:
    """Add all implied statements to the Boolean array ``true`` in place."""
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
