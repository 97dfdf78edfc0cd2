"""Connected components of items: what no statement connects needs no common array or problem."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.coherence.closure import Booleans, Integers
from tacit.errors import RequestError

# Maximum number of truth values in memory at once.
_CELLS = 50_000_000


def connected(ends: Integers, links: Booleans) -> Integers:
    """Return the component of each row, or -1 if its two ends are in different components.

    ``ends``, shape (2, rows), are the nodes of each row; the rows in ``links`` connect theirs.
    """
    nodes, where = np.unique(ends, return_inverse=True)
    one, other = where.reshape(2, -1)
    edges = (np.ones(int(links.sum())), (one[links], other[links]))
    graph = coo_array(edges, shape=(len(nodes), len(nodes)))
    part = connected_components(graph, directed=False)[1].astype(np.int64)
    return np.where(part[one] == part[other], part[one], -1)


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
    part = np.unique(part[rows], return_inverse=True)[1]
    width = int(ends.max(initial=0)) + 1
    keys = part * width + ends[:, rows]
    nodes, where = np.unique(keys, return_inverse=True)
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


def arrays(
    ends: Integers, relation: Integers, relations: int, *sets: Booleans
) -> Iterator[tuple[Integers, Booleans]]:
    """Yield items, shape (components, n), and which statements about them each set contains.

    ``ends`` are the subject and the object of each row, and ``sets`` select rows. The rows of the
    first set connect items. The array of statements has one more axis, in front, for the sets.
    """
    part = np.where(np.any(sets, axis=0), connected(ends, sets[0]), -1)
    most = math.isqrt(_CELLS // relations)
    for same in by_size(ends, part):
        count, n = same.items.shape
        if n > most:
            raise RequestError(
                f"believed statements connect {n:,} items of one group; a check with "
                f"{relations} relations supports at most {most:,}; split the group"
            )
        step = max(1, _CELLS // (2 * n * n * relations))
        for begin in range(0, count, step):
            items = same.items[begin : begin + step]
            found = np.zeros((len(sets), len(items), relations, n, n), dtype=bool)
            some = (begin <= same.component) & (same.component < begin + step)
            for array, chosen in zip(found, sets, strict=True):
                mine = some & chosen[same.rows]
                at = (same.component[mine] - begin, relation[same.rows[mine]])
                array[*at, *same.ends[:, mine]] = True
            yield items, found
