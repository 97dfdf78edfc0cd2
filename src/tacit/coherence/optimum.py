"""The best whole solution of a linear program: relaxed first, then by branch and bound (HiGHS).

A good solution that is known beforehand helps twice: the reduced costs of the relaxed solution then
fix statements, and branch and bound, which looks for another as good, proves in one search that it
is the best and whether it is the only one.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.coherence.constraints import Rows
    from tacit.coherence.worlds import Booleans, Floats

_WHOLE = 1e-5
_NEVER = float("inf")
# SciPy's status of a program without a solution.
_INFEASIBLE = 2
# Reduced costs are computed in floating point.
_DUAL_ERROR = 1e-3
# Sums of equal value differ by less, and others by more.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Region:
    """What to search: each statement from ``low`` to ``high``, and at most one more row."""

    low: Floats
    high: Floats
    row: Floats | None = None
    limit: float = 0.0

    def system(self, rows: Rows) -> tuple[csr_array, Floats]:
        """Matrix and limits of all rows, the region's own among them."""
        if self.row is None:
            return rows.matrix, rows.limits
        own = csr_array(self.row[None, :])
        return csr_array(vstack([rows.matrix, own])), np.append(rows.limits, self.limit)


@dataclass(frozen=True)
class Optimum:
    """The best whole solution of a region; optimal without a world when there is none.

    Args:
        world: The solution, or None.
        bound: No solution has a larger objective.
        optimal: Whether the solution is proven best, or none exists.
        relaxed: The solution of the linear program.
        reduced: Its reduced costs, absolute.
        relaxed_bound: Its objective.
        branched: Whether the linear program's solution was not whole.
        alone: Whether every other solution is known to have a smaller objective.
    """

    world: Booleans | None
    bound: float
    optimal: bool
    relaxed: Floats
    reduced: Floats
    relaxed_bound: float
    branched: bool = False
    alone: bool = False


def best_solution(
    objective: Floats,
    rows: Rows,
    within: Region,
    deadline: float,
    start: Callable[[Floats, float], Booleans] | None = None,
    *,
    branch: bool = True,
) -> Optimum:
    """The largest objective over whole solutions: relaxed first, then by branch and bound.

    Args:
        objective: What to maximise.
        rows: The constraints, to which broken ones are added.
        within: The region.
        deadline: The `time.monotonic` at which to stop.
        start: Finds a good solution from the relaxed one; the region is then everything. Branch
            and bound looks for another as good, so that one search proves the best and whether
            it is the only one.
        branch: Whether to branch when the relaxed solution is not whole.
    """
    nothing = np.zeros(rows.count)
    relaxed = None
    while True:
        answer = _relax(objective, rows, within, deadline)
        if answer is not None and answer.status == _INFEASIBLE:
            return Optimum(
                None,
                -_NEVER,
                optimal=True,
                relaxed=within.high,
                reduced=nothing,
                relaxed_bound=-_NEVER,
            )
        if answer is None or answer.status != 0:
            bound = _best_sum(objective, within) if relaxed is None else -float(relaxed.fun)
            where = within.high if relaxed is None else relaxed.x
            return Optimum(
                None, bound, optimal=False, relaxed=where, reduced=nothing, relaxed_bound=bound
            )
        relaxed = answer
        if not rows.tighten(relaxed.x):
            break
    bound = -float(relaxed.fun)
    reduced = np.abs(relaxed.lower.marginals) + np.abs(relaxed.upper.marginals)
    world = np.asarray(relaxed.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
    if np.abs(relaxed.x - world).max(initial=0.0) < _WHOLE and rows.hold(world):
        return Optimum(
            world, bound, optimal=True, relaxed=relaxed.x, reduced=reduced, relaxed_bound=bound
        )
    if not branch:
        return Optimum(None, bound, False, relaxed.x, reduced, bound)  # noqa: FBT003 - optimal
    known = None if start is None else start(relaxed.x, bound)
    rows.before_branching(relaxed.x)
    if known is None:
        best, proven, optimal = _branch(objective, rows, within, deadline)
        return Optimum(best, min(bound, proven), optimal, relaxed.x, reduced, bound, branched=True)
    value = float(objective @ known)
    # No solution as good as the known one has these otherwise than the relaxed one.
    loose = reduced <= bound - value + _DUAL_ERROR
    best, proven, optimal = _branch(objective, rows, other_than(known, loose), deadline)
    if best is None or objective @ best < value - _ROUNDING:
        best, proven = known, max(proven, value)
    return Optimum(
        best,
        min(bound, proven),
        optimal,
        relaxed.x,
        reduced,
        bound,
        branched=True,
        alone=optimal and best is known,
    )


def other_than(world: Booleans, loose: Booleans) -> Region:
    """The solutions that differ from a world in a loose statement, and in no other."""
    whole = world.astype(np.float64)
    low, high = np.where(loose, 0.0, whole), np.where(loose, 1.0, whole)
    kept = np.where(loose, np.where(world, 1.0, -1.0), 0.0)
    return Region(low, high, kept, float((world & loose).sum()) - 1.0)


def _relax(objective: Floats, rows: Rows, within: Region, deadline: float) -> Any:  # noqa: ANN401 - scipy's result object
    """SciPy's answer to the linear program, or None when the time is up."""
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    matrix, limits = within.system(rows)
    options: Any = {} if left == _NEVER else {"time_limit": left}
    return linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrix
        -objective,
        A_ub=matrix,
        b_ub=limits,
        bounds=np.stack([within.low, within.high], axis=1),
        options=options,
    )


def _branch(
    objective: Floats, rows: Rows, within: Region, deadline: float
) -> tuple[Booleans | None, float, bool]:
    """A whole solution, a bound, and whether it is proven best."""
    bound = _NEVER
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return None, bound, False
        matrix, limits = within.system(rows)
        options: Any = {"mip_rel_gap": 0.0}
        if left != _NEVER:
            options["time_limit"] = left
        answer = milp(
            -objective,
            integrality=np.ones(rows.count, dtype=np.int64),
            bounds=Bounds(within.low, within.high),
            constraints=LinearConstraint(matrix, -np.inf, limits),
            options=options,
        )
        if answer.mip_dual_bound is not None:
            bound = min(bound, -float(answer.mip_dual_bound))
        if answer.x is None:
            return None, bound, answer.status == _INFEASIBLE
        world = np.asarray(answer.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
        if rows.hold(world):
            return world, bound, answer.status == 0
        rows.tighten(world.astype(np.float64))


def _best_sum(objective: Floats, within: Region) -> float:
    return float(np.maximum(objective * within.low, objective * within.high).sum())
