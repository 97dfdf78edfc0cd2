"""The rows of a linear program that the constraints of some items make, transitivity on demand.

Strict partial orders also keep a rule that no single constraint states. With y(ij) for "i precedes
j", and three items in a cycle: y(ij) + y(jk) + y(ki) - y(ik) - y(kj) - y(ji) <= 1. It is half the
sum of three transitive rows, rounded down. With it the linear program describes the strict partial
orders of three items exactly; transitivity alone admits one half on each arc of the cycle.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.sparse import csr_array, vstack

from tacit.coherence.structure import clauses_of, triples_of

if TYPE_CHECKING:
    from tacit.coherence.structure import Family, Integers
    from tacit.coherence.worlds import Booleans, Floats

# With more transitive constraints than these, only those that a solution broke are written down.
_MOST_TRIPLES = 4000
# Branch and bound also gets those that the linear program's solution breaks but for this much.
_NEARLY = 0.5
_MOST_BRANCHED = 100_000
_TOLERANCE = 1e-6


class Rows:
    """Rows a·x <= b over the statements of n items; those of three items are added on demand.

    Args:
        family: The relations.
        n: How many items there are.
        total: Whether of two reverse statements exactly one is true (an order of all items).

    Attributes:
        matrix: The rows that are written down, shape (r, v).
        limits: What each of them must not exceed, shape (r,).
        triples: How many transitive rows there are, written down or not.
        complete: Whether all of them are written down.
    """

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
        # In an order of all items three transitive rows around a cycle say the same.
        self.triples = transitive * n * (n - 1) * (n - 2) // (3 if total else 1)
        self.complete = False
        self._complete(_MOST_TRIPLES)

    @property
    def count(self) -> int:
        """How many statements there are."""
        return len(self.clauses.variables)

    def before_branching(self, values: Floats) -> None:
        """Adds the transitive constraints that values nearly break, if not too many.

        Branch and bound is quicker with few rows, but each one that it breaks costs a new start.
        """
        if not self.complete:
            self.add(self.broken(values, _MOST_BRANCHED, least=-_NEARLY))

    def add(self, triples: Integers) -> None:
        """Adds transitive constraints, shape (t, 3)."""
        if len(triples):
            self._append(self._block(triples, (1.0, 1.0, -1.0)), np.ones(len(triples)))

    def tighten(self, values: Floats) -> bool:
        """Adds the rows of three items that values break, and returns whether there were any."""
        most = 10 * self.count
        triples = self._no_triples() if self.complete else self.broken(values, most)
        cycles = self.broken_cycles(values)[:most]
        self.add(triples)
        self._add_cycles(cycles)
        return len(triples) + len(cycles) > 0

    def broken(
        self, values: Floats, most: int | None = None, least: float = _TOLERANCE
    ) -> Integers:
        """The transitive constraints that values break by more than ``least``, the worst first.

        Returns:
            Their statements, shape (t, 3).
        """
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

    def broken_cycles(self, values: Floats) -> Integers:
        """The cycles of three items that values break, the worst first, shape (t, 6)."""
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

    def hold(self, world: Booleans) -> bool:
        """Whether a world keeps every constraint, written down or not."""
        clauses = self.clauses
        clash = (world[clauses.exclusions[:, 0]] & world[clauses.exclusions[:, 1]]).any()
        gap = (world[clauses.implications[:, 0]] & ~world[clauses.implications[:, 1]]).any()
        return not (clash or gap or len(self.broken(world.astype(np.float64), 1)))

    def closed(self, world: Booleans) -> Booleans | None:
        """The least world that holds a set of statements, or None when there is no such world."""
        clauses = self.clauses
        world = world.copy()
        while True:
            before = world.sum()
            for first, then in clauses.implications:
                world[then] |= world[first]
            for position, each in enumerate(self._family.classes):
                if each.transitive:
                    index = clauses.index[position]
                    dense = (index >= 0) & world[index]
                    np.fill_diagonal(dense, val=False)
                    for middle in range(self._n):
                        dense |= dense[:, middle, None] & dense[middle]
                    np.fill_diagonal(dense, val=False)
                    world[index[dense]] = True
            if world.sum() == before:
                break
        clash = (world[clauses.exclusions[:, 0]] & world[clauses.exclusions[:, 1]]).any()
        return None if clash else world

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
