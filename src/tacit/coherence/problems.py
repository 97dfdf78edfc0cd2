"""Split the repair of beliefs into independent problems."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tacit.coherence.constraints import clauses_of
from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.coherence.constraints import Coded, Family, Integers, Membership
    from tacit.coherence.enumeration import Booleans

# Tables of all triples of items are in memory: about 1 GB each for this many items.
MOST_JOINED = 500


@dataclass(frozen=True)
class Variables:
    """The true/false variables of a repair; equivalent statements share one variable."""

    group: Integers
    family: Integers
    position: Integers
    first: Integers
    second: Integers
    weight: Integers
    of_row: Integers


@dataclass(frozen=True)
class Bucket:
    """A bucket: repair problems with the same relations and the same number of items."""

    family: int
    group: Integers
    items: Integers
    weights: Integers
    variables: Integers
    places: Integers


def variables_of(
    coded: Coded, weights: Integers, families: Sequence[Family], places: Sequence[Membership]
) -> Variables:
    """Merge equivalent statements, such as inverse statements, into one shared variable."""
    family = np.array([place.family for place in places])[coded.relation]
    position = np.array([place.position for place in places])[coded.relation]
    turned = np.array([place.turned for place in places])[coded.relation]
    first = np.where(turned, coded.object, coded.subject)
    second = np.where(turned, coded.subject, coded.object)
    symmetric = np.array([families[p.family].classes[p.position].symmetric for p in places])
    swapped = symmetric[coded.relation] & (first > second)
    first, second = np.where(swapped, second, first), np.where(swapped, first, second)
    keys = np.stack([coded.group, family, position, first, second], axis=1)
    order = np.lexsort(keys.T[::-1])
    fresh = np.ones(len(order), dtype=bool)
    fresh[1:] = (keys[order][1:] != keys[order][:-1]).any(axis=1)
    of_row = np.empty(len(order), dtype=np.int64)
    of_row[order] = np.cumsum(fresh) - 1
    total = np.zeros(int(fresh.sum()), dtype=np.int64)
    np.add.at(total, of_row, weights)
    group, family, position, first, second = keys[order][fresh].T
    return Variables(group, family, position, first, second, total, of_row)


def split(variables: Variables, families: Sequence[Family]) -> list[Bucket]:
    """Split the variables into independent repair problems, grouped by family and size."""
    part = _components(variables, families)
    inside = np.flatnonzero(part >= 0)
    part = np.unique(part[inside], return_inverse=True)[1]
    ends = np.concatenate([variables.first[inside], variables.second[inside]])
    width = int(ends.max(initial=0)) + 1
    nodes, where = np.unique(np.tile(part, 2) * width + ends, return_inverse=True)
    start = np.searchsorted(nodes // width, np.arange(part.max(initial=-1) + 1))
    size = np.diff(np.append(start, len(nodes)))
    if size.max(initial=0) > MOST_JOINED:
        raise RequestError(
            "statements of a transitive relation with positive weight connect "
            f"{size.max():,} items of one group; repair supports at most {MOST_JOINED:,}; "
            "split the group, or remove statements with a small weight"
        )
    local = where.reshape(2, -1) - start[part]
    example = np.zeros(len(size), dtype=np.int64)
    example[part] = inside
    buckets = []
    for family in range(len(families)):
        mine = variables.family[example] == family
        for n in np.unique(size[mine]):
            problems = np.flatnonzero(mine & (size == n))
            rank = np.full(len(size), -1)
            rank[problems] = np.arange(len(problems))
            chosen = np.flatnonzero(rank[part] >= 0)
            clauses = clauses_of(families[family], int(n))
            index = clauses.index[
                variables.position[inside[chosen]], local[0][chosen], local[1][chosen]
            ]
            weights = np.zeros((len(problems), len(clauses.variables)), dtype=np.int64)
            weights[rank[part[chosen]], index] = variables.weight[inside[chosen]]
            buckets.append(
                Bucket(
                    family,
                    variables.group[example[problems]],
                    nodes[start[problems][:, None] + np.arange(n)] % width,
                    weights,
                    inside[chosen],
                    np.stack([rank[part[chosen]], index], axis=1),
                )
            )
    return buckets


def tie_numbers(family: Family, items: Sequence[str]) -> Integers:
    """Compute each statement's tie-breaking number (0 to 4,095) from the statement's words."""
    numbers = [
        _tie_number(family.classes[position].name, items[i], items[j])
        for position, i, j in clauses_of(family, len(items)).variables.tolist()
    ]
    return np.array(numbers, dtype=np.int64)


@lru_cache(maxsize=1 << 17)  # every objective asks for the same statements
def _tie_number(relation: str, subject: str, obj: str) -> int:
    words = f"{relation}\t{subject}\t{obj}".encode()
    return int.from_bytes(hashlib.blake2b(words, digest_size=2).digest()) & 4095


def orders_at_no_loss(variables: Variables, families: Sequence[Family]) -> Booleans:
    """Return which variables belong to an order relation without negative weights."""
    order = np.array([family.order for family in families])[variables.family]
    keys = variables.group * len(families) + variables.family
    against = np.zeros(int(keys.max(initial=-1)) + 1, dtype=bool)
    np.logical_or.at(against, keys, variables.weight < 0)
    lossless: Booleans = order & ~against[keys]
    return lossless


def _components(variables: Variables, families: Sequence[Family]) -> Integers:
    """For each variable, return the index of its problem; -1 if it belongs to no problem."""
    transitive = np.array([family.transitive for family in families])[variables.family]
    alone = variables.first == variables.second
    spread = transitive & ~alone
    # A statement of weight 0 can be true at no cost, so it counts as wanted, except in orders
    # without negative weights, where any statement can be true at no cost.
    wanted = np.where(
        orders_at_no_loss(variables, families), variables.weight > 0, variables.weight >= 0
    )
    width = int(max(variables.first.max(initial=0), variables.second.max(initial=0))) + 1
    keys = (variables.group * len(families) + variables.family) * width
    nodes, where = np.unique(
        np.concatenate([keys + variables.first, keys + variables.second]), return_inverse=True
    )
    first, second = where.reshape(2, -1)
    links = spread & wanted
    graph = coo_array(
        (np.ones(int(links.sum())), (first[links], second[links])), shape=(len(nodes), len(nodes))
    )
    _, component = connected_components(graph, directed=False)
    part = np.where(component[first] == component[second], component[first], -1).astype(np.int64)
    # Without transitivity, each unordered pair of items is a separate problem, as is each item
    # paired with itself.
    low, high = np.minimum(first, second), np.maximum(first, second)
    pairs = np.unique(low * len(nodes) + high, return_inverse=True)[1]
    return np.where(spread, part, pairs + len(nodes))
