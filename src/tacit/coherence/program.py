"""The general exact solver: a linear program first, branch and bound (HiGHS) when it must.

Statements are 0 or 1, their constraints linear rows; most often the linear program's solution is
whole already, and is then the best world, proven by duality. Its reduced costs also say which
statements any other best world could tell otherwise, so that ties are found without listing them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from tacit.coherence.constraints import Rows
from tacit.coherence.greedy import bettered, greedy_world

if TYPE_CHECKING:
    from tacit.coherence.structure import Family, Integers
    from tacit.coherence.worlds import Booleans, Floats

# Weights are scaled so that the largest is this; HiGHS works to an absolute 1e-6 or so.
_SCALE = 1000.0
_WHOLE = 1e-5
_NEVER = float("inf")
# The share of the time to look for a proof in; the rest betters a world without one.
_SEARCHING = 0.85
_GRACE = 1.0


@dataclass(frozen=True)
class Program:
    """A weighting of the statements of n items, to be made as heavy as the constraints allow.

    Args:
        family: The relations.
        n: How many items there are.
        weights: One integer per statement, shape (v,).
        ties: Tie-breaking numbers, from 0 to 4,095, shape (v,).
        total: Whether the world is an order of all items.
        break_ties: Whether to look for other best worlds and to choose among them.
    """

    family: Family
    n: int
    weights: Integers
    ties: Integers
    total: bool = False
    break_ties: bool = True


@dataclass(frozen=True)
class Solution:
    """The best world found.

    Args:
        true: Which statements are true, shape (v,).
        free: Which statements are known to be otherwise in another best world, shape (v,).
        bound: No world is heavier than this; the world's own weight when it is proven best.
        optimal: Whether it is proven best.
        settled: Whether all other best worlds were looked for, and the tie rule chose among them.
    """

    true: Booleans
    free: Booleans
    bound: float
    optimal: bool
    settled: bool = True


@dataclass(frozen=True)
class _Region:
    """What to look through: each statement from ``low`` to ``high``, the whole at least a floor."""

    low: Floats
    high: Floats
    weights: Floats | None = None
    floor: float = 0.0

    def system(self, rows: Rows) -> tuple[csr_array, Floats]:
        """Matrix and limits of all rows, the floor among them."""
        if self.weights is None:
            return rows.matrix, rows.limits
        floor = csr_array(-self.weights[None, :])
        return csr_array(vstack([rows.matrix, floor])), np.append(rows.limits, -self.floor)


@dataclass(frozen=True)
class _Optimum:
    world: Booleans | None
    bound: float
    optimal: bool
    relaxed: Floats
    reduced: Floats
    relaxed_bound: float


def solve_program(program: Program, deadline: float = _NEVER) -> Solution:
    """Finds the best world and says how good any world could be.

    Args:
        program: What to solve.
        deadline: The `time.monotonic` at which to stop with the best world found.
    """
    rows = Rows(program.family, program.n, total=program.total)
    scale = _SCALE / max(1, int(np.abs(program.weights).max(initial=0)))
    weights = (program.weights * scale).astype(np.float64)
    if (program.weights >= 0).all():
        least = rows.closed(program.weights > 0)
        if least is not None:
            return _unopposed(program, rows, weights, least, deadline)
    everything = _Region(np.zeros(rows.count), np.ones(rows.count))
    now = time.monotonic()
    search = deadline if deadline == _NEVER else now + _SEARCHING * (deadline - now)
    found = _optimum(weights, rows, everything, search)
    if not found.optimal:
        return _stopped(program, rows, found, scale, deadline)
    if found.world is None:
        raise RuntimeError("a proven best world is missing")
    world: Booleans = found.world
    value = int(program.weights @ world)
    free: Booleans = np.zeros(rows.count, dtype=bool)
    settled = True
    if program.break_ties:
        # A statement whose reduced cost exceeds the slack is the same in every best world.
        slack = found.relaxed_bound - (value - 0.5) * scale
        candidates = found.reduced < slack
        face = _Face(program, rows, weights, (value - 0.5) * scale, deadline)
        world, free, settled = face.explore(world, candidates)
    return Solution(world, free, float(value), optimal=True, settled=settled)


def _unopposed(
    program: Program, rows: Rows, weights: Floats, world: Booleans, deadline: float
) -> Solution:
    """The least world of all that has any weight: none is heavier, and none as heavy is smaller."""
    value = float(program.weights @ world)
    free: Booleans = np.zeros(rows.count, dtype=bool)
    settled = True
    if program.break_ties:
        one, other = rows.clauses.exclusions.T
        candidates = ~world
        candidates[one[world[other]]] = False
        candidates[other[world[one]]] = False
        if program.total:
            # Items that no chain joins may stand either way round.
            free = candidates
        else:
            scale = weights.max(initial=0.0) / max(1, int(program.weights.max(initial=0)))
            face = _Face(program, rows, weights, (value - 0.5) * scale, deadline)
            world, free, settled = face.explore(world, candidates)
    return Solution(world, free, value, optimal=True, settled=settled)


class _Face:
    """The worlds of the best value, and the choice among them."""

    def __init__(
        self, program: Program, rows: Rows, weights: Floats, least: float, deadline: float
    ) -> None:
        self.program = program
        self.rows = rows
        self.weights = weights
        self.least = least
        self.deadline = deadline

    def explore(self, world: Booleans, candidates: Booleans) -> tuple[Booleans, Booleans, bool]:
        """The world that the tie rule chooses, what it alone decided, and whether that is all."""
        settled = True
        free: Booleans = np.zeros(len(world), dtype=bool)
        while (candidates & ~free).any():
            open_ones = candidates & ~free
            turn = np.where(open_ones, np.where(world, -1.0, 1.0), 0.0)
            other = self._best(turn, world, candidates)
            settled = other is not None
            if other is None or not (other != world)[open_ones].any():
                break
            free |= other != world
        if free.any():
            chosen = self._best(-self._cost(free), world, free)
            settled &= chosen is not None
            world = world if chosen is None else chosen
        return world, free, settled

    def _best(self, objective: Floats, world: Booleans, loose: Booleans) -> Booleans | None:
        whole = world.astype(np.float64)
        low, high = np.where(loose, 0.0, whole), np.where(loose, 1.0, whole)
        region = _Region(low, high, self.weights, self.least)
        found = _optimum(objective, self.rows, region, self.deadline)
        weights = self.program.weights
        # Solvers compute in floating point; only an exactly equal value is a tie.
        equal = found.world is not None and weights @ found.world == weights @ world
        return found.world if equal and found.optimal else None

    def _cost(self, free: Booleans) -> Floats:
        ties = self.program.ties / 4096.0
        if self.program.total:
            return np.where(self.program.weights > 0, ties, 0.0)
        return np.where(free, 1.0 + ties / max(1, free.sum()), 0.0)


def _optimum(objective: Floats, rows: Rows, within: _Region, deadline: float) -> _Optimum:
    """The largest objective over whole solutions: relaxed first, then by branch and bound."""
    relaxed = None
    while True:
        answer = _relax(objective, rows, within, deadline)
        if answer is None:
            bound = _best_sum(objective, within) if relaxed is None else -float(relaxed.fun)
            where = within.high if relaxed is None else relaxed.x
            return _Optimum(None, bound, False, where, np.zeros(rows.count), bound)  # noqa: FBT003 - optimal
        relaxed = answer
        cuts = _cuts(rows, relaxed.x)
        if not len(cuts):
            break
        rows.add(cuts)
    bound = -float(relaxed.fun)
    reduced = np.abs(relaxed.lower.marginals) + np.abs(relaxed.upper.marginals)
    world = np.asarray(relaxed.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
    if np.abs(relaxed.x - world).max(initial=0.0) < _WHOLE and rows.hold(world):
        return _Optimum(world, bound, True, relaxed.x, reduced, bound)  # noqa: FBT003 - optimal
    whole, best, optimal = _branch(objective, rows, within, deadline)
    return _Optimum(whole, min(bound, best), optimal, relaxed.x, reduced, bound)


def _cuts(rows: Rows, values: Floats) -> Integers:
    if rows.complete:
        return np.empty((0, 3), dtype=np.int64)
    return rows.broken(values, 10 * rows.count)


def _relax(objective: Floats, rows: Rows, within: _Region, deadline: float) -> Any:  # noqa: ANN401 - scipy's result object
    """SciPy's answer to the linear program, or None when the time is up."""
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    matrix, limits = within.system(rows)
    options: Any = {} if left == _NEVER else {"time_limit": left}
    answer = linprog(  # type: ignore[call-overload]  # the stubs know no sparse matrix
        -objective,
        A_ub=matrix,
        b_ub=limits,
        bounds=np.stack([within.low, within.high], axis=1),
        options=options,
    )
    return answer if answer.status == 0 else None


def _branch(
    objective: Floats, rows: Rows, within: _Region, deadline: float
) -> tuple[Booleans | None, float, bool]:
    """A whole solution, a bound, and whether it is proven best."""
    bound = _NEVER
    rows.before_branching()
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
            return None, bound, False
        world = np.asarray(answer.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
        if rows.hold(world):
            return world, bound, answer.status == 0
        rows.add(rows.broken(world.astype(np.float64)))


def _best_sum(objective: Floats, within: _Region) -> float:
    return float(np.maximum(objective * within.low, objective * within.high).sum())


def _stopped(
    program: Program, rows: Rows, found: _Optimum, scale: float, deadline: float
) -> Solution:
    """The best world that could be found in time, with the bound that was proven."""
    # A solver may overrun, and some world is worth a second more.
    enough = max(deadline, time.monotonic() + _GRACE)
    world = greedy_world(rows, program.weights, found.relaxed, enough)
    if found.world is not None and program.weights @ found.world > program.weights @ world:
        world = found.world
    world = bettered(rows, program.weights, world, deadline)
    value = int(program.weights @ world)
    # All weights are integers, so a bound between two of them is as good as the lower one.
    bound = max(float(value), float(np.floor(found.bound / scale + 1e-6)))
    nothing = np.zeros(rows.count, dtype=bool)
    return Solution(world, nothing, bound, optimal=bound == value, settled=False)
