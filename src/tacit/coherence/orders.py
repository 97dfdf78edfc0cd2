"""The best orders of a few items, by dynamic programming over sets of items."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.coherence.closure import Booleans, Integers

MOST_ITEMS = 16
# Tie-breaking numbers are below 2**12, so their sum over all pairs of 16 items is below this.
_WHOLE = 1 << 19
# Number of table cells per batch of problems; bounds the memory.
_CELLS = 1 << 16


def best_orders(weights: Integers, ties: Integers) -> tuple[Integers, Booleans]:
    """Return, per problem, the order that maximizes the total weight of all pairs (i before j).

    Also return which pairs are in both directions in the best orders. ``weights`` and ``ties`` have
    the shape (problems, n, n), and the orders (problems, n).
    """
    count, n, _ = weights.shape
    orders, free = np.empty((count, n), dtype=np.int64), np.empty(weights.shape, dtype=bool)
    step = max(1, _CELLS // (n << n))
    for some in (slice(begin, begin + step) for begin in range(0, count, step)):
        orders[some], free[some] = _best_orders(weights[some], ties[some])
    return orders, free


def _best_orders(weights: Integers, ties: Integers) -> tuple[Integers, Booleans]:
    count, n, _ = weights.shape
    gains = _gains(weights * _WHOLE - np.where(weights > 0, ties, 0))
    best = _from_front(gains)
    # The tie-breaking part is below one unit, so rounding up recovers the plain sum.
    front = -(-best // _WHOLE)
    on_best_order = front + _to_back(_gains(weights)) == front[:, -1:]
    inside, before = _inside(n), np.zeros((count, n, n), dtype=bool)
    for problem, one in enumerate(on_best_order):
        states = inside[one].astype(np.float32)
        before[problem] = states.T @ (1 - states) > 0
    return _walk_back(best, gains), before & before.swapaxes(1, 2)


def _gains(weights: Integers) -> Integers:
    """Return the weight of placing an item after a set, shape (problems, 2**n, n)."""
    count, n, _ = weights.shape
    gains = np.zeros((count, 1 << n, n), dtype=np.int64)
    for item in range(n):
        size = 1 << item
        gains[:, size : 2 * size] = gains[:, :size] + weights[:, None, item]
    return gains


def _inside(n: int) -> Booleans:
    """Return which items are in each set, shape (2**n, n)."""
    inside: Booleans = ((np.arange(1 << n)[:, None] >> np.arange(n)) & 1).astype(bool)
    return inside


@lru_cache(maxsize=32)
def _layers(n: int) -> list[tuple[Integers, Integers, Integers]]:
    """List the sets of n items by size: sets, their members, and the sets without each member."""
    sets, inside = np.arange(1 << n, dtype=np.int64), _inside(n)
    sizes = inside.sum(axis=1)
    layers: list[tuple[Integers, Integers, Integers]] = []
    for size in range(1, n + 1):
        of_size = sets[sizes == size]
        members = np.nonzero(inside[of_size])[1].reshape(-1, size).astype(np.int64)
        layers.append((of_size, members, of_size[:, None] ^ (1 << members)))
    return layers


def _from_front(gains: Integers) -> Integers:
    count, size, n = gains.shape
    flat, best = gains.reshape(count, -1), np.zeros((count, size), dtype=np.int64)
    for sets, members, without in _layers(n):
        placed = flat.take(without * n + members, axis=1)
        best[:, sets] = (best.take(without, axis=1) + placed).max(axis=2)
    return best


def _to_back(gains: Integers) -> Integers:
    count, size, n = gains.shape
    flat, best = gains.reshape(count, -1), np.zeros((count, size), dtype=np.int64)
    for rest, members, _ in _layers(n):
        # ``rest`` is not placed yet, so all other items are in front.
        front = (size - 1) ^ rest
        placed = flat.take(front[:, None] * n + members, axis=1)
        following = best.take(front[:, None] | (1 << members), axis=1)
        best[:, front] = (following + placed).max(axis=2)
    return best


def _walk_back(best: Integers, gains: Integers) -> Integers:
    """Return each problem's best order; of equal ones, that with the first items at the end."""
    count, size, n = gains.shape
    orders, items, problem = np.empty((count, n), np.int64), np.arange(n), np.arange(count)
    here = np.full(count, size - 1)
    for position in reversed(range(n)):
        before = here[:, None] & ~(1 << items)
        values = best[problem[:, None], before] + gains[problem[:, None], before, items]
        fits = (before != here[:, None]) & (values == best[problem, here][:, None])
        orders[:, position] = fits.argmax(axis=1)
        here = before[problem, orders[:, position]]
    return orders
