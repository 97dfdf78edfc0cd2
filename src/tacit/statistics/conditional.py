"""Estimate how much more often a model is right on questions whose facts it knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import csr_array
from scipy.special import expit, ndtri

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import laid
from tacit.statistics.studentised import Permutations, interval_of, over_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

# Minimum number of marked items, and of other items, for an interval.
FEWEST_ITEMS = 20
# Minimum number of clusters for an interval: fewer have under 120 orders.
FEWEST_CLUSTERS = 5
# Reasons why a gain has no interval.
FEW_MARKED = "too few marked"
FEW_OTHERS = "too few others"
FEW_CLUSTERS = "too few clusters"
EXTREME = "a share of 0 or 1"
_CELLS = 500_000  # marks per batch of permutations; bounds the memory
_NEARLY_ONE = 1e-9
_STEP = 1e-4  # in the log-odds of the share, for a numerical derivative


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
    gain: Estimate
    no_interval: str | None


def conditional_gain(marked: ArrayLike, links: Links, how: Permutations | None = None) -> Gain:
    """Estimate how much more often a model is right on questions whose facts it knows."""
    table = _Table.of(np.asarray(marked, dtype=bool), links)
    own = table.marked
    given, mean = _mean(table.values[own]), _mean(table.values)
    gain = None if given is None or mean is None else given - mean
    reason, ends = table.why_not(), None
    if reason is None:
        ends = table.interval(how or Permutations())
        reason = EXTREME if ends is None else None
    low, high = ends or (None, None)
    return Gain(
        marked=int(own.sum()),
        others=int((~own).sum()),
        given_marked=given,
        given_others=_mean(table.values[~own]),
        mean=mean,
        gain=Estimate(gain, low, high),
        no_interval=reason,
    )


@dataclass(frozen=True)
class _Table:
    """Facts (items) that are linked to anchor questions (rows), sorted by cluster."""

    marked: NDArray[np.bool_]
    values: Floats
    starts: Ints
    weights: csr_array
    right: csr_array

    @classmethod
    def of(cls, marked: NDArray[np.bool_], links: Links) -> _Table:
        names, cluster = np.unique(np.asarray(links.cluster), return_inverse=True)
        right = np.asarray(links.right, dtype=np.float64)
        given, first, item = np.unique(
            np.asarray(links.item, dtype=np.intp), return_index=True, return_inverse=True
        )
        home = cluster[first]
        order = np.argsort(home, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        item = place[item]
        weight = 1 / np.bincount(item, minlength=len(given))[item]
        shape = (len(names), len(given))
        weights, counted = (
            csr_array((each, (cluster, item)), shape=shape) for each in (weight, weight * right)
        )
        starts = np.flatnonzero(np.diff(home[order], prepend=-1))
        values = np.bincount(item, weights=weight * right, minlength=len(given))
        return cls(marked[given[order]], values.astype(float), starts, weights, counted)

    def why_not(self) -> str | None:
        """Return the reason if there are too few items or clusters for an interval, or None."""
        if self.marked.sum() < FEWEST_ITEMS:
            return FEW_MARKED
        if (~self.marked).sum() < FEWEST_ITEMS:
            return FEW_OTHERS
        return FEW_CLUSTERS if len(self.starts) < FEWEST_CLUSTERS else None

    def interval(self, how: Permutations) -> tuple[float, float] | None:
        """Return the confidence interval of the gain P(right | marked) - P(right)."""
        (value,), (error,) = self._scaled(self.marked[None])
        permuted = [over_error(*self._scaled(marks)) for marks in self._permuted(how)]
        ends = interval_of(float(value), float(error), np.concatenate(permuted), how.level)
        if ends is None:
            return None
        share, mean = float(self.marked.mean()), float(self.values.mean())
        gain, low, high = (_gain(each, share, mean) for each in (float(value), *ends))
        from_share = self._share_moves(float(value), mean, how.level)
        return _widened(low, gain, from_share), _widened(high, gain, from_share)

    def _share_moves(self, log_odds: float, mean: float, level: float) -> float:
        """Return the margin of error that the share of known facts adds to log(gain)."""
        items = np.stack([self.marked, np.ones(len(self.marked))], axis=1)
        counts: Floats = self.weights @ items
        (value,), moved = _log_odds(counts[:, :1], counts[:, 1:])
        reach = float(ndtri((1 + level) / 2) * np.sqrt((moved**2).sum()))
        below, above = (
            _gain(log_odds, float(expit(value + step)), mean) for step in (-_STEP, _STEP)
        )
        return reach * abs(np.log(above / below)) / (2 * _STEP) if below * above > 0 else 0.0

    def _scaled(self, marked: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        """Compute the log odds ratio and its standard error for each row of ``marked``."""
        ways = marked.T.astype(np.float64)
        all_weights, all_right = self.weights.sum(axis=1), self.right.sum(axis=1)
        weights, right = self.weights @ ways, self.right @ ways
        log_odds, moved = _log_odds(right, weights)
        others, moved_others = _log_odds(all_right[:, None] - right, all_weights[:, None] - weights)
        with np.errstate(invalid="ignore"):
            return log_odds - others, np.sqrt(((moved - moved_others) ** 2).sum(axis=0))

    def _permuted(self, how: Permutations) -> Iterator[NDArray[np.bool_]]:
        """Yield batches of permutations of ``marked``, each of shape (permutations, items)."""
        random = np.random.default_rng(how.seed)
        items = len(self.marked)
        sizes = np.diff(self.starts, append=items)
        own = np.flatnonzero(self.marked)
        cluster = np.searchsorted(self.starts, own, side="right") - 1
        step = max(1, _CELLS // items)
        for begin in range(0, how.permutations, step):
            ways = min(step, how.permutations - begin)
            starts = laid(sizes, ways, random)
            marked = np.zeros((ways, items), dtype=bool)
            places = starts[:, cluster] + (own - self.starts[cluster])
            np.put_along_axis(marked, places, values=True, axis=1)
            yield marked


def _log_odds(right: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Compute the log-odds of a correct answer, and each cluster's influence on them."""
    all_weights = weights.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = right.sum(axis=0) / all_weights
        # Shares this close to 0 or 1 differ from them by rounding only.
        share = np.where(np.abs(share - share.round()) < _NEARLY_ONE, share.round(), share)
        moved = (right - share * weights) / (all_weights - weights)
        return np.log(share) - np.log1p(-share), moved / (share * (1 - share))


def _gain(log_odds: float, share: float, mean: float) -> float:
    """Convert a log odds ratio to a gain, that is, a difference between probabilities."""
    odds = float(np.exp(log_odds))
    if abs(odds - 1) < _NEARLY_ONE:
        return 0.0
    linear = 1 + (share + mean) * (odds - 1)
    root = float(np.sqrt(linear**2 - 4 * odds * (odds - 1) * share * mean))
    return 2 * odds * mean / (linear + root) - mean


def _widened(end: float, gain: float, from_share: float) -> float:
    """Move one end of the confidence interval of the gain away from the gain."""
    if end * gain <= 0:
        return end
    distance = float(np.log(end / gain))
    return gain * float(np.exp(np.copysign(np.hypot(distance, from_share), distance)))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
