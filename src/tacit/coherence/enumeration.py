"""Find the best truth values for statements about a few items by enumeration."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from tacit.coherence.closure import Booleans, Integers, Rules
from tacit.coherence.constraints import clauses_of, triples_of

# Above these limits, dynamic programming or the general solver is faster than enumeration.
_MOST_VARIABLES = 24
_MOST_ASSIGNMENTS = 5000


@lru_cache(maxsize=64)
def all_assignments(rules: Rules, n: int) -> Booleans | None:
    """Return all consistent assignments of truth values to the statements about n items."""
    count = len(clauses_of(rules, n).variables)
    if count > _MOST_VARIABLES:
        return None
    assignments = np.zeros((1, 0), dtype=bool)
    for _ in range(count):
        grown = np.repeat(assignments, 2, axis=0)
        assignments = np.column_stack([grown, np.tile([False, True], len(assignments))])
        assignments = assignments[_allowed(assignments, rules, n)]
        if len(assignments) > _MOST_ASSIGNMENTS:
            return None
    return assignments


def best_assignments(
    assignments: Booleans, weights: Integers, ties: Callable[[Integers], Integers]
) -> tuple[Booleans, Booleans]:
    """Return, for each row of weights, the best assignment and which statements are free."""
    # Integer sums below 2**53 are exact in floating point, where matrix products are fast.
    values = weights.astype(np.float64) @ assignments.T.astype(np.float64)
    optimal = values == values.max(axis=1, keepdims=True)
    often = optimal.astype(np.float64) @ assignments.astype(np.float64)
    total = optimal.sum(axis=1, keepdims=True)
    chosen = optimal.argmax(axis=1)
    rows = np.flatnonzero(total[:, 0] > 1)
    for row, numbers in zip(rows.tolist(), ties(rows), strict=True):
        equal = np.flatnonzero(optimal[row])
        # An additional true statement costs more than all tie-breaking numbers together.
        cost = assignments[equal] @ (numbers + 1 + numbers.sum())
        chosen[row] = equal[cost.argmin()]
    return assignments[chosen], (often > 0) & (often < total)


def _allowed(assignments: Booleans, rules: Rules, n: int) -> Booleans:
    """Return which assignments satisfy the constraints on their last statement."""
    clauses = clauses_of(rules, n)
    last = assignments.shape[1] - 1
    true = assignments.T
    keep = np.ones(len(assignments), dtype=bool)
    for a, b in clauses.exclusions[clauses.exclusions.max(axis=1, initial=-1) == last]:
        keep &= ~(true[a] & true[b])
    for a, b in clauses.implications[clauses.implications.max(axis=1, initial=-1) == last]:
        keep &= ~true[a] | true[b]
    triples = triples_of(rules, n)
    for a, b, c in triples[triples.max(axis=1, initial=-1) == last]:
        keep &= ~(true[a] & true[b]) | true[c]
    return keep
