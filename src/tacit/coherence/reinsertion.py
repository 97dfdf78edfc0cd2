"""Local search for strict partial orders with weights for and against.

A move takes one item out and puts it back in the best way, exactly: the items before it are closed
downwards, those after it upwards, and each of the former precedes each of the latter. Every one of
these rules has the form "this makes that true" over "a is before" and "b is not after", so the best
way is a closure of maximum weight, found by a minimum cut (Picard 1976). An iterated local search
takes half of the items out at random, puts them back, and continues from the better result.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

if TYPE_CHECKING:
    from tacit.coherence.structure import Integers
    from tacit.coherence.worlds import Booleans

# SciPy's flows are 32-bit integers.
_MOST_FLOW = 1_000_000_000


def search_partial_orders(weights: Integers, kicks: int | None, deadline: float) -> Booleans:
    """Finds a heavy strict partial order.

    Args:
        weights: Integer weight of i before j, of either sign, 0 on the diagonal, shape (n, n).
        kicks: How many times to perturb the order; None goes on until the deadline.
        deadline: The `time.monotonic` at which to stop with the best order found.

    Returns:
        Which items precede which, transitively closed, shape (n, n); the same for the same
        weights unless the deadline is reached.
    """
    n = len(weights)
    random = np.random.default_rng(0)
    order = _climb(weights, np.zeros((n, n), dtype=bool), deadline)
    value = int(weights[order].sum())
    done = 0
    while (kicks is None or done < kicks) and time.monotonic() < deadline:
        trial = order.copy()
        loose = random.permutation(n)[: max(2, n // 2)]
        trial[loose] = False
        trial[:, loose] = False
        for item in loose.tolist():
            _reinsert(weights, trial, item)
        trial = _climb(weights, trial, deadline)
        trial_value = int(weights[trial].sum())
        if trial_value >= value:
            order, value = trial, trial_value
        done += 1
    return order


def _climb(weights: Integers, order: Booleans, deadline: float) -> Booleans:
    """Puts each item back the best way, in turn, until none gains."""
    n = len(weights)
    unchanged = 0
    item = 0
    while unchanged < n and time.monotonic() < deadline:
        unchanged = 0 if _reinsert(weights, order, item) else unchanged + 1
        item = (item + 1) % n
    return order


def _reinsert(weights: Integers, order: Booleans, item: int) -> bool:
    """Puts an item back the best way, in place, and says whether the order is heavier."""
    others = np.delete(np.arange(len(weights)), item)
    before, after = _best_place(
        weights[others, item], weights[item, others], order[np.ix_(others, others)]
    )
    gained = int(weights[others[before], item].sum() + weights[item, others[after]].sum())
    had = int(weights[order[:, item], item].sum() + weights[item, order[item]].sum())
    if gained <= had:
        return False
    order[item] = False
    order[:, item] = False
    order[others[before], item] = True
    order[item, others[after]] = True
    return True


def _best_place(into: Integers, out: Integers, order: Booleans) -> tuple[Booleans, Booleans]:
    """Which of the other items come before and which after, for the largest sum of weights.

    Args:
        into: The weight of each other item before this one, shape (m,).
        out: The weight of this one before each other item, shape (m,).
        order: The other items' own order, shape (m, m).
    """
    m = len(into)
    source, sink = 2 * m, 2 * m + 1
    # Nodes 0..m-1: "it is before"; m..2m-1: "it is not after", whose weight is what that loses.
    gain = np.concatenate([into, -out])
    total = int(np.abs(gain).sum())
    gain = gain // max(1, -(-total // _MOST_FLOW))
    capacity = np.zeros((2 * m + 2, 2 * m + 2), dtype=np.int32)
    unlimited = 2 * _MOST_FLOW
    capacity[:m, :m][order.T] = unlimited
    capacity[:m, m : 2 * m][~order] = unlimited
    capacity[m : 2 * m, m : 2 * m][order.T] = unlimited
    capacity[source, : 2 * m] = np.maximum(gain, 0)
    capacity[: 2 * m, sink] = np.maximum(-gain, 0)
    graph = csr_array(capacity)
    residual = csr_array(graph - maximum_flow(graph, source, sink).flow)
    residual.eliminate_zeros()
    reached = breadth_first_order(residual, source, return_predecessors=False)
    closed = np.zeros(2 * m + 2, dtype=bool)
    closed[reached] = True
    return closed[:m], ~closed[m : 2 * m]
