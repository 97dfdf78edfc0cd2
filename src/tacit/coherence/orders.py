"""The best order of a few items, by dynamic programming over sets of items."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.coherence.closure import Booleans, Integers

MOST_ITEMS = 16
# Tie-breaking numbers are below 2**12, so their sum over all pairs of 16 items is below this.
_WHOLE = 1 << 19


def best_order(weights: Integers, ties: Integers) -> tuple[list[int], Booleans]:
    """Return the order of items that maximizes the total weight of all pairs (i before j).

    Also return which pairs are in both directions in the best orders.
    """
    n = len(weights)
    gains = _gains(weights * _WHOLE - np.where(weights > 0, ties, 0))
    best = _from_front(gains)
    # The tie-breaking part is below one unit, so rounding up recovers the plain sum.
    front = -(-best // _WHOLE)
    on_best_order = front + _to_back(_gains(weights)) == front[-1]
    states = np.flatnonzero(on_best_order)
    inside = (states[:, None] >> np.arange(n)) & 1
    before = (inside.T @ (1 - inside)) > 0
    return _walk_back(best, gains, n), before & before.T


def _gains(weights: Integers) -> Integers:
    """Return, per set and item, the weight of placing the item after the set, shape (2**n, n)."""
    n = len(weights)
    gains = np.zeros((1 << n, n), dtype=np.int64)
    for item in range(n):
        size = 1 << item
        gains[size : 2 * size] = gains[:size] + weights[item]
    return gains


@lru_cache(maxsize=32)
def _layers(n: int) -> list[tuple[Integers, Integers, Integers]]:
    """List the sets of n items by size: sets, their members, and the sets without each member."""
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
        # ``rest`` is not placed yet, so all other items are in front.
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
