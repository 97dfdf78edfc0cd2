"""The constraints of a repair problem as rows of a linear program, some only when violated."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.coherence.closure import Booleans, Floats, Integers, Rules, close, denied
from tacit.coherence.constraints import clauses_of, triples_of

# With more transitive constraints than this, only those that a solution violates are added.
_MOST_TRIPLES = 4000
# Branch and bound also gets constraints that the relaxed solution satisfies by less than this.
_NEARLY = 0.5
_MOST_BRANCHED = 100_000
_TOLERANCE = 1e-6


class ProgramRows:
    """Rows a·x <= b of a linear program; each entry of x is a statement's truth value."""

    def __init__(self, rules: Rules, n: int, *, total: bool) -> None:
        self.rules, self.n, self.total = rules, n, total
        clauses = clauses_of(self.rules, self.n)
        self.index = clauses.index
        self.count = len(clauses.variables)
        self.matrix = csr_array((0, self.count))
        self.limits: Floats = np.zeros(0)
        self._add(clauses.exclusions, (1, 1), 1)
        self._add(clauses.implications, (1, -1), 0)
        if self.total:
            self._add(clauses.exclusions, (-1, -1), -1)
        # In an order of all items, the three transitive rows around a cycle are equivalent.
        triples = self.n * (self.n - 1) * (self.n - 2) // (3 if self.total else 1)
        self.complete = len(self.rules.transitive) * triples <= _MOST_TRIPLES
        if self.complete:
            self._add(self._chains(triples_of(self.rules, self.n)), (1, 1, -1), 1)

    def tighten(self, values: Floats) -> bool:
        """Add violated transitive and cycle constraints as rows; return whether any was added."""
        before, most = len(self.limits), 10 * self.count
        if not self.complete:
            self._add(self._violated(values, most, _TOLERANCE), (1, 1, -1), 1)
        self._add(self._violated_cycles(values, most), (1, 1, 1, -1, -1, -1), 1)
        return len(self.limits) > before

    def add_nearly_violated(self, values: Floats) -> None:
        """Add rows for transitive constraints that ``values`` violates or nearly violates."""
        if not self.complete:
            self._add(self._violated(values, _MOST_BRANCHED, -_NEARLY), (1, 1, -1), 1)

    def closed(self, assignment: Booleans) -> tuple[Booleans, Booleans]:
        """Return an assignment with all implied statements, and the statements it rules out."""
        true = ((self.index >= 0) & assignment[self.index])[None]
        close(true, self.rules)
        return self._listed(true[0]), self._listed(denied(true, self.rules)[0])

    def hold(self, assignment: Booleans) -> bool:
        """Return whether an assignment violates no constraint."""
        true, false = self.closed(assignment)
        return bool((true == assignment).all() and not (true & false).any())

    def _listed(self, statements: Booleans) -> Booleans:
        listed: Booleans = np.zeros(self.count, dtype=bool)
        listed[self.index[statements & (self.index >= 0)]] = True
        return listed

    def _chains(self, triples: Integers) -> Integers:
        """Return one transitive constraint of three if they are equivalent."""
        if not self.total:
            return triples
        ends = clauses_of(self.rules, self.n).variables[:, 1:]
        i, j, k = ends[triples[:, 0], 0], ends[triples[:, 0], 1], ends[triples[:, 1], 1]
        one_of_three: Integers = triples[i < np.minimum(j, k)]
        return one_of_three

    def _violated(self, values: Floats, most: int, least: float) -> Integers:
        """Return transitive constraints that ``values`` violates by more than ``least``."""
        found, amounts = [np.empty((0, 3), dtype=np.int64)], [np.empty(0)]
        for index in self.index[self.rules.transitive]:
            dense = np.where(index >= 0, values[index], 0.0)
            excess = dense[:, :, None] + dense[None, :, :] - dense[:, None, :] - 1.0
            i, j, k = np.nonzero(excess > least)
            apart = (i < np.minimum(j, k)) & (j != k) if self.total else i != k
            i, j, k = i[apart], j[apart], k[apart]
            found.append(np.stack([index[i, j], index[j, k], index[i, k]], axis=1))
            amounts.append(excess[i, j, k])
        return _worst(found, amounts, most)

    def _violated_cycles(self, values: Floats, most: int) -> Integers:
        """Return violated cycle inequalities: statements along a cycle, then against it."""
        found, amounts = [np.empty((0, 6), dtype=np.int64)], [np.empty(0)]
        for r in self.rules.transitive:
            if self.rules.relations[r].asymmetric and not self.total:
                index = self.index[r]
                lead = np.where(index >= 0, values[index] - values[index.T], 0.0)
                excess = lead[:, :, None] + lead[None, :, :] + lead.T[:, None, :] - 1.0
                i, j, k = np.nonzero(excess > _TOLERANCE)
                first = (i < np.minimum(j, k)) & (j != k)
                i, j, k = i[first], j[first], k[first]
                ends = ((i, j), (j, k), (k, i), (j, i), (k, j), (i, k))
                found.append(np.stack([index[end] for end in ends], axis=1))
                amounts.append(excess[i, j, k])
        return _worst(found, amounts, most)

    def _add(self, statements: Integers, signs: tuple[int, ...], limit: int) -> None:
        """Add one row for each row of ``statements``, shape (rows, len(signs))."""
        count = len(statements)
        if not count:
            return
        where = (np.repeat(np.arange(count), len(signs)), statements.ravel())
        entries = np.tile(np.array(signs, dtype=np.float64), count)
        block = csr_array((entries, where), shape=(count, self.count))
        self.matrix = csr_array(vstack([self.matrix, block]))
        self.limits = np.append(self.limits, np.full(count, float(limit)))


def _worst(found: Sequence[Integers], amounts: Sequence[Floats], most: int) -> Integers:
    """Return at most ``most`` constraints, those that are violated by the largest amounts."""
    worst = np.argsort(-np.concatenate(amounts), kind="stable")
    constraints: Integers = np.concatenate(found)[worst[:most]]
    return constraints
