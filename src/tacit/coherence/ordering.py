"""Order items by pairwise weights: exactly (dynamic programming) or by local search."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, maximum_flow

if TYPE_CHECKING:
    from tacit.coherence.constraints import Integers
    from tacit.coherence.enumeration import Booleans


MOST_ITEMS = 16
# Tie-breaking numbers are below 2**12, so their sum over all pairs of 16 items is below this.
_WHOLE = 1 << 19


def best_order(weights: Integers, ties: Integers) -> tuple[list[int], Booleans]:
    """Return the order of items that maximizes the total weight of all pairs (i before j)."""
    n = len(weights)
    combined = weights * _WHOLE - np.where(weights > 0, ties, 0)
    gains = _gains(combined)
    best = _from_front(gains)
    # The tie-breaking part is below one unit, so rounding up recovers the plain sum.
    front = -(-best // _WHOLE)
    plain = _gains(weights)
    on_best_order = front + _to_back(plain) == front[-1]
    states = np.flatnonzero(on_best_order)
    inside = (states[:, None] >> np.arange(n)) & 1
    before = (inside.T @ (1 - inside)) > 0
    return _walk_back(best, gains, n), before & before.T


def closure(arcs: Booleans) -> Booleans:
    """Return the transitive closure of a directed graph as a Boolean array, shape (n, n)."""
    reached = arcs.copy()
    for middle in range(len(arcs)):
        reached |= reached[:, middle, None] & reached[middle]
    return reached


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
    """List the subsets of n items, grouped by the number of items in the subset."""
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


def search_orders(weights: Integers, kicks: int | None, deadline: float) -> Integers:
    """Find, by local search, an order of all items that has a large total weight."""
    random = np.random.default_rng(0)
    lead = weights - weights.T
    # Items that precede most others come first.
    start = np.argsort(-lead.sum(axis=1), kind="stable")
    order, value = _improve_by_moves(lead, start, deadline)
    done = 0
    while (kicks is None or done < kicks) and time.monotonic() < deadline:
        trial, trial_value = _improve_by_moves(lead, _kicked(order, random), deadline)
        if trial_value >= value:
            order, value = trial, trial_value
        done += 1
    return order


def _kicked(order: Integers, random: np.random.Generator) -> Integers:
    """Move single items to random positions: one move per ten items, but at least two moves."""
    n = len(order)
    items = order.tolist()
    for origin, target in random.integers(0, n, (max(2, n // 10), 2)).tolist():
        items.insert(target, items.pop(origin))
    return np.array(items, dtype=np.int64)


def _improve_by_moves(lead: Integers, order: Integers, deadline: float) -> tuple[Integers, int]:
    """Improve an order by moving single items; return the order and its objective value."""
    n = len(order)
    forward = lead[np.ix_(order, order)]
    behind = np.tri(n, k=-1, dtype=bool)
    while time.monotonic() < deadline:
        # Moving p behind q loses the sum of row p over p+1..q; moving p before q gains q..p-1.
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


# SciPy computes flows as 32-bit integers.
_MOST_FLOW = 1_000_000_000


def search_partial_orders(weights: Integers, kicks: int | None, deadline: float) -> Booleans:
    """Find, by local search, a strict partial order that has a large total weight."""
    n = len(weights)
    random = np.random.default_rng(0)
    order = _improve_by_arcs(weights, np.zeros((n, n), dtype=bool), deadline)
    value = int(weights[order].sum())
    done = 0
    while (kicks is None or done < kicks) and time.monotonic() < deadline:
        trial = order.copy()
        loose = random.permutation(n)[: max(2, n // 2)]
        trial[loose] = False
        trial[:, loose] = False
        for item in loose.tolist():
            _reinsert(weights, trial, item)
        trial = _improve_by_arcs(weights, trial, deadline)
        trial_value = int(weights[trial].sum())
        if trial_value >= value:
            order, value = trial, trial_value
        done += 1
    return order


def _improve_by_arcs(weights: Integers, order: Booleans, deadline: float) -> Booleans:
    """Reinsert items, one at a time, until the order's total weight no longer increases."""
    n = len(weights)
    unchanged = 0
    item = 0
    while unchanged < n and time.monotonic() < deadline:
        unchanged = 0 if _reinsert(weights, order, item) else unchanged + 1
        item = (item + 1) % n
    return order


def _reinsert(weights: Integers, order: Booleans, item: int) -> bool:
    """Move an item to its best position; return whether the total weight increased."""
    others = np.delete(np.arange(len(weights)), item)
    before, after = _best_position(
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


def _best_position(into: Integers, out: Integers, order: Booleans) -> tuple[Booleans, Booleans]:
    """Find, by a minimum cut, which items come before an inserted item and which come after it."""
    m = len(into)
    source, sink = 2 * m, 2 * m + 1
    # Node i < m: "item i is before". Node m + i: "item i is not after", which loses out[i].
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
