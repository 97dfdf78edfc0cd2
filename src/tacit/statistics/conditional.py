"""Estimate how much more often a model is right on questions whose facts it knows.

In this module, facts are called items, and the anchor questions that are linked to a fact are
called rows. The model knows a fact if it correctly answers the background question about the fact.
Facts that the model knows are called marked items. A row is correct if the model answers the anchor
question correctly. A fact's accuracy is the share of correct answers to the anchor questions that
are linked to the fact. P(right) is the mean accuracy over all facts. P(right | marked) is the mean
accuracy over the facts that the model knows (marked items). P(right | unmarked) is the mean
accuracy over the facts that the model does not know (unmarked items).

1. The gain is the difference between the accuracy for known facts, P(right | marked), and the
   accuracy for all facts, P(right). To compute a confidence interval of the gain, Tacit converts
   the gain to a log odds ratio, which has no upper or lower limit. The log odds ratio compares the
   odds of a correct answer between facts that the model knows and facts that it does not know. If
   the log odds ratio is 0, the model is equally likely to answer an anchor question correctly
   whether or not it knows a fact that is linked to the question.
2. The standard error of the log odds ratio is a jackknife estimate. The jackknife leaves out one
   cluster of anchor questions at a time, together with all links from facts to these questions.
   Tacit squares the change of the log odds ratio for each left-out cluster, sums the squares, and
   takes the square root as the standard error.
3. The log odds ratio and its standard error are computed for the observed data, and again after
   each random permutation of the labels "known" and "unknown" among the facts. Each permutation
   puts the clusters of facts in a random order, and keeps the labels "known" and "unknown" of each
   cluster together. The interval contains those log odds ratios that the permutation test does not
   reject, as in the module `studentised`.
4. To compute the confidence interval of the gain, Tacit converts both ends of the log odds ratio's
   interval to gains. The conversion of a log odds ratio to a gain in accuracy assumes a fixed
   overall accuracy P(right) and a fixed share of known facts.
5. The gain depends on the share of facts that the model knows, which is estimated from the sample
   of facts. To allow for the sampling error of the share of known facts, Tacit widens the
   confidence interval of the gain. An end of the confidence interval is moved away from the
   estimated gain only if the end and the gain have the same sign. On a logarithmic scale, the
   distance of an interval end from the gain is d = |log(end / gain)|. Tacit increases the distance
   d of the interval end to √(d² + e²), where e is the margin of error of log(gain) that is due to
   the estimated share of known facts.

The gain has no interval if the answers for known (marked) facts, or for unknown (unmarked) facts,
are all correct or all incorrect, because the log odds ratio is then infinite or undefined. An
interval requires at least ``FEWEST_ITEMS`` facts that the model knows, ``FEWEST_ITEMS`` facts that
it does not know, and ``FEWEST_CLUSTERS`` clusters of facts. The standard error of the log odds
ratio cannot be estimated reliably from few facts.
"""

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
    """Links from items (such as background facts) to rows (such as anchor questions).

    An item that is not linked to any row is ignored.

    Args:
        item: For each link, the index of the linked item, counted from 0, shape (links,).
        cluster: For each link, the cluster of the linked row, shape (links,).
        right: For each link between an item and a row, whether the row is correct, shape (links,).
            For example, a row is correct if the model answers the anchor question correctly.
    """

    item: ArrayLike
    cluster: ArrayLike
    right: ArrayLike


@dataclass(frozen=True)
class Gain:
    """A model's accuracy gain on questions whose facts it knows, relative to all questions.

    Args:
        marked: Number of marked items, such as facts that the model knows.
        others: Number of unmarked items, such as facts that the model does not know.
        given_marked: P(right | marked), the accuracy averaged over the facts that the model knows
            (marked items). The accuracy of a fact is the share of correct answers to the fact's
            anchor questions (rows). ``given_marked`` is None if no item is marked, for example if
            the model knows none of the facts.
        given_others: P(right | unmarked), the accuracy averaged over the facts that the model does
            not know (unmarked items). ``given_others`` is None if no item is unmarked, for example
            if the model knows all facts.
        mean: P(right), the accuracy averaged over all facts (items). ``mean`` is None if there are
            no items.
        gain: The difference ``given_marked`` - ``mean``, with its interval. The value of ``gain``
            is None if no item is marked, for example if the model knows none of the facts.
        no_interval: The reason why the gain has no interval: one of the module's constants, such as
            ``FEW_MARKED``; None if the gain has an interval.
    """

    marked: int
    others: int
    given_marked: float | None
    given_others: float | None
    mean: float | None
    gain: Estimate
    no_interval: str | None


def conditional_gain(marked: ArrayLike, links: Links, how: Permutations | None = None) -> Gain:
    """Estimate how much more often a model is right on questions whose facts it knows.

    Args:
        marked: For each item (such as a fact), whether it is marked (for example, whether the model
            knows the fact), shape (items,).
        links: The links from items (such as facts) to rows (such as anchor questions).
        how: The number of permutations, the random seed, and the confidence level of the interval.
    """
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
    """Facts (items) that are linked to anchor questions (rows), sorted by cluster.

    Each item (such as a fact) belongs to the cluster of the first row (such as a question) that is
    linked to it.

    Args:
        marked: For each item (such as a fact), whether it is marked (for example, whether the model
            knows the fact), shape (items,).
        values: For each item, the share of correct rows among the rows that are linked to the item,
            shape (items,).
        starts: For each cluster of items, the index of its first item, shape (clusters,).
        weights: For each fact (item), the share of its linked anchor questions in each cluster of
            questions, shape (clusters, items). If an item is linked to n rows, each of the n links
            has the weight 1/n.
        right: For each fact (item) and each cluster of questions, the share of the fact's linked
            questions that are in the cluster and answered correctly, shape (clusters, items).
    """

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
        """Return the confidence interval of the gain P(right | marked) - P(right).

        The result is None if the ends of the interval cannot be computed.
        """
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
        """Return the margin of error that the share of known facts adds to log(gain).

        The gain P(right | marked) - P(right) depends on the share of facts that the model knows
        (marked items), which is estimated from the data.
        """
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
    """Compute the log-odds of a correct answer, and each cluster's influence on them.

    Args:
        right: For each cluster and permutation, the total weight of the correct rows, shape
            (clusters, permutations).
        weights: For each cluster and permutation, the total weight of the cluster's correct and
            incorrect rows together, shape (clusters, permutations).
    """
    all_weights = weights.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = right.sum(axis=0) / all_weights
        # Shares this close to 0 or 1 differ from them by rounding only.
        share = np.where(np.abs(share - share.round()) < _NEARLY_ONE, share.round(), share)
        moved = (right - share * weights) / (all_weights - weights)
        return np.log(share) - np.log1p(-share), moved / (share * (1 - share))


def _gain(log_odds: float, share: float, mean: float) -> float:
    """Convert a log odds ratio to a gain, that is, a difference between probabilities.

    The joint probability x is the probability that the model knows a randomly drawn fact and also
    correctly answers a random anchor question linked to this fact. Given the probabilities
    ``share`` and ``mean`` and the odds ratio ``odds``, the joint probability x solves the equation
    x·(1-share-mean+x) = odds·(share-x)·(mean-x). In the equation for x, ``share`` is the
    probability that the model knows a fact, ``mean`` is the probability that it answers a question
    correctly, and ``odds`` is the exponential of ``log_odds``.
    """
    odds = float(np.exp(log_odds))
    if abs(odds - 1) < _NEARLY_ONE:
        return 0.0
    linear = 1 + (share + mean) * (odds - 1)
    root = float(np.sqrt(linear**2 - 4 * odds * (odds - 1) * share * mean))
    return 2 * odds * mean / (linear + root) - mean


def _widened(end: float, gain: float, from_share: float) -> float:
    """Move one end of the confidence interval of the gain away from the gain.

    The end is moved only if it has the same sign as the gain. The argument ``from_share`` is the
    margin of error that the estimated share adds to the logarithm of the gain.
    """
    if end * gain <= 0:
        return end
    distance = float(np.log(end / gain))
    return gain * float(np.exp(np.copysign(np.hypot(distance, from_share), distance)))


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None
