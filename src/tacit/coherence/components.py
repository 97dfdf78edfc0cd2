"""Connected components: what no constraint connects needs no common array or problem."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.coherence.closure import Booleans, Integers, Link, Rules
from tacit.english import several
from tacit.errors import RequestError

# Maximum ratio of the width of a table to the number of its entries.
_SPARSE = 4
# Maximum number of truth values in memory at once.
_CELLS = 50_000_000


def connected(ends: Integers, links: Booleans, keys: Booleans | None = None) -> Integers:
    """Return the component of each row, or -1 if its two ends are in different components.

    ``ends``, shape (2, rows), are the nodes of each row; the rows in ``links`` connect theirs.
    Where ``keys`` is False, an end is only connected to the ends of rows with the same two ends.
    """
    nodes, where = distinct(ends)
    one, other = where.reshape(2, -1)
    if keys is not None:
        low, high = np.minimum(one, other), np.maximum(one, other)
        pairs = len(nodes) + distinct(low * len(nodes) + high)[1]
        shared = np.where(keys & (one != other), [one, other], pairs)
        twice = np.hstack([shared, [pairs, shared[0]]])
        return connected(twice, np.tile(links, 2))[: len(links)]
    edges = (np.ones(int(links.sum())), (one[links], other[links]))
    graph = coo_array(edges, shape=(len(nodes), len(nodes)))
    part = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.where(part[one] == part[other], part[one], -1)


def distinct(numbers: Integers) -> tuple[Integers, Integers]:
    """Return ``np.unique(numbers, return_inverse=True)`` of integers from 0; without sorting."""
    width = int(numbers.max(initial=-1)) + 1
    if width > _SPARSE * numbers.size:
        each, where = np.unique(numbers, return_inverse=True)
        return each, where
    held = np.zeros(width, dtype=bool)
    held[numbers] = True
    index = held.cumsum(dtype=np.int32) - 1
    return np.flatnonzero(held), index[numbers].astype(np.int64)


@lru_cache(maxsize=64)
def families(rules: Rules) -> tuple[tuple[Integers, Rules], ...]:
    """Divide relations into those that no constraint connects: their indices, and their rules."""
    count = len(rules.relations)
    links = [(r, s) for r, s, _ in (*rules.implications, *rules.exclusions)]
    ends = np.array([*((r, r) for r in range(count)), *links]).T
    family = connected(ends, np.ones(ends.shape[1], dtype=bool))[:count]
    found = []
    for number in range(int(family.max(initial=-1)) + 1):
        members = np.flatnonzero(family == number)
        at = {r: position for position, r in enumerate(members.tolist())}

        def inside(links: tuple[Link, ...], at: dict[int, int] = at) -> tuple[Link, ...]:
            return tuple((at[r], at[s], turned) for r, s, turned in links if r in at)

        mine = tuple(rules.relations[r] for r in at)
        found.append((members, Rules(mine, inside(rules.implications), inside(rules.exclusions))))
    return tuple(found)


@dataclass(frozen=True)
class SameSize:
    """All components of n items: ``items``, shape (components, n), and the rows about them.

    ``component`` and ``ends``, shape (2, rows), are positions in ``items``.
    """

    items: Integers
    rows: Integers
    component: Integers
    ends: Integers


def by_size(ends: Integers, part: Integers) -> Iterator[SameSize]:
    """Yield the components of each number of items; rows with part -1 are ignored."""
    rows = np.flatnonzero(part >= 0)
    part = distinct(part[rows])[1]
    width = int(ends.max(initial=0)) + 1
    keys = part * width + ends[:, rows]
    nodes, where = distinct(keys)
    start = np.searchsorted(nodes // width, np.arange(part.max(initial=-1) + 1))
    size = np.diff(np.append(start, len(nodes)))
    local = where.reshape(2, -1) - start[part]
    for n in np.unique(size).tolist():
        mine = np.flatnonzero(size == n)
        rank = np.full(len(size), -1)
        rank[mine] = np.arange(len(mine))
        inside = rank[part] >= 0
        items = nodes[start[mine][:, None] + np.arange(n)] % width
        yield SameSize(items, rows[inside], rank[part[inside]], local[:, inside])


@dataclass(frozen=True)
class Arrays:
    """Components of one size, of one family of relations.

    ``items`` have the shape (components, n), and ``sets`` the shape (sets, components, relations,
    n, n); ``relations`` are the indices of the family's relations among all.
    """

    relations: Integers
    rules: Rules
    items: Integers
    sets: Booleans


def arrays(ends: Integers, relation: Integers, rules: Rules, *sets: Booleans) -> Iterator[Arrays]:
    """Yield items, and which statements about them each set contains.

    ``ends`` are the subject and the object of each row, and ``sets`` select rows. The rows of the
    first set connect items.
    """
    held = np.any(sets, axis=0)
    for members, mine in families(rules):
        inside = np.isin(np.arange(len(rules.relations)), members)
        rows = np.flatnonzero(held & inside[relation])
        own, chosen = np.searchsorted(members, relation[rows]), [each[rows] for each in sets]
        part = connected(ends[:, rows], chosen[0], mine.keys[:, own])
        most = math.isqrt(_CELLS // len(members))
        for same in by_size(ends[:, rows], part):
            count, n = same.items.shape
            if n > most:
                raise RequestError(
                    f"believed statements connect {n:,} items of one group; a check with "
                    f"{several(len(members), 'connected relation')} supports at most {most:,}; "
                    "split the group"
                )
            step = max(1, _CELLS // (2 * n * n * len(members)))
            for begin in range(0, count, step):
                items = same.items[begin : begin + step]
                found = np.zeros((len(sets), len(items), len(members), n, n), dtype=bool)
                some = (begin <= same.component) & (same.component < begin + step)
                for array, each in zip(found, chosen, strict=True):
                    here = some & each[same.rows]
                    at = (same.component[here] - begin, own[same.rows[here]])
                    array[*at, *same.ends[:, here]] = True
                yield Arrays(members, mine, items, found)
