"""Local search for consistent assignments of large weight, without a proof of optimality."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.constraints import clauses_of
from tacit.coherence.ordering import search_orders, search_partial_orders

if TYPE_CHECKING:
    from tacit.coherence.constraints import Integers
    from tacit.coherence.enumeration import Booleans, Floats
    from tacit.coherence.linear_program import Rows
    from tacit.coherence.program import Program


def greedy_assignment(rows: Rows, weights: Integers, likely: Floats, deadline: float) -> Booleans:
    """Build a consistent assignment greedily, starting with the most likely statements."""
    nothing = np.zeros(rows.count, dtype=bool)
    order = np.lexsort((-weights, -np.round(likely, 3)))
    if (weights >= 0).all():
        return _added_together(rows, nothing, order[weights[order] > 0], deadline)
    return _added(rows, weights, nothing, order, deadline)


def bettered(rows: Rows, weights: Integers, assignment: Booleans, deadline: float) -> Booleans:
    """Improve an assignment item by item until the total weight no longer increases."""
    heaviest_first = np.argsort(-weights, kind="stable")
    ends = rows.clauses.variables[:, 1:]
    gained = True
    while gained:
        gained = False
        for item in range(int(ends.max(initial=-1)) + 1):
            if time.monotonic() > deadline:
                return assignment
            mine = (ends == item).any(axis=1)
            # Without this item's statements, the others still satisfy the constraints.
            order = heaviest_first[mine[heaviest_first]]
            trial = _added(rows, weights, assignment & ~mine, order, deadline)
            if weights @ trial > weights @ assignment:
                assignment, gained = trial, True
    return assignment


def _added_together(rows: Rows, assignment: Booleans, order: Integers, deadline: float) -> Booleans:
    """Add the statements in ``order`` to a consistent assignment; skip conflicting ones."""
    order = order[~assignment[order]]
    if not len(order) or time.monotonic() > deadline:
        return assignment
    trial = assignment.copy()
    trial[order] = True
    closed = rows.closed(trial)
    if closed is not None:
        return closed
    if len(order) == 1:
        return assignment
    for half in np.array_split(order, 2):
        assignment = _added_together(rows, assignment, half, deadline)
    return assignment


def _added(
    rows: Rows, weights: Integers, assignment: Booleans, order: Integers, deadline: float
) -> Booleans:
    """Add each statement of ``order`` to the assignment if this raises the total weight."""
    for statement in order[weights[order] > 0]:
        if assignment[statement]:
            continue
        if time.monotonic() > deadline:
            break
        trial = assignment.copy()
        trial[statement] = True
        closed = rows.closed(trial)
        if closed is not None and weights @ closed > weights @ assignment:
            assignment = closed
    return assignment


# Number of perturbations before the exact search: fixed, so that its starting point does not depend
# on the clock. Perturbations of partial orders take longer, especially with many items.
_KICKS = 200
_PARTIAL_KICKS = 5
_PARTIAL_KICKS_BY_SIZE = 1000


def search_assignment(program: Program, rows: Rows, likely: Floats, deadline: float) -> Booleans:
    """Find an assignment of large weight by local search."""
    if program.family.order:
        partial = max(_PARTIAL_KICKS, _PARTIAL_KICKS_BY_SIZE // program.n)
        return search_order(program, _KICKS if program.total else partial, deadline)
    greedy = greedy_assignment(rows, program.weights, likely, deadline)
    return bettered(rows, program.weights, greedy, deadline)


def search_order(program: Program, kicks: int | None, deadline: float) -> Booleans:
    """Search locally for a total or partial order of the items that has a large weight."""
    index = clauses_of(program.family, program.n).index[0]
    weights = np.where(index >= 0, program.weights[index], 0)
    if program.total:
        rank = np.argsort(search_orders(weights, kicks, deadline))
        pairs = rank[:, None] < rank[None, :]
    else:
        pairs = search_partial_orders(weights, kicks, deadline)
    assignment = np.zeros(len(program.weights), dtype=bool)
    assignment[index[pairs]] = True
    return assignment
