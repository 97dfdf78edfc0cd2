"""What statements imply and what they rule out, computed on Boolean arrays.

An array of statements has the shape (components, relations, n, n): the last two axes are the
subject and the object.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
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

    @cached_property
    def canonical(self) -> Integers:
        """The index of each relation, or of its inverse if that comes first."""
        found = np.arange(len(self.relations))
        for r, s, turned in self.implications:
            found[r] = min(r, s) if turned else found[r]
        return found

    @cached_property
    def transitive(self) -> list[int]:
        """The transitive relations, without those whose inverse comes first."""
        return [r for r in np.unique(self.canonical).tolist() if self.relations[r].transitive]

    @property
    def order(self) -> bool:
        """Whether there is one relation, besides its inverse, which is an order."""
        first = self.relations[0]
        alone = not (self.canonical.any() or self.exclusions)
        unique = first.functional or first.inverse_functional
        return alone and first.transitive and first.asymmetric and not unique

    @cached_property
    def keys(self) -> Booleans:
        """Whether each relation's statements share constraints with others about their subject.

        The second row says so of their object. Of relations that constraints connect with a
        transitive one, all do; of others, those that imply one that is (inverse) functional.
        """
        each = self.relations
        found = np.array([[r.functional for r in each], [r.inverse_functional for r in each]])
        found |= bool(self.transitive)
        before = np.zeros_like(found)
        while (found != before).any():
            before = found.copy()
            found |= found[::-1] & [r.symmetric for r in each]
            for r, s, turned in self.implications:
                found[:, r] |= found[::-1, s] if turned else found[:, s]
        return found


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
        for r in rules.transitive:  # an inverse follows by its implication
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
        apart = true[:, r] & ~own
        axes = [-1] * each.functional + [-2] * each.inverse_functional
        for axis in axes:
            false[:, r] |= (apart.sum(axis=axis, keepdims=True) > apart) & ~own
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


def supporting(wanted: Booleans, true: Booleans, rules: Rules) -> None:
    """Add all statements of the closed array ``true`` from which wanted ones follow, in place."""
    own = np.eye(true.shape[-1], dtype=bool)
    before = -1
    while (now := int(wanted.sum())) != before:
        before = now
        for r, each in enumerate(rules.relations):
            if each.symmetric:
                wanted[:, r] |= swapped(wanted[:, r])
            if each.transitive:
                ends = (wanted[:, r] & ~own).astype(np.float32)
                steps = swapped(true[:, r] & ~own).astype(np.float32)
                wanted[:, r] |= true[:, r] & ~own & (((ends @ steps) > 0) | ((steps @ ends) > 0))
        for r, s, turned in rules.implications:
            wanted[:, r] |= true[:, r] & (swapped(wanted[:, s]) if turned else wanted[:, s])


@lru_cache(maxsize=64)
def consequences(rules: Rules, n: int) -> tuple[list[Link], list[Link]]:
    """Return what a statement about two items, or one if n is 1, implies, and what it rules out."""
    each = np.arange(len(rules.relations))
    true = np.zeros((len(each), len(each), n, n), dtype=bool)
    true[each, each, 0, n - 1] = True
    close(true, rules)
    implied, excluded = (
        [(r, s, x > 0) for r, s, x, _ in np.argwhere(found).tolist()]
        for found in (true, denied(true, rules))
    )
    return implied, excluded


def swapped(statements: Booleans) -> Booleans:
    """Return the statements with subject and object swapped."""
    return np.swapaxes(statements, -1, -2)
