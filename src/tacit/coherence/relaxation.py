"""Bound the optimal value of very large integer programs by a first-order method."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array

from tacit.coherence.constraints import clauses_of
from tacit.coherence.linear_program import Rows

if TYPE_CHECKING:
    from tacit.coherence.constraints import Integers
    from tacit.coherence.enumeration import Booleans, Floats
    from tacit.coherence.program import Program

# Primal steps are longer than the standard ones by this factor, and dual steps are shorter.
_PRIMAL_WEIGHT = 25.0
_RESTART = 100
_ROUNDS = 100
# Number of restarts between two additions of rows.
_ROUNDS_BETWEEN = 3
# With more triples, the relaxation of an order takes too much memory.
_MOST_TRIPLES = 2_500_000
# Stop when the bound falls by less than this share per restart.
_SETTLED = 1e-6


@dataclass(frozen=True)
class Relaxation:
    """A linear program: maximize gain · x + constant, with row limits and 0 <= x <= 1."""

    gain: Floats
    constant: float
    matrix: csr_array
    low: Floats
    high: Floats

    def bound(self, multipliers: Floats, price: Floats) -> float:
        """Return the upper bound on the objective for the given multipliers (dual variables)."""
        rows = float(np.maximum(multipliers, 0.0) @ self.high)
        return self.constant + rows + float(np.maximum(self.gain - price, 0.0).sum())


def relaxed_bound(program: Program, deadline: float) -> float:
    """Return an upper bound on a program's largest total weight, by linear relaxation."""
    bound = pairwise_bound(program)
    if program.total:
        if math.comb(program.n, 3) > _MOST_TRIPLES or time.monotonic() >= deadline:
            return bound
        index = clauses_of(program.family, program.n).index[0]
        relaxation = _order(np.where(index >= 0, program.weights[index], 0))
        dual = Dual.start((relaxation.gain > 0).astype(np.float64))
        return min(bound, improve(dual, relaxation, _ROUNDS, deadline).bound)
    rows = Rows(program.family, program.n, total=False)
    gain = program.weights.astype(np.float64)
    dual = Dual.start(_pairwise(program).astype(np.float64))
    for _ in range(_ROUNDS // _ROUNDS_BETWEEN):
        if time.monotonic() >= deadline:
            break
        tightened = rows.tighten(dual.x)
        low = np.full(len(rows.limits), -np.inf)
        relaxation = Relaxation(gain, 0.0, rows.matrix, low, rows.limits)
        before = dual.bound
        dual = improve(dual, relaxation, _ROUNDS_BETWEEN, deadline)
        if not tightened and before - dual.bound < _SETTLED * before:
            break
    return min(bound, dual.bound)


def pairwise_bound(program: Program) -> float:
    """Return a quick upper bound on the program's largest possible total weight."""
    return float(program.weights @ _pairwise(program))


def _pairwise(program: Program) -> Booleans:
    """Select the statements of positive weight."""
    true = program.weights > 0
    if program.family.order:
        index = clauses_of(program.family, program.n).index[0]
        first, second = np.triu_indices(program.n, 1)
        one, other = index[first, second], index[second, first]
        heavier = program.weights[one] >= program.weights[other]
        true[other[heavier]] = False
        true[one[~heavier]] = False
    return true


@dataclass(frozen=True)
class Dual:
    """The state of an iterative method, with its best upper bound on the objective."""

    x: Floats
    multipliers: Floats
    bound: float

    @classmethod
    def start(cls, x: Floats) -> Dual:
        """Return the initial state for a program to which no constraint rows have been added."""
        return cls(x, np.zeros(0), math.inf)


def improve(start: Dual, relaxation: Relaxation, rounds: int, deadline: float) -> Dual:
    """Lower the upper bound towards the optimum of the linear relaxation."""
    # Three times the mean is near the maximum of uniform weights, and robust to outliers.
    scale = max(1.0, 3 * float(np.abs(relaxation.gain).mean()))
    gain = relaxation.gain / scale
    matrix, transposed = relaxation.matrix, csr_array(relaxation.matrix.T)
    sizes = abs(matrix)
    primal = _PRIMAL_WEIGHT / np.maximum(1.0, np.asarray(sizes.sum(axis=0)).ravel())
    dual = 1 / (_PRIMAL_WEIGHT * np.maximum(1.0, np.asarray(sizes.sum(axis=1)).ravel()))
    x, best = start.x, start.bound
    multipliers: Floats = np.zeros(len(relaxation.high))
    multipliers[: len(start.multipliers)] = start.multipliers
    price = transposed @ multipliers
    for _ in range(rounds):
        mean_x, mean_multipliers = np.zeros_like(x), np.zeros_like(multipliers)
        for step in range(1, _RESTART + 1):
            if time.monotonic() >= deadline:
                return Dual(x, multipliers, best)
            moved = np.clip(x + primal * (gain - price), 0.0, 1.0)
            pushed = multipliers + dual * (matrix @ (2 * moved - x))
            multipliers = _shrunk(pushed, dual, relaxation)
            x, price = moved, transposed @ multipliers
            mean_x += (x - mean_x) / step
            mean_multipliers += (multipliers - mean_multipliers) / step
        mean_price = transposed @ mean_multipliers
        last = relaxation.bound(scale * multipliers, scale * price)
        mean = relaxation.bound(scale * mean_multipliers, scale * mean_price)
        if mean < last:
            x, multipliers, price = mean_x, mean_multipliers, mean_price
        fallen = best - min(last, mean)
        best = min(best, last, mean)
        if 0 <= fallen < _SETTLED * abs(best):
            break
    return Dual(x, multipliers, best)


def _order(weights: Integers) -> Relaxation:
    """Return the relaxation of the linear ordering problem, with one variable per pair of items."""
    n = len(weights)
    first, second = np.triu_indices(n, 1)
    number = np.zeros((n, n), dtype=np.int64)
    number[first, second] = np.arange(len(first))
    i, j, k = _triples(n)
    members = np.stack([number[i, j], number[j, k], number[i, k]], axis=1)
    entries = np.tile([1.0, 1.0, -1.0], len(members))
    places = (np.repeat(np.arange(len(members)), 3), members.ravel())
    matrix = csr_array((entries, places), shape=(len(members), len(first)))
    gain = (weights[first, second] - weights[second, first]).astype(np.float64)
    constant = float(weights[second, first].sum())
    return Relaxation(gain, constant, matrix, np.zeros(len(members)), np.ones(len(members)))


def _shrunk(multipliers: Floats, dual: Floats, relaxation: Relaxation) -> Floats:
    """Apply the proximal step of the dual variables, given the row limits ``low`` and ``high``."""
    above = np.maximum(multipliers - dual * relaxation.high, 0.0)
    below = np.where(relaxation.low == 0.0, np.minimum(multipliers, 0.0), 0.0)
    shrunk: Floats = above + below
    return shrunk


def _triples(n: int) -> tuple[Integers, Integers, Integers]:
    """Return all triples of indices i < j < k, where k is less than n."""
    pairs = np.array(np.triu_indices(n, 1))
    counts = n - 1 - pairs[1]
    i, j = np.repeat(pairs, counts, axis=1)
    ends = np.cumsum(counts)
    k = np.arange(len(i)) - np.repeat(ends - counts, counts) + j + 1
    return i, j, k
