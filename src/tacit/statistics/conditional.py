"""How much more often a model is right on questions whose facts it knows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.permutation import Permutations, laid, p_value

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

FEWEST_ITEMS = 20
"""Minimum number of marked items, and of other items, for a p-value."""


@dataclass(frozen=True)
class Links:
    """Links from items (such as background facts) to rows (such as anchor questions)."""

    item: ArrayLike
    cluster: ArrayLike
    right: ArrayLike


@dataclass(frozen=True)
class Gain:
    """A model's accuracy gain on questions whose facts it knows, relative to all questions."""

    marked: int
    others: int
    given_marked: float | None
    given_others: float | None
    mean: float | None
    p_value: float | None = None

    @property
    def gain(self) -> float | None:
        if self.given_marked is None or self.mean is None:
            return None
        return self.given_marked - self.mean


def conditional_gain(marked: ArrayLike, links: Links, how: Permutations | None = None) -> Gain:
    """Compute the gain, and its one-sided p-value from permutations of which items are marked.

    An item counts in the cluster of its first row; the marks of a cluster stay together.
    """
    how = how or Permutations()
    given, first, item = np.unique(
        np.asarray(links.item, dtype=np.intp), return_index=True, return_inverse=True
    )
    cluster = np.unique(np.asarray(links.cluster), return_inverse=True)[1][first]
    right = np.bincount(item, np.asarray(links.right, dtype=np.float64), len(given))
    order = np.argsort(cluster, kind="stable")
    values = (right / np.bincount(item, minlength=len(given)))[order]
    own = np.asarray(marked, dtype=bool)[given[order]]
    found = Gain(
        marked=int(own.sum()),
        others=int((~own).sum()),
        given_marked=_mean(values[own]),
        given_others=_mean(values[~own]),
        mean=_mean(values),
    )
    if min(found.marked, found.others) < FEWEST_ITEMS:
        return found
    permuted = _permuted(own, values, cluster[order], how)
    return replace(found, p_value=p_value(float(values[own].sum()), permuted))


def _permuted(
    marked: NDArray[np.bool_], values: Floats, cluster: NDArray[np.intp], how: Permutations
) -> Floats:
    """Sum the values of the marked items after the clusters are laid in random orders."""
    random = np.random.default_rng(how.seed)
    starts, sizes = np.unique(cluster, return_index=True, return_counts=True)[1:]
    at = np.flatnonzero(marked)
    home = np.searchsorted(starts, at, side="right") - 1
    sums = []
    for _ in range(how.permutations):
        places = laid(sizes, 1, random)[0][home] + (at - starts[home])
        sums.append(values[places].sum())
    return np.array(sums)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
