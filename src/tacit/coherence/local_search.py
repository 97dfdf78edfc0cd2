"""Heavy consistent assignments without a proof, by the local search that fits the relations."""

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
    """Adds statements, the likeliest first, as long as the assignment gets heavier.

    Args:
        rows: The constraints.
        weights: One integer per statement.
        likely: A number per statement, greater for those to try first.
        deadline: The `time.monotonic` at which to stop.
    """
    nothing = np.zeros(rows.count, dtype=bool)
    order = np.lexsort((-weights, -np.round(likely, 3)))
    if (weights >= 0).all():
        return _added_together(rows, nothing, order[weights[order] > 0], deadline)
    return _added(rows, weights, nothing, order, deadline)


def bettered(rows: Rows, weights: Integers, assignment: Booleans, deadline: float) -> Booleans:
    """Moves each item to its best position in the order, until no move gains anything.

    Args:
        rows: The constraints.
        weights: One integer per statement.
        assignment: A consistent assignment.
        deadline: The `time.monotonic` at which to stop.
    """
    heaviest_first = np.argsort(-weights, kind="stable")
    ends = rows.clauses.variables[:, 1:]
    gained = True
    while gained:
        gained = False
        for item in range(int(ends.max(initial=-1)) + 1):
            if time.monotonic() > deadline:
                return assignment
            mine = (ends == item).any(axis=1)
            # Constraints hold between the other items alone, so without this one they still do.
            order = heaviest_first[mine[heaviest_first]]
            trial = _added(rows, weights, assignment & ~mine, order, deadline)
            if weights @ trial > weights @ assignment:
                assignment, gained = trial, True
    return assignment


def _added_together(rows: Rows, assignment: Booleans, order: Integers, deadline: float) -> Booleans:
    """Adds statements that cost nothing: all at once, or half by half when some of them clash.

    The assignment is the one that adding them one by one would give, as what fits together fits in
    any part.
    """
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
    """Adds each statement that, with all that follows from it, makes the assignment heavier."""
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


# Perturbations before the exact search: a number, so that no clock decides where it begins. One of
# a partial order takes longer, the more so the more items there are.
_KICKS = 200
_PARTIAL_KICKS = 5
_PARTIAL_KICKS_BY_SIZE = 1000


def search_assignment(program: Program, rows: Rows, likely: Floats, deadline: float) -> Booleans:
    """A heavy assignment, the same for the same program unless the deadline is reached.

    Args:
        program: The weights.
        rows: The constraints.
        likely: A number per statement, greater for those to try first; orders do without it.
        deadline: The `time.monotonic` at which to stop.
    """
    if program.family.order:
        partial = max(_PARTIAL_KICKS, _PARTIAL_KICKS_BY_SIZE // program.n)
        return search_order(program, _KICKS if program.total else partial, deadline)
    greedy = greedy_assignment(rows, program.weights, likely, deadline)
    return bettered(rows, program.weights, greedy, deadline)


def search_order(program: Program, kicks: int | None, deadline: float) -> Booleans:
    """A heavy assignment of an order.

    Args:
        program: The weights; its family is an order.
        kicks: How many times to perturb it; None goes on until the deadline.
        deadline: The `time.monotonic` at which to stop.
    """
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
