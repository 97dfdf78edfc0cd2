"""What statements imply and what they rule out, computed on Boolean arrays.

An array of statements has the shape (components, relations, n, n): the last two axes are the
subject and the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tacit.coherence.relation import Relation

Booleans = np.ndarray[tuple[int, ...], np.dtype[np.bool_]]
Integers = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

Link: TypeAlias = tuple[int, int, bool]
"""Two relations r and s by index; if the Boolean is True, s has subject and object swapped."""


@dataclass(frozen=True)
class Rules:
    """The constraints of relations that are given by their index."""

    relations: tuple[Relation, ...]
    implications: tuple[Link, ...] = ()
    exclusions: tuple[Link, ...] = ()

    @property
    def transitive(self) -> bool:
        """Whether at least one relation is transitive."""
        return any(each.transitive for each in self.relations)

    @property
    def order(self) -> bool:
        """Whether there is one relation, which is an order."""
        first, *more = self.relations
        alone = not (more or self.implications or self.exclusions)
        return alone and first.transitive and first.asymmetric


def close(true: Booleans, rules: Rules) -> None:
    """Add all implied statements to ``true`` in place."""
    own = np.eye(true.shape[-1], dtype=bool)
    before = -1
    while (now := int(true.sum())) != before:
        before = now
        for r, each in enumerate(rules.relations):
            if each.symmetric:
                true[:, r] |= swapped(true[:, r])
        for r, s, turned in rules.implications:
            true[:, s] |= swapped(true[:, r]) if turned else true[:, r]
        for r, each in enumerate(rules.relations):
            if each.transitive:
                steps = true[:, r].astype(np.float32)
                true[:, r] |= ((steps @ steps) > 0) & ~own


def denied(true: Booleans, rules: Rules) -> Booleans:
    """Return the statements that are false if those of the closed array ``true`` are true."""
    false = np.zeros_like(true)
    own = np.eye(true.shape[-1], dtype=bool)
    for r, each in enumerate(rules.relations):
        if each.asymmetric:
            false[:, r] |= swapped(true[:, r])
        if each.irreflexive:
            false[:, r] |= true[:, r] & own
    for r, s, turned in rules.exclusions:
        false[:, s] |= swapped(true[:, r]) if turned else true[:, r]
        false[:, r] |= swapped(true[:, s]) if turned else true[:, s]
    for r, each in enumerate(rules.relations):
        if each.symmetric:
            false[:, r] |= swapped(false[:, r])
    for r, s, turned in rules.implications:
        if (s, r, turned) in rules.implications:  # the two statements are equivalent
            false[:, s] |= swapped(false[:, r]) if turned else false[:, r]
    return false


def swapped(statements: Booleans) -> Booleans:
    """Return the statements with subject and object swapped."""
    return np.swapaxes(statements, -1, -2)
