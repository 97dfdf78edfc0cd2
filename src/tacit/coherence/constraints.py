"""The rows of a linear program that the constraints of some items make, transitivity on demand."""

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
# Branch and bound has use for all of them up to here: what it finds by the way is then a world.
_MOST_BRANCHED = 100_000
_TOLERANCE = 1e-6


class Rows:
    """Rows a·x <= b over the statements of n items, and the transitive ones still left out.

    Args:
        family: The relations.
        n: How many items there are.
        total: Whether of two reverse statements exactly one is true (an order of all items).
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
        self._basic = (self.matrix, self.limits)
        transitive = sum(each.transitive for each in family.classes)
        self._triples = transitive * n * (n - 1) * (n - 2)
        self.complete = False
        self._complete(_MOST_TRIPLES)

    @property
    def count(self) -> int:
        """How many statements there are."""
        return len(self.clauses.variables)

    def before_branching(self) -> None:
        """Writes down all transitive constraints, unless they are too many even so."""
        self._complete(_MOST_BRANCHED)

    def add(self, triples: Integers) -> None:
        """Writes down transitive constraints, shape (t, 3)."""
        self._append(self._block(triples, (1.0, 1.0, -1.0)), np.ones(len(triples)))

    def broken(self, values: Floats, most: int | None = None) -> Integers:
        """The transitive constraints that values break, the worst first, shape (t, 3)."""
        found = []
        amounts = []
        for position, each in enumerate(self._family.classes):
            if each.transitive:
                index = self.clauses.index[position]
                dense = np.where(index >= 0, values[index], 0.0)
                excess = dense[:, :, None] + dense[None, :, :] - dense[:, None, :] - 1.0
                i, j, k = np.nonzero(excess > _TOLERANCE)
                apart = i != k
                i, j, k = i[apart], j[apart], k[apart]
                found.append(np.stack([index[i, j], index[j, k], index[i, k]], axis=1))
                amounts.append(excess[i, j, k])
        triples = np.concatenate([*found, np.empty((0, 3), dtype=np.int64)])
        worst = np.argsort(-np.concatenate([*amounts, np.empty(0)]), kind="stable")
        return triples[worst[:most]]

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
        if not self.complete and self._triples <= most:
            self.matrix, self.limits = self._basic
            self.add(triples_of(self._family, self._n))
            self.complete = True

    def _append(self, block: csr_array, limits: Floats) -> None:
        if len(limits):
            self.matrix = csr_array(vstack([self.matrix, block]))
            self.limits = np.concatenate([self.limits, limits])

    def _block(self, members: Integers, signs: tuple[float, ...]) -> csr_array:
        rows = np.repeat(np.arange(len(members)), members.shape[1])
        entries = np.tile(signs, len(members))
        shape = (len(members), len(self.clauses.variables))
        return csr_array((entries, (rows, members.ravel())), shape=shape)
