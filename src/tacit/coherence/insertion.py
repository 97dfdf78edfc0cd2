"""Local search for the linear ordering problem: move one item to another position.

A climb takes the best of all such moves until none gains. An iterated local search then repeats:
move some items at random, climb, and keep the result unless it is worse (Lourenço, Martin and
Stützle 2003). The random numbers come from a fixed seed.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tacit.coherence.structure import Integers


def search_orders(weights: Integers, kicks: int | None, deadline: float) -> Integers:
    """Finds a heavy order of all items.

    Args:
        weights: Integer weight of i before j, shape (n, n).
        kicks: How many times to perturb the order; None goes on until the deadline.
        deadline: The `time.monotonic` at which to stop with the best order found.

    Returns:
        The items in order, the same for the same weights unless the deadline is reached.
    """
    random = np.random.default_rng(0)
    lead = weights - weights.T
    # Items that precede most others come first.
    start = np.argsort(-lead.sum(axis=1), kind="stable")
    order, value = _climb(lead, start, deadline)
    done = 0
    while (kicks is None or done < kicks) and time.monotonic() < deadline:
        trial, trial_value = _climb(lead, _kicked(order, random), deadline)
        if trial_value >= value:
            order, value = trial, trial_value
        done += 1
    return order


def _kicked(order: Integers, random: np.random.Generator) -> Integers:
    """Moves a tenth of the items, at least two, to random positions."""
    n = len(order)
    items = order.tolist()
    for origin, target in random.integers(0, n, (max(2, n // 10), 2)).tolist():
        items.insert(target, items.pop(origin))
    return np.array(items, dtype=np.int64)


def _climb(lead: Integers, order: Integers, deadline: float) -> tuple[Integers, int]:
    """Moves one item at a time, and returns the order with the lead of its forward pairs."""
    n = len(order)
    forward = lead[np.ix_(order, order)]
    behind = np.tri(n, k=-1, dtype=bool)
    while time.monotonic() < deadline:
        # Moving p behind q loses the sum over p+1..q; moving it before q gains that over q..p-1.
        sums = np.cumsum(forward, axis=1)
        gains = np.diagonal(sums)[:, None] - sums
        gains[behind] += forward[behind]
        origin, target = divmod(int(gains.argmax()), n)
        if gains[origin, target] <= 0:
            break
        moved = np.insert(np.delete(np.arange(n), origin), target, origin)
        order = order[moved]
        forward = forward[np.ix_(moved, moved)]
    return order, int(np.triu(forward).sum())
