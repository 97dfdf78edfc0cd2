"""The best order of items, exactly, by dynamic programming over their subsets.

When nothing argues against a statement, a strict partial order extends to a total one at no loss,
and the best world of one asymmetric, transitive relation is the linear ordering problem: with n
items, 2**n * n steps (Gu et al. 2023 pose it as MaxSAT, section 5.2).
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.coherence.structure import Integers
    from tacit.coherence.worlds import Booleans

MOST_ITEMS = 16
# Tie-breaking numbers are below 2**12, so that those of all pairs of 16 items sum up to less.
_WHOLE = 1 << 19


def best_order(weights: Integers, ties: Integers) -> tuple[list[int], Booleans]:
    """The order with the largest sum of the weights that point forward.

    Args:
        weights: Integer weight of i before j, none negative, shape (n, n).
        ties: Among equal orders the least sum over those with a weight decides, shape (n, n),
            each from 0 to 4,095.

    Returns:
        The items in order, and which pairs stand one way in one best order and the other way
        round in another, shape (n, n).
    """
    n = len(weights)
    combined = weights * _WHOLE - np.where(weights > 0, ties, 0)
    gains = _gains(combined)
    best = _from_front(gains)
    # The tie-breaking part is below one whole, so rounding up gives the plain sum back.
    front = -(-best // _WHOLE)
    plain = _gains(weights)
    on_best_order = front + _to_back(plain) == front[-1]
    states = np.flatnonzero(on_best_order)
    inside = (states[:, None] >> np.arange(n)) & 1
    before = (inside.T @ (1 - inside)) > 0
    return _walk_back(best, gains, n), before & before.T


def closure(arcs: Booleans) -> Booleans:
    """The transitive closure of arcs, shape (n, n)."""
    reached = arcs.copy()
    for middle in range(len(arcs)):
        reached |= reached[:, middle, None] & reached[middle]
    return reached


def _gains(weights: Integers) -> Integers:
    """What item k gains when it comes right behind a set of items, shape (2**n, n)."""
    n = len(weights)
    gains = np.zeros((1 << n, n), dtype=np.int64)
    for item in range(n):
        size = 1 << item
        gains[size : 2 * size] = gains[:size] + weights[item]
    return gains


@lru_cache(maxsize=32)
def _layers(n: int) -> list[tuple[Integers, Integers, Integers]]:
    """For each size of set: the sets, their members, and the sets without each member."""
    sets = np.arange(1 << n, dtype=np.int64)
    member = ((sets[:, None] >> np.arange(n)) & 1).astype(bool)
    sizes = member.sum(axis=1)
    layers: list[tuple[Integers, Integers, Integers]] = []
    for size in range(1, n + 1):
        of_size = sets[sizes == size]
        members = np.nonzero(member[of_size])[1].reshape(-1, size).astype(np.int64)
        layers.append((of_size, members, of_size[:, None] ^ (1 << members)))
    return layers


def _from_front(gains: Integers) -> Integers:
    best = np.zeros(len(gains), dtype=np.int64)
    for sets, members, without in _layers(gains.shape[1]):
        best[sets] = (best[without] + gains[without, members]).max(axis=1)
    return best


def _to_back(gains: Integers) -> Integers:
    n = gains.shape[1]
    everything = (1 << n) - 1
    best = np.zeros(len(gains), dtype=np.int64)
    for rest, members, _ in _layers(n):
        # ``rest`` is still to come, so what stands in front is all other items.
        front = everything ^ rest
        following = front[:, None] | (1 << members)
        best[front] = (best[following] + gains[front[:, None], members]).max(axis=1)
    return best


def _walk_back(best: Integers, gains: Integers, n: int) -> list[int]:
    order: list[int] = []
    here = (1 << n) - 1
    while here:
        for item in range(n):
            before = here ^ (1 << item)
            if here >> item & 1 and best[before] + gains[before, item] == best[here]:
                order.append(item)
                here = before
                break
    return order[::-1]
