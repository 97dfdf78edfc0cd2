"""Exact repair of one problem: a linear program and, if its solution is not whole, HiGHS."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from tacit.coherence.closure import Booleans, Floats, Integers, Rules
from tacit.coherence.constraints import clauses_of
from tacit.coherence.rows import ProgramRows

# Weights are scaled to this maximum, because HiGHS has an absolute tolerance of about 1e-6.
_SCALE = 1000.0
_WHOLE = 1e-5
# Share of the time after which a greedy assignment replaces the proof.
_EXACT = 0.85


@dataclass(frozen=True)
class Program:
    """A problem: find the consistent assignment of truth values with the largest total weight.

    ``total`` restricts the assignments to orders of all items, and ``break_ties`` says whether
    equally good assignments are compared.
    """

    rules: Rules
    n: int
    weights: Integers
    ties: Integers
    total: bool = False
    break_ties: bool = True

    @property
    def scale(self) -> float:
        """The factor of the weights in linear programs."""
        return _SCALE / max(1, int(np.abs(self.weights).max(initial=0)))

    @property
    def objective(self) -> Floats:
        """The scaled weights."""
        return (self.weights * self.scale).astype(np.float64)


@dataclass(frozen=True)
class Solution:
    """An assignment, the statements that a tie decided, and a bound on the total weight."""

    true: Booleans
    free: Booleans
    bound: float
    optimal: bool
    settled: bool = True


def solve_program(program: Program, deadline: float = math.inf) -> Solution:
    """Find the best consistent assignment; at the deadline, a greedy one and a bound."""
    rows = ProgramRows(program.rules, program.n, total=program.total)
    weights = program.weights
    true, false = rows.closed(weights > 0)
    nothing: Booleans = np.zeros(rows.count, dtype=bool)
    if not (true & false).any() and (weights[true] >= 0).all():
        # All best assignments contain this one, and more statements of weight 0 at most.
        candidates = ~true & ~false & (weights == 0)
        if program.total or not program.break_ties:
            # Items that no chain connects can be in either order.
            free = candidates if program.break_ties else nothing
            return Solution(true, free, float(weights @ true), optimal=True)
        return _settled(_Ties(program, rows, true, candidates, None, deadline))
    left = deadline - time.monotonic()
    exact = deadline if left == math.inf else deadline - (1 - _EXACT) * left
    found = maximize(program.objective, rows, Region.everything(rows.count), exact)
    best = found.assignment
    if best is None or not found.optimal:
        return _greedy_unless_better(program, rows, found, deadline)
    if not program.break_ties:
        return Solution(best, nothing, float(weights @ best), optimal=True)
    # A statement whose reduced cost exceeds the slack is equal in all best assignments, and all of
    # them satisfy a row whose price exceeds the slack with equality.
    slack = found.relaxed_bound - (int(weights @ best) - 0.5) * program.scale
    tight = found.prices > slack
    return _settled(_Ties(program, rows, best, found.reduced < slack, tight, deadline))


def _greedy_unless_better(
    program: Program, rows: ProgramRows, found: Optimum, deadline: float
) -> Solution:
    """Return the best assignment known at the deadline, and an upper bound."""
    likely = np.lexsort((-program.weights, -np.round(found.relaxed, 3)))
    nothing: Booleans = np.zeros(rows.count, dtype=bool)
    best = _improved(program, rows, _greedy(program, rows, nothing, likely, deadline), deadline)
    value = int(program.weights @ best)
    if found.assignment is not None and program.weights @ found.assignment > value:
        best, value = found.assignment, int(program.weights @ found.assignment)
    # All weights are integers, so the bound can be rounded down.
    bound = max(value, math.floor(found.bound / program.scale * (1 + 1e-12) + 1e-6))
    return Solution(best, nothing, float(bound), optimal=bound == value, settled=False)


def _greedy(
    program: Program, rows: ProgramRows, start: Booleans, order: Integers, deadline: float
) -> Booleans:
    """Add the statements, in order, that fit the others and raise the total weight."""
    weights = program.weights
    true, false = rows.closed(start)
    waiting = [order[weights[order] > 0]]
    while waiting and (time.monotonic() < deadline or not true.any()):
        some = waiting.pop()
        some = some[~(true | false)[some]]
        more = true.copy()
        more[some] = True
        more, less = rows.closed(more)
        if not (more & less).any() and weights @ more > weights @ true:
            true, false = more, less
        elif len(some) > 1:
            waiting += np.array_split(some, 2)[::-1]
    return true


def _improved(program: Program, rows: ProgramRows, best: Booleans, deadline: float) -> Booleans:
    """Choose the statements about one item again, until no item's choice raises the weight."""
    ends = clauses_of(program.rules, program.n).variables[:, 1:]
    heaviest = np.argsort(-program.weights, kind="stable")
    item = unchanged = 0
    while unchanged < program.n and time.monotonic() < deadline:
        mine = (ends == item).any(axis=1)
        trial = _greedy(program, rows, best & ~mine, heaviest[mine[heaviest]], deadline)
        better = program.weights @ trial > program.weights @ best
        best, unchanged = (trial, 0) if better else (best, unchanged + 1)
        item = (item + 1) % program.n
    return best


@dataclass(frozen=True)
class _Ties:
    """A best assignment, and the statements that may differ in the other best assignments."""

    program: Program
    rows: ProgramRows
    best: Booleans
    candidates: Booleans
    tight: Booleans | None
    deadline: float

    def other(self, objective: Floats, loose: Booleans) -> Booleans | None:
        """Return the best assignment with the largest objective; None if the search failed."""
        weights, scale = self.program.weights, self.program.scale
        value = int(weights @ self.best)
        low, high = np.where(loose, 0.0, self.best), np.where(loose, 1.0, self.best)
        region = Region(low, high, -self.program.objective, (0.5 - value) * scale, self.tight)
        found = maximize(objective, self.rows, region, self.deadline)
        # The solver computes in floating point; only an exactly equal integer value is a tie.
        equal = found.assignment is not None and weights @ found.assignment == value
        return found.assignment if equal and found.optimal else None


def _settled(of: _Ties) -> Solution:
    """Choose, by a fixed rule, one of the assignments with the largest total weight."""
    best, settled = of.best, True
    free: Booleans = np.zeros(len(best), dtype=bool)
    while (left := of.candidates & ~free).any():
        other = of.other(np.where(left, np.where(best, -1.0, 1.0), 0.0), of.candidates)
        settled = other is not None
        if other is None or not (other != best)[left].any():
            break
        free |= other != best
    if free.any():
        ties = of.program.ties / 4096.0
        fewest = np.where(free, 1.0 + ties / max(1, free.sum()), 0.0)
        cost = np.where(of.program.weights > 0, ties, 0.0) if of.program.total else fewest
        chosen = of.other(-cost, free)
        settled &= chosen is not None
        best = best if chosen is None else chosen
    value = float(of.program.weights @ best)
    return Solution(best, free, value, optimal=True, settled=settled)


@dataclass(frozen=True)
class Region:
    """A part of the assignments: bounds of each statement, one more row, and tight rows."""

    low: Floats
    high: Floats
    row: Floats | None = None
    limit: float = 0.0
    tight: Booleans | None = None

    @classmethod
    def everything(cls, count: int) -> Region:
        """Return the region of all assignments of a number of statements."""
        return cls(np.zeros(count), np.ones(count))

    def system(self, rows: ProgramRows) -> tuple[csr_array, Floats, Floats]:
        """Return ``rows`` and the region's own row: a matrix, lower and upper limits."""
        low = np.full(len(rows.limits), -np.inf)
        if self.tight is not None:  # rows are only ever added at the end
            equal = np.flatnonzero(self.tight)
            low[equal] = rows.limits[equal]
        if self.row is None:
            return rows.matrix, low, rows.limits
        matrix = csr_array(vstack([rows.matrix, csr_array(self.row[None, :])]))
        return matrix, np.append(low, -np.inf), np.append(rows.limits, self.limit)


@dataclass(frozen=True)
class Optimum:
    """The best assignment found in a region, and the solution of the linear relaxation."""

    assignment: Booleans | None
    bound: float
    optimal: bool
    relaxed: Floats
    reduced: Floats
    prices: Floats
    relaxed_bound: float


def maximize(objective: Floats, rows: ProgramRows, within: Region, deadline: float) -> Optimum:
    """Find the best assignment in a region by linear programming and branch and bound."""
    bound = float(np.maximum(objective * within.low, objective * within.high).sum())
    relaxed, reduced, prices = within.high, np.zeros(rows.count), np.zeros(0)
    while True:
        answer = _relax(objective, rows, within, deadline)
        if answer is None or answer.status != 0:
            return Optimum(None, bound, False, relaxed, reduced, prices, bound)  # noqa: FBT003 - optimal
        bound, relaxed = -float(answer.fun), answer.x
        if not rows.tighten(relaxed):
            break
    reduced = np.abs(answer.lower.marginals) + np.abs(answer.upper.marginals)
    prices = np.abs(answer.ineqlin.marginals)
    whole: Booleans = np.asarray(relaxed > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
    if np.abs(relaxed - whole).max(initial=0.0) < _WHOLE and rows.hold(whole):
        return Optimum(whole, bound, True, relaxed, reduced, prices, bound)  # noqa: FBT003 - optimal
    rows.add_nearly_violated(relaxed)
    best, proven, optimal = _branch(objective, rows, within, deadline)
    likely = relaxed if best is None else best.astype(np.float64)
    proven = min(bound, proven)
    if best is None or not rows.hold(best):
        return Optimum(None, proven, False, likely, reduced, prices, bound)  # noqa: FBT003 - optimal
    return Optimum(best, proven, optimal, likely, reduced, prices, bound)


def _relax(objective: Floats, rows: ProgramRows, within: Region, deadline: float) -> Any:  # noqa: ANN401 - scipy's result object
    """Return SciPy's result for the linear program, or None if the deadline has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    matrix, least, most = within.system(rows)
    equal = least == most
    options: Any = {} if left == math.inf else {"time_limit": left}
    return linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrix
        -objective,
        A_ub=matrix[~equal],
        b_ub=most[~equal],
        A_eq=matrix[equal],
        b_eq=most[equal],
        bounds=np.stack([within.low, within.high], axis=1),
        options=options,
    )


def _branch(
    objective: Floats, rows: ProgramRows, within: Region, deadline: float
) -> tuple[Booleans | None, float, bool]:
    """Run branch and bound; return a solution, an upper bound, and whether the run finished."""
    bound, assignment = math.inf, None
    while (left := deadline - time.monotonic()) > 0:
        matrix, least, most = within.system(rows)
        options: Any = {"mip_rel_gap": 0.0} | ({} if left == math.inf else {"time_limit": left})
        answer = milp(
            -objective,
            integrality=np.ones(rows.count, dtype=np.int64),
            bounds=Bounds(within.low, within.high),
            constraints=LinearConstraint(matrix, least, most),
            options=options,
        )
        if answer.mip_dual_bound is not None:
            bound = min(bound, -float(answer.mip_dual_bound))
        if answer.x is None:
            break
        assignment = np.asarray(answer.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
        if rows.hold(assignment):
            return assignment, bound, answer.status == 0
        rows.tighten(assignment.astype(np.float64))
    return assignment, bound, False
