"""The linear program for repair; transitive constraints are added only when needed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.sparse import csr_array, vstack

from tacit.coherence.constraints import clauses_of, triples_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tacit.coherence.constraints import Family, Integers
    from tacit.coherence.enumeration import Booleans, Floats


# With more transitive constraints than this, only those that a solution violates are added.
_MOST_TRIPLES = 4000
# Branch and bound also gets constraints that the relaxed solution satisfies by less than this.
_NEARLY = 0.5
_MOST_BRANCHED = 100_000
_TOLERANCE = 1e-6


class Rows:
    """Rows a·x <= b of a linear program; each entry of x is a statement's truth value."""

    def __init__(self, family: Family, n: int, *, total: bool) -> None:
        self.clauses = clauses_of(family, n)
        self.total = total
        self._family = family
        self._n = n
        exclusions = self.clauses.exclusions
        implications = self.clauses.implications
        self.matrix = self._block(exclusions, (1.0, 1.0))
        self.limits = np.ones(len(exclusions))
        self._append(self._block(implications, (1.0, -1.0)), np.zeros(len(implications)))
        if total:
            self._append(self._block(exclusions, (-1.0, -1.0)), -np.ones(len(exclusions)))
        transitive = sum(each.transitive for each in family.classes)
        # In an order of all items, the three transitive rows around a cycle are equivalent.
        self.triples = transitive * n * (n - 1) * (n - 2) // (3 if total else 1)
        self.complete = False
        self._complete(_MOST_TRIPLES)

    @property
    def count(self) -> int:
        """The number of statements, which is the number of variables of the linear program."""
        return len(self.clauses.variables)

    def before_branching(self, values: Floats) -> None:
        """Add rows for transitive constraints that ``values`` violates or nearly violates."""
        if not self.complete:
            self.add(self.violated(values, _MOST_BRANCHED, least=-_NEARLY))

    def add(self, triples: Integers) -> None:
        """Add one row for each transitive constraint in ``triples``, shape (t, 3)."""
        if len(triples):
            self._append(self._block(triples, (1.0, 1.0, -1.0)), np.ones(len(triples)))

    def tighten(self, values: Floats) -> bool:
        """Add violated transitive and cycle constraints as rows; return whether any was added."""
        most = 10 * self.count
        triples = self._no_triples() if self.complete else self.violated(values, most)
        cycles = self.violated_cycles(values)[:most]
        self.add(triples)
        self._add_cycles(cycles)
        return len(triples) + len(cycles) > 0

    def violated(
        self, values: Floats, most: int | None = None, least: float = _TOLERANCE
    ) -> Integers:
        """Return transitive constraints that ``values`` violates by more than ``least``."""
        found = []
        amounts = []
        for position, each in enumerate(self._family.classes):
            if each.transitive:
                index = self.clauses.index[position]
                dense = np.where(index >= 0, values[index], 0.0)
                excess = dense[:, :, None] + dense[None, :, :] - dense[:, None, :] - 1.0
                i, j, k = np.nonzero(excess > least)
                apart = (i < np.minimum(j, k)) & (j != k) if self.total else i != k
                i, j, k = i[apart], j[apart], k[apart]
                found.append(np.stack([index[i, j], index[j, k], index[i, k]], axis=1))
                amounts.append(excess[i, j, k])
        triples = np.concatenate([*found, self._no_triples()])
        worst = np.argsort(-np.concatenate([*amounts, np.empty(0)]), kind="stable")
        return triples[worst[:most]]

    def violated_cycles(self, values: Floats) -> Integers:
        """Return the violated cycle inequalities as rows of six statement indices each."""
        found = [np.empty((0, 6), dtype=np.int64)]
        amounts = [np.empty(0)]
        for position, each in enumerate(self._family.classes):
            strict = each.transitive and each.asymmetric and not each.symmetric
            if self.total or not strict or self._n == 1:
                continue
            index = self.clauses.index[position]
            lead = np.where(index >= 0, values[index] - values[index.T], 0.0)
            excess = lead[:, :, None] + lead[None, :, :] + lead.T[:, None, :] - 1.0
            i, j, k = np.nonzero(excess > _TOLERANCE)
            first = (i < np.minimum(j, k)) & (j != k)
            i, j, k = i[first], j[first], k[first]
            ends = ((i, j), (j, k), (k, i), (j, i), (k, j), (i, k))
            found.append(np.stack([index[end] for end in ends], axis=1))
            amounts.append(excess[i, j, k])
        worst = np.argsort(-np.concatenate(amounts), kind="stable")
        return np.concatenate(found)[worst]

    def hold(self, assignment: Booleans) -> bool:
        """Return whether an assignment satisfies every pairwise and transitive constraint."""
        clauses = self.clauses
        clash = (assignment[clauses.exclusions[:, 0]] & assignment[clauses.exclusions[:, 1]]).any()
        gap = (
            assignment[clauses.implications[:, 0]] & ~assignment[clauses.implications[:, 1]]
        ).any()
        return not (clash or gap or len(self.violated(assignment.astype(np.float64), 1)))

    def closed(self, assignment: Booleans) -> Booleans | None:
        """Return an assignment with all implied statements added; None if it is inconsistent."""
        clauses = self.clauses
        assignment = assignment.copy()
        while True:
            before = assignment.sum()
            for first, then in clauses.implications:
                assignment[then] |= assignment[first]
            for position, each in enumerate(self._family.classes):
                if each.transitive:
                    index = clauses.index[position]
                    dense = (index >= 0) & assignment[index]
                    np.fill_diagonal(dense, val=False)
                    for middle in range(self._n):
                        dense |= dense[:, middle, None] & dense[middle]
                    np.fill_diagonal(dense, val=False)
                    assignment[index[dense]] = True
            if assignment.sum() == before:
                break
        clash = (assignment[clauses.exclusions[:, 0]] & assignment[clauses.exclusions[:, 1]]).any()
        return None if clash else assignment

    def _complete(self, most: int) -> None:
        if not self.complete and self.triples <= most:
            triples = triples_of(self._family, self._n)
            if self.total:
                ends = self.clauses.variables[:, 1:]
                i, j, k = ends[triples[:, 0], 0], ends[triples[:, 0], 1], ends[triples[:, 1], 1]
                triples = triples[i < np.minimum(j, k)]
            self.add(triples)
            self.complete = True

    def _add_cycles(self, cycles: Integers) -> None:
        if len(cycles):
            signs = (1.0, 1.0, 1.0, -1.0, -1.0, -1.0)
            self._append(self._block(cycles, signs), np.ones(len(cycles)))

    def _no_triples(self) -> Integers:
        return np.empty((0, 3), dtype=np.int64)

    def _append(self, block: csr_array, limits: Floats) -> None:
        if len(limits):
            self.matrix = csr_array(vstack([self.matrix, block]))
            self.limits = np.concatenate([self.limits, limits])

    def _block(self, members: Integers, signs: tuple[float, ...]) -> csr_array:
        rows = np.repeat(np.arange(len(members)), members.shape[1])
        entries = np.tile(signs, len(members))
        shape = (len(members), len(self.clauses.variables))
        return csr_array((entries, (rows, members.ravel())), shape=shape)


_WHOLE = 1e-5
_NEVER = float("inf")
# SciPy's status code for an infeasible program.
_INFEASIBLE = 2
# Tolerance for reduced costs, which are computed in floating point.
_DUAL_ERROR = 1e-3
# Equal sums differ by less than this, and unequal sums by more.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Region:
    """A search region: bounds on each variable, one linear constraint, and tight rows."""

    low: Floats
    high: Floats
    row: Floats | None = None
    limit: float = 0.0
    tight: Booleans | None = None

    def system(self, rows: Rows) -> tuple[csr_array, Floats, Floats]:
        """Return ``rows`` and the region's own constraint: a matrix, lower and upper limits."""
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
    """The result of a search for the best integer solution in a search region."""

    assignment: Booleans | None
    bound: float
    optimal: bool
    relaxed: Floats
    reduced: Floats
    prices: Floats
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
    """Find the best integer solution by linear programming and branch and bound."""
    nothing = np.zeros(rows.count)
    no_prices = np.zeros(0)
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
                prices=no_prices,
                relaxed_bound=-_NEVER,
            )
        if answer is None or answer.status != 0:
            bound = _best_sum(objective, within) if relaxed is None else -float(relaxed.fun)
            where = within.high if relaxed is None else relaxed.x
            return Optimum(None, bound, False, where, nothing, no_prices, bound)  # noqa: FBT003 - optimal
        relaxed = answer
        if not rows.tighten(relaxed.x):
            break
    bound = -float(relaxed.fun)
    reduced = np.abs(relaxed.lower.marginals) + np.abs(relaxed.upper.marginals)
    prices = np.abs(relaxed.ineqlin.marginals)
    assignment = np.asarray(relaxed.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
    if np.abs(relaxed.x - assignment).max(initial=0.0) < _WHOLE and rows.hold(assignment):
        return Optimum(assignment, bound, True, relaxed.x, reduced, prices, bound)  # noqa: FBT003 - optimal
    if not branch:
        return Optimum(None, bound, False, relaxed.x, reduced, prices, bound)  # noqa: FBT003 - optimal
    known = None if start is None else start(relaxed.x, bound)
    rows.before_branching(relaxed.x)
    if known is None:
        best, proven, optimal = _branch(objective, rows, within, deadline)
        least = min(bound, proven)
        return Optimum(best, least, optimal, relaxed.x, reduced, prices, bound, branched=True)
    value = float(objective @ known)
    # Statements that are not loose have the relaxed value in every solution as good as this one.
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
        prices,
        bound,
        branched=True,
        alone=optimal and best is known,
    )


def other_than(assignment: Booleans, loose: Booleans) -> Region:
    """Return a search region of assignments that are not equal to ``assignment``."""
    whole = assignment.astype(np.float64)
    low, high = np.where(loose, 0.0, whole), np.where(loose, 1.0, whole)
    kept = np.where(loose, np.where(assignment, 1.0, -1.0), 0.0)
    return Region(low, high, kept, float((assignment & loose).sum()) - 1.0)


def _relax(objective: Floats, rows: Rows, within: Region, deadline: float) -> Any:  # noqa: ANN401 - scipy's result object
    """Return SciPy's result for the linear program, or None if the deadline has passed."""
    left = deadline - time.monotonic()
    if left <= 0:
        return None
    matrix, least, most = within.system(rows)
    equal = least == most
    options: Any = {} if left == _NEVER else {"time_limit": left}
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
    objective: Floats, rows: Rows, within: Region, deadline: float
) -> tuple[Booleans | None, float, bool]:
    """Run branch and bound; return a solution, an upper bound, and whether the run finished."""
    bound = _NEVER
    while True:
        left = deadline - time.monotonic()
        if left <= 0:
            return None, bound, False
        matrix, least, most = within.system(rows)
        options: Any = {"mip_rel_gap": 0.0}
        if left != _NEVER:
            options["time_limit"] = left
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
            return None, bound, answer.status == _INFEASIBLE
        assignment = np.asarray(answer.x > 0.5)  # noqa: PLR2004 - nearer to 1 than to 0
        if rows.hold(assignment):
            return assignment, bound, answer.status == 0
        rows.tighten(assignment.astype(np.float64))


def _best_sum(objective: Floats, within: Region) -> float:
    return float(np.maximum(objective * within.low, objective * within.high).sum())
