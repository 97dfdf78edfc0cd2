"""Heavy consistent worlds without a proof, by the local search that fits the relations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.greedy import bettered, greedy_world
from tacit.coherence.insertion import search_orders
from tacit.coherence.reinsertion import search_partial_orders
from tacit.coherence.structure import clauses_of

if TYPE_CHECKING:
    from tacit.coherence.constraints import Rows
    from tacit.coherence.program import Program
    from tacit.coherence.worlds import Booleans, Floats

# Perturbations before the exact search: a number, so that no clock decides where it begins. One of
# a partial order takes longer, the more so the more items there are.
_KICKS = 200
_PARTIAL_KICKS = 5
_PARTIAL_KICKS_BY_SIZE = 1000


def search_world(program: Program, rows: Rows, likely: Floats, deadline: float) -> Booleans:
    """A heavy world, the same for the same program unless the deadline is reached.

    Args:
        program: The weights.
        rows: The constraints.
        likely: A number per statement, greater for those to try first; orders do without it.
        deadline: The `time.monotonic` at which to stop.
    """
    if program.family.order:
        partial = max(_PARTIAL_KICKS, _PARTIAL_KICKS_BY_SIZE // program.n)
        return search_order(program, _KICKS if program.total else partial, deadline)
    greedy = greedy_world(rows, program.weights, likely, deadline)
    return bettered(rows, program.weights, greedy, deadline)


def search_order(program: Program, kicks: int | None, deadline: float) -> Booleans:
    """A heavy world of an order.

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
    world = np.zeros(len(program.weights), dtype=bool)
    world[index[pairs]] = True
    return world
