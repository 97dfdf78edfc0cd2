"""Find the best truth values for statements about a few items by enumeration."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.constraints import clauses_of, triples_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.coherence.constraints import Clauses, Family, Integers

    Booleans = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
    Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

# Above these limits, dynamic programming or the general solver is faster than enumeration.
MOST_VARIABLES = 24
MOST_WORLDS = 5000


@dataclass(frozen=True)
class Best:
    """The best assignment of truth values for each of several repair problems."""

    true: Booleans
    free: Booleans


@lru_cache(maxsize=64)
def all_assignments(family: Family, n: int) -> Booleans | None:
    """Return all consistent assignments of truth values to the statements about n items."""
    clauses = clauses_of(family, n)
    count = len(clauses.variables)
    if count > MOST_VARIABLES:
        return None
    triples = triples_of(family, n) if n > 1 else np.empty((0, 3), dtype=np.int64)
    assignments = np.zeros((1, 0), dtype=bool)
    for last in range(count):
        grown = np.repeat(assignments, 2, axis=0)
        assignments = np.column_stack([grown, np.tile([False, True], len(assignments))])
        assignments = assignments[_allowed(assignments, clauses, triples, last)]
        if len(assignments) > MOST_WORLDS:
            return None
    return assignments


def best_assignments(
    assignments: Booleans, weights: Integers, ties: Callable[[int], Integers]
) -> Best:
    """Return the assignment with the largest total weight for each row of ``weights``."""
    # Integer sums below 2**53 are exact in floating point, where matrix products are fast.
    values = weights.astype(np.float64) @ assignments.T.astype(np.float64)
    optimal = values == values.max(axis=1, keepdims=True)
    often = optimal.astype(np.float64) @ assignments.astype(np.float64)
    total = optimal.sum(axis=1, keepdims=True)
    chosen = optimal.argmax(axis=1)
    for row in np.flatnonzero(total[:, 0] > 1):
        equal = np.flatnonzero(optimal[row])
        numbers = ties(int(row))
        # An additional true statement costs more than all tie-breaking numbers together.
        cost = assignments[equal] @ (numbers + 1 + numbers.sum())
        chosen[row] = equal[cost.argmin()]
    return Best(assignments[chosen], (often > 0) & (often < total))


def _allowed(assignments: Booleans, clauses: Clauses, triples: Integers, last: int) -> Booleans:
    """Return which assignments satisfy the constraints on the statement ``last``."""
    keep = np.ones(len(assignments), dtype=bool)
    if last in clauses.never:
        keep &= ~assignments[:, last]
    for a, b in clauses.exclusions[clauses.exclusions.max(axis=1, initial=-1) == last]:
        keep &= ~(assignments[:, a] & assignments[:, b])
    for a, b in clauses.implications[clauses.implications.max(axis=1, initial=-1) == last]:
        keep &= ~assignments[:, a] | assignments[:, b]
    for a, b, c in triples[triples.max(axis=1, initial=-1) == last]:
        keep &= ~(assignments[:, a] & assignments[:, b]) | assignments[:, c]
    return keep
