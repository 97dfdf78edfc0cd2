"""All assignments of a few items, and the best of them for many weightings at once."""

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

# Beyond these, dynamic programming or the general solver is quicker than a list of all assignments.
MOST_VARIABLES = 24
MOST_WORLDS = 5000


@dataclass(frozen=True)
class Best:
    """The chosen assignments of several problems.

    Args:
        true: Which statements are true, shape (problems, statements).
        free: Which statements are true in one best assignment and false in another, same shape.
    """

    true: Booleans
    free: Booleans


@lru_cache(maxsize=64)
def all_assignments(family: Family, n: int) -> Booleans | None:
    """Every assignment of n items that keeps all constraints, shape (assignments, statements).

    Returns:
        The assignments in a fixed order, or None when there are too many to list.
    """
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
    """The best assignment for each weighting; among equals the fewest true, then the least tie sum.

    Args:
        assignments: From `all_assignments`.
        weights: One integer per statement, shape (problems, statements).
        ties: Gives a problem's tie-breaking numbers, one per statement.
    """
    # Sums of integers below 2**53 are exact in floating point, whose product is quick.
    values = weights.astype(np.float64) @ assignments.T.astype(np.float64)
    optimal = values == values.max(axis=1, keepdims=True)
    often = optimal.astype(np.float64) @ assignments.astype(np.float64)
    total = optimal.sum(axis=1, keepdims=True)
    chosen = optimal.argmax(axis=1)
    for row in np.flatnonzero(total[:, 0] > 1):
        equal = np.flatnonzero(optimal[row])
        numbers = ties(int(row))
        # One statement more costs more than all tie-breaking numbers together.
        cost = assignments[equal] @ (numbers + 1 + numbers.sum())
        chosen[row] = equal[cost.argmin()]
    return Best(assignments[chosen], (often > 0) & (often < total))


def _allowed(assignments: Booleans, clauses: Clauses, triples: Integers, last: int) -> Booleans:
    """Which partial assignments keep the constraints whose latest statement is the last one."""
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
