"""Solve repair problems exactly by linear programming and, if needed, branch and bound."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.linear_program import Optimum, Region, Rows, best_solution, other_than
from tacit.coherence.local_search import greedy_assignment, search_assignment, search_order
from tacit.coherence.relaxation import pairwise_bound, relaxed_bound

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.coherence.constraints import Family, Integers
    from tacit.coherence.enumeration import Booleans, Floats

# Weights are scaled to this maximum, because HiGHS has an absolute tolerance of about 1e-6.
_SCALE = 1000.0
_NEVER = float("inf")
# Cumulative shares of the time for a large program: linear program, local search, bound, exact
# search; a second local search uses the rest. A small program starts with the exact search.
_RELAXED_UNTIL = 0.1
_SEARCH_UNTIL = 0.25
_BOUND_UNTIL = 0.5
_EXACT_UNTIL = 0.85
_MOST_QUICK = 20_000
_FEW_TRIPLES = 2000
# Thousands of problems with so few items can remain when time is up.
_FEW_ITEMS = 20


@dataclass(frozen=True)
class Program:
    """An integer program: find the consistent assignment with the largest total weight."""

    family: Family
    n: int
    weights: Integers
    ties: Integers
    total: bool = False
    break_ties: bool = True


@dataclass(frozen=True)
class Solution:
    """The best assignment that the solver found."""

    true: Booleans
    free: Booleans
    bound: float
    optimal: bool
    settled: bool = True


@dataclass(frozen=True)
class _Limits:
    """The `time.monotonic` values at which the stages of the solver end."""

    relaxed: float
    search: float
    bound: float
    exact: float

    @classmethod
    def until(cls, deadline: float) -> _Limits:
        """Divide the time until the deadline among the stages of the solver."""
        now = time.monotonic()
        shares = (_RELAXED_UNTIL, _SEARCH_UNTIL, _BOUND_UNTIL, _EXACT_UNTIL)
        return cls(*(now + share * (deadline - now) for share in shares))


def solve_program(
    program: Program,
    deadline: float = _NEVER,
    report: Callable[[Solution], None] | None = None,
) -> Solution:
    """Find the best consistent assignment and an upper bound on its total weight."""
    rows = Rows(program.family, program.n, total=program.total)
    scale = _SCALE / max(1, int(np.abs(program.weights).max(initial=0)))
    weights = (program.weights * scale).astype(np.float64)
    least = rows.closed(program.weights > 0) if (program.weights >= 0).all() else None
    if least is not None:
        return _unopposed(program, rows, weights, least, deadline)
    found, known = _search(program, rows, weights, deadline, report or (lambda _: None))
    if not found.optimal:
        return _stopped(program, rows, found, known, deadline)
    if found.assignment is None:
        raise RuntimeError("a proven optimal assignment is missing")
    assignment: Booleans = found.assignment
    free: Booleans = np.zeros(rows.count, dtype=bool)
    settled = True
    if program.break_ties:
        value = int(program.weights @ assignment)
        # A statement whose reduced cost exceeds the slack is equal in all best assignments.
        slack = found.relaxed_bound - (value - 0.5) * scale
        candidates = found.reduced < slack
        # By the same argument, all best assignments satisfy a costly row with equality.
        tight = found.prices > slack
        face = _Face(program, rows, weights, (value - 0.5) * scale, deadline, tight)
        if not found.alone and not (found.branched and face.alone(assignment, candidates)):
            assignment, free, settled = face.explore(assignment, candidates)
    return Solution(
        assignment, free, float(program.weights @ assignment), optimal=True, settled=settled
    )


def _search(
    program: Program,
    rows: Rows,
    weights: Floats,
    deadline: float,
    tell: Callable[[Solution], None],
) -> tuple[Optimum, Solution | None]:
    """Run the exact search; for a large program, run a local search before it."""
    scale = _SCALE / max(1, int(np.abs(program.weights).max(initial=0)))
    everything = Region(np.zeros(rows.count), np.ones(rows.count))
    limits = _Limits.until(deadline)
    known = None
    if rows.triples > _MOST_QUICK and deadline < _NEVER:
        found = best_solution(weights, rows, everything, limits.relaxed, branch=False)
        if found.optimal:
            return found, None
        first = search_assignment(program, rows, found.relaxed, limits.search)
        known = _unproven(program, first, relaxed_bound(program, limits.bound))
        tell(known)

    def start(relaxed: Floats, bound: float) -> Booleans:
        if known is not None:
            return known.true
        first = search_assignment(program, rows, relaxed, limits.exact)
        tell(_unproven(program, first, bound / scale))
        return first

    # With few rows, branch and bound is faster than local search.
    few = rows.triples <= _FEW_TRIPLES
    return best_solution(weights, rows, everything, limits.exact, None if few else start), known


def _unopposed(
    program: Program, rows: Rows, weights: Floats, assignment: Booleans, deadline: float
) -> Solution:
    """Solve an integer program whose positive-weight statements can all be true together."""
    value = float(program.weights @ assignment)
    free: Booleans = np.zeros(rows.count, dtype=bool)
    settled = True
    if program.break_ties:
        one, other = rows.clauses.exclusions.T
        candidates = ~assignment
        candidates[one[assignment[other]]] = False
        candidates[other[assignment[one]]] = False
        if program.total:
            # Items that no chain connects can be in either order.
            free = candidates
        else:
            scale = weights.max(initial=0.0) / max(1, int(program.weights.max(initial=0)))
            face = _Face(program, rows, weights, (value - 0.5) * scale, deadline)
            assignment, free, settled = face.explore(assignment, candidates)
    return Solution(assignment, free, value, optimal=True, settled=settled)


class _Face:
    """The assignments with the largest total weight; the tie rule chooses one of them."""

    def __init__(
        self,
        program: Program,
        rows: Rows,
        weights: Floats,
        least: float,
        deadline: float,
        tight: Booleans | None = None,
    ) -> None:
        self.program = program
        self.rows = rows
        self.weights = weights
        self.least = least
        self.deadline = deadline
        self.tight = tight

    def alone(self, assignment: Booleans, candidates: Booleans) -> bool:
        """Return whether ``assignment`` is proven to be the only best assignment."""
        found = best_solution(
            self.weights, self.rows, other_than(assignment, candidates), self.deadline
        )
        if not found.optimal:
            return False
        weights = self.program.weights
        return found.assignment is None or bool(weights @ found.assignment < weights @ assignment)

    def explore(
        self, assignment: Booleans, candidates: Booleans
    ) -> tuple[Booleans, Booleans, bool]:
        """Choose, by a fixed rule, one of the assignments with the largest total weight."""
        settled = True
        free: Booleans = np.zeros(len(assignment), dtype=bool)
        while (candidates & ~free).any():
            open_ones = candidates & ~free
            turn = np.where(open_ones, np.where(assignment, -1.0, 1.0), 0.0)
            other = self._best(turn, assignment, candidates)
            settled = other is not None
            if other is None or not (other != assignment)[open_ones].any():
                break
            free |= other != assignment
        if free.any():
            chosen = self._best(-self._cost(free), assignment, free)
            settled &= chosen is not None
            assignment = assignment if chosen is None else chosen
        return assignment, free, settled

    def _best(self, objective: Floats, assignment: Booleans, loose: Booleans) -> Booleans | None:
        whole = assignment.astype(np.float64)
        low, high = np.where(loose, 0.0, whole), np.where(loose, 1.0, whole)
        region = Region(low, high, -self.weights, -self.least, self.tight)
        found = best_solution(objective, self.rows, region, self.deadline)
        weights = self.program.weights
        # The solver computes in floating point; only an exactly equal integer value is a tie.
        equal = found.assignment is not None and weights @ found.assignment == weights @ assignment
        return found.assignment if equal and found.optimal else None

    def _cost(self, free: Booleans) -> Floats:
        ties = self.program.ties / 4096.0
        if self.program.total:
            return np.where(self.program.weights > 0, ties, 0.0)
        return np.where(free, 1.0 + ties / max(1, free.sum()), 0.0)


def quick_solution(program: Program, deadline: float) -> Solution:
    """Quickly compute a consistent assignment and an upper bound on the best total weight."""
    if time.monotonic() >= deadline and program.n <= _FEW_ITEMS:
        nothing = np.zeros(len(program.weights), dtype=bool)
        assignment = search_order(program, 0, deadline) if program.family.order else nothing
        return _unproven(program, assignment, pairwise_bound(program))
    rows = Rows(program.family, program.n, total=program.total)
    least = rows.closed(program.weights > 0) if (program.weights >= 0).all() else None
    if least is not None:
        weights = program.weights.astype(np.float64)
        hurried = replace(program, break_ties=program.break_ties and program.total)
        found = _unopposed(hurried, rows, weights, least, deadline)
        return replace(found, settled=hurried.break_ties == program.break_ties)
    if program.family.order:
        assignment = search_order(program, 0, deadline)
    else:
        assignment = greedy_assignment(rows, program.weights, np.zeros(rows.count), deadline)
    return _unproven(program, assignment, pairwise_bound(program))


def _stopped(
    program: Program, rows: Rows, found: Optimum, known: Solution | None, deadline: float
) -> Solution:
    """Return the best assignment found before the solver stopped, and an upper bound."""
    scale = _SCALE / max(1, int(np.abs(program.weights).max(initial=0)))
    bound = min(found.bound / scale, pairwise_bound(program))
    assignments = [] if found.assignment is None else [found.assignment]
    if known is not None:
        assignments.append(known.true)
        bound = min(bound, known.bound)
    if program.family.order:
        assignments.append(search_order(program, None, deadline))
    else:
        assignments.append(search_assignment(program, rows, found.relaxed, deadline))
    return _unproven(
        program, max(assignments, key=lambda assignment: int(program.weights @ assignment)), bound
    )


def _unproven(program: Program, assignment: Booleans, bound: float) -> Solution:
    value = int(program.weights @ assignment)
    # All weights are integers, so the bound can be rounded down.
    bound = max(float(value), float(np.floor(bound * (1 + 1e-12) + 1e-6)))
    nothing = np.zeros(len(assignment), dtype=bool)
    return Solution(assignment, nothing, bound, optimal=bound == value, settled=False)
