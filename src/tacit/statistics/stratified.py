"""Lift above chance within strata, such as questions with the same number of facts.

A confounder, such as an anchor question's number of background facts, may affect both the
question's background score and the probability of a correct answer. A score that depends on a
confounder can predict correct answers overall, even if it predicts nothing among rows with equal
values of the confounder. This module permutes the correctness labels of rows (1 for a correct row,
0 for an incorrect row) only within strata. A stratum is a group of rows with similar values of the
confounder, such as questions with similar numbers of facts. The chance level is the mean of average
precision over all permutations within strata. The p-value and the interval of the lift are computed
from random permutations within strata. The permutation tests are studentised as in the module
`studentised` (METHODS section 4, "Number-of-facts confound").

The tested metric is log(1 - chance) - log(1 - AP), where AP is average precision and chance is the
chance level. The standard error of the tested metric is an infinitesimal jackknife estimate. A
row's weight affects both average precision and the chance level, which depends on the share of
correct rows in each stratum. For the standard error, Tacit approximates the chance level by the
average precision with soft labels (fractions from 0 to 1). The soft label of a row, which replaces
its label 1 or 0, is the share of correct rows in the row's stratum. The influence of a row is the
derivative of the metric with respect to the row's weight. For the standard error, the influences of
the rows are summed within each cluster. A cluster may contain rows of several strata. Within each
stratum, a permutation keeps the labels (correct or incorrect) of a cluster's rows together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import LIFT, chance_levels, laid, lift, p_value
from tacit.statistics.ranking import (
    at_thresholds,
    average_precision,
    average_precisions,
    divided,
    summed,
)
from tacit.statistics.studentised import Permutations, interval_of, over_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Labels: TypeAlias = NDArray[np.bool_]

LEAST_ROWS = 20
"""Minimum number of rows per stratum; smaller strata are merged with neighbours."""

# Reasons why there is no adjusted lift or interval.
NO_ROWS = "no rows"
UNDEFINED = "all right or all wrong"
NO_VARIATION = "no variation within strata"
FEW_CLUSTERS = "too few clusters"
UNBOUNDED = "the permutations give no finite interval"
FEWEST_CLUSTERS = 10
_CELLS = 500_000  # labels per batch of permutations; bounds the memory


@dataclass(frozen=True)
class Adjusted:
    """The lift of average precision above the chance level within strata.

    Args:
        strata: Number of strata.
        chance: The chance level: the mean of average precision over all permutations of the labels
            (correct or incorrect) within each stratum. ``chance`` is None if no answer is correct.
        lift: The lift (average precision - chance)/(1 - chance), with its interval.
        p_value: The one-sided p-value of the test whether the lift is above 0, that is, whether
            average precision exceeds the chance level. The p-value is computed from the same
            permutations as the interval of the lift.
        no_interval: The reason why the lift has no interval: one of the module's constants, such as
            ``FEW_CLUSTERS``. None if the lift has an interval.
    """

    strata: int
    chance: float | None
    lift: Estimate
    p_value: float | None
    no_interval: str | None


def strata_of(values: ArrayLike, least: int = LEAST_ROWS) -> Ints:
    """Group rows with equal or neighbouring values into strata of at least ``least`` rows.

    Args:
        values: For each row, the quantity that defines the strata, shape (rows,).
        least: The smallest number of rows that a stratum may have. A stratum with fewer than
            ``least`` rows is merged with the stratum of the next higher values. If the stratum of
            the highest values has too few rows, it is merged with the stratum of the next lower
            values.

    Returns:
        For each row, the index of its stratum, shape (rows,). The strata are numbered from 0, in
        ascending order of value.
    """
    levels, level, rows = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    stratum = np.zeros(len(levels), dtype=np.intp)
    current, size = 0, 0
    for at, count in enumerate(rows):
        if size >= least:
            current, size = current + 1, 0
        stratum[at] = current
        size += int(count)
    if size < least and current:
        stratum[stratum == current] = current - 1
    return stratum[level]


def adjusted_lift(
    right: ArrayLike,
    score: ArrayLike,
    strata: ArrayLike,
    clusters: ArrayLike,
    how: Permutations | None = None,
) -> Adjusted:
    """Measure how well a score predicts correct answers among rows of the same stratum.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,).
        strata: The stratum of each row, as `strata_of` returns it, shape (rows,).
        clusters: The cluster of each row, shape (rows,). Rows of the same cluster need not be
            independent.
        how: The number of permutations, the random seed, and the confidence level.

    Raises:
        ValueError: If the shapes of the arguments do not match, or a score is nan.
    """
    how = how or Permutations()
    if not np.size(right):
        return Adjusted(0, None, Estimate(None, None, None), None, NO_ROWS)
    rows = _Rows.of(right, score, strata, clusters)
    chance = rows.chance
    value = lift(average_precision(right, score), chance)
    bare = Adjusted(rows.strata, chance, Estimate(value, None, None), None, rows.why_not())
    if bare.no_interval is not None or value is None:
        return bare
    (observed,), (error,) = rows.scaled(rows.labels[None])
    permuted = np.concatenate([over_error(*rows.scaled(labels)) for labels in rows.dealt(how)])
    ratio = over_error(np.array([observed]), np.array([error]))[0]
    ends = interval_of(float(observed), float(error), permuted, how.level)
    low, high = (None, None) if ends is None else map(LIFT.back, ends)
    return Adjusted(
        rows.strata,
        chance,
        Estimate(value, low, high),
        p_value(float(ratio), permuted),
        UNBOUNDED if ends is None else None,
    )


@dataclass(frozen=True)
class _Rows:
    """Rows in descending order of score; the input order of tied rows has no effect.

    Args:
        labels: For each row, whether its answer is correct, shape (rows,).
        counts: For each distinct score (threshold), the number of rows with that score, shape
            (thresholds,).
        stratum: The stratum of each row, shape (rows,).
        member: The cluster of each row, as a sparse matrix of shape (clusters, rows). Entry (c, r)
            is 1 if row r belongs to cluster c.
    """

    labels: Labels
    counts: Floats
    stratum: Ints
    member: csr_array

    @classmethod
    def of(
        cls, right: ArrayLike, score: ArrayLike, strata: ArrayLike, clusters: ArrayLike
    ) -> _Rows:
        counts = at_thresholds(right, score)[1]
        labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
        _, stratum = np.unique(np.asarray(strata), return_inverse=True)
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        if not labels.shape == stratum.shape == cluster.shape:
            raise ValueError(
                f"right has shape {labels.shape}, strata {stratum.shape}, clusters {cluster.shape}"
            )
        order = np.lexsort([labels, cluster, stratum, -scores])
        places = (cluster[order], np.arange(len(order)))
        member = csr_array((np.ones(len(order)), places), shape=(len(names), len(order)))
        return cls(labels[order], counts, stratum[order].astype(np.intp), member)

    @property
    def strata(self) -> int:
        """The number of strata."""
        return len(np.unique(self.stratum))

    def why_not(self) -> str | None:
        """Return the reason why there is no p-value and no interval; None if both are possible."""
        if not self.labels.any() or self.labels.all():
            return UNDEFINED
        if not ((self._share > 0) & (self._share < 1)).any():
            return NO_VARIATION
        return FEW_CLUSTERS if self.member.shape[0] < FEWEST_CLUSTERS else None

    @cached_property
    def _level(self) -> Ints:
        """For each row, the index of its score among the distinct scores (thresholds)."""
        return np.repeat(np.arange(len(self.counts)), self.counts.astype(np.intp))

    @cached_property
    def _sizes(self) -> Floats:
        """The number of rows in each stratum."""
        return np.bincount(self.stratum).astype(np.float64)

    @cached_property
    def _share(self) -> Floats:
        """For each stratum, the share of correct rows, which is equal in all permutations."""
        shares: Floats = np.bincount(self.stratum, self.labels) / self._sizes
        return shares

    @cached_property
    def chance(self) -> float | None:
        """The exact mean of average precision over all permutations of labels within strata."""
        if not self.labels.any():
            return None
        n = len(self._sizes)
        cells = self._level * n + self.stratum
        at = np.bincount(cells, minlength=len(self.counts) * n).reshape(-1, n)
        return float(chance_within_strata(self._share * self._sizes, at.astype(np.float64)))

    @cached_property
    def _of_chance(self) -> tuple[Floats, Floats]:
        """Two arrays from which each row's influence on the chance level is computed.

        The first array contains the value ``constant`` of each row, and the second array contains
        the value ``factor`` of each row. A row's influence on the chance level is ``constant +
        factor * label``, where the label is 1 for a correct row and 0 for an incorrect row.

        To compute the influences of the rows, the chance level is approximated by the average
        precision with soft labels. The soft label of a row, which replaces its label 1 or 0, is the
        share of correct rows in the row's stratum.
        """
        soft = self._share[self.stratum]
        here = np.bincount(self._level, soft)
        above = self.counts.cumsum()
        precision = here.cumsum() / above
        average = float((here * precision).sum() / self.labels.sum())
        raised = (precision + _onward(here / above) - average)[self._level]
        lowered = _onward(here * precision / above)[self._level]
        mean = np.bincount(self.stratum, raised) / self._sizes
        of_label = mean[self.stratum]
        right = self.labels.sum()
        return (soft * raised - lowered - soft * of_label) / right, of_label / right

    def scaled(self, labels: Labels) -> tuple[Floats, Floats]:
        """Compute each sample's metric, and the metric's standard error up to a factor.

        Args:
            labels: For each sample, the observed labels or labels that were permuted within strata,
                shape (samples, rows).
        """
        chance = self.chance or 0.0
        found = LIFT.influence(summed(labels, self.counts), self.counts)
        n, right = len(self.labels), float(self.labels.sum())
        # `LIFT` measures against the unstratified chance level; keep its part on AP.
        plain = float(np.log(1 - chance_levels(right, self.counts)))
        of_right = found.right[:, self._level] + 1 / n
        of_wrong = found.wrong[:, self._level] - right / n / (n - right)
        constant, factor = self._of_chance
        with np.errstate(invalid="ignore"):
            moved = np.where(
                labels,
                of_right - (constant + factor) / (1 - chance),
                of_wrong - constant / (1 - chance),
            )
            sums = self.member @ moved.T
            value = found.value - plain + np.log(1 - chance)
            return value, np.sqrt((sums**2).sum(axis=0))

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """Yield batches of permuted labels, each of shape (permutations, rows).

        Within each stratum, a permutation shuffles the labels (correct or incorrect) of every
        cluster's rows, and puts the clusters in random order.
        """
        random = np.random.default_rng(how.seed)
        step = max(1, _CELLS // len(self.labels))
        for begin in range(0, how.permutations, step):
            samples = min(step, how.permutations - begin)
            labels = np.empty((samples, len(self.labels)), dtype=bool)
            for block in self._blocks:
                block.deal(self.labels, labels, random)
            yield labels

    @cached_property
    def _blocks(self) -> list[_Block]:
        cluster = np.empty(len(self.labels), dtype=np.intp)
        cluster[self.member.indices] = np.repeat(
            np.arange(self.member.shape[0]), np.diff(self.member.indptr)
        )
        return [
            _Block.of(rows, cluster[rows])
            for each in range(len(self._sizes))
            for rows in [np.flatnonzero(self.stratum == each)]
        ]


@dataclass(frozen=True)
class _Block:
    """The rows of one stratum, sorted by cluster.

    Args:
        rows: The index of each row of the stratum, shape (rows,).
        cluster: The cluster of each row of the stratum, counted from 0, shape (rows,).
        sizes: The number of the stratum's rows in each cluster, shape (clusters,).
    """

    rows: Ints
    cluster: Ints
    sizes: Ints

    @classmethod
    def of(cls, rows: Ints, clusters: Ints) -> _Block:
        order = np.argsort(clusters, kind="stable")
        _, cluster, sizes = np.unique(clusters[order], return_inverse=True, return_counts=True)
        return cls(rows[order], cluster.astype(np.intp), sizes.astype(np.intp))

    def deal(self, labels: Labels, out: Labels, random: np.random.Generator) -> None:
        """Permute the labels (correct or incorrect) of a stratum's rows into ``out``."""
        samples, n = len(out), len(self.rows)
        within = np.arange(n) - (self.sizes.cumsum() - self.sizes)[self.cluster]
        shuffled = (self.cluster + random.random((samples, n))).argsort(axis=1)
        places = self.rows[laid(self.sizes, samples, random)[:, self.cluster] + within]
        np.put_along_axis(out, places, labels[self.rows[shuffled]], axis=1)


def chance_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the expected average precision if the correct rows are random within each stratum.

    In a random permutation of a stratum of n rows, of which R are correct, two given rows are both
    correct with probability R(R - 1)/(n(n - 1)). In a random permutation within strata, labels in
    different strata are independent of each other.

    Args:
        right: The number of correct rows in each stratum, shape (..., strata).
        rows: The number of rows with each distinct score in each stratum, shape (..., thresholds,
            strata). The thresholds (distinct scores) are in decreasing order.

    Returns:
        The chance level of each sample, shape (...); nan if no row is correct.
    """
    n, top = rows.sum(axis=-2), rows.cumsum(axis=-2)
    share = np.divide(right, n, out=np.zeros_like(n), where=n > 0)
    both = np.divide(share * (right - 1), n - 1, out=share**2, where=n > 1)
    expected = _by_stratum(rows, share) * _by_stratum(top, share)
    expected += _by_stratum(rows * top, both - share**2) + _by_stratum(rows, share - both)
    above = top.sum(axis=-1)
    precision = np.divide(expected, above, out=np.zeros_like(expected), where=above > 0)
    return divided(precision.sum(axis=-1), right.sum(axis=-1))


def _by_stratum(values: Floats, factors: Floats) -> Floats:
    """Multiply the values of each stratum by the stratum's factor, and sum over the strata."""
    sums: Floats = np.einsum("...ts,...s->...t", values, factors)
    return sums


def lifts_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the lift of each sample from counts of rows per threshold and stratum.

    Args:
        right: For each distinct score (threshold) and stratum, the number of correct rows with this
            score in this stratum, shape (..., thresholds, strata).
        rows: For each distinct score (threshold) and each stratum, the total number of correct and
            incorrect rows, shape (..., thresholds, strata).

    Returns:
        The lift of each sample. The result has the shape of ``right`` without the last two
        dimensions. The lift is nan if no row is correct, or if the chance level is 1.
    """
    chance = chance_within_strata(right.sum(axis=-2), rows)
    over = average_precisions(right.sum(axis=-1), rows.sum(axis=-1)) - chance
    return np.divide(over, 1 - chance, out=np.full_like(over, np.nan), where=chance < 1)


def _onward(values: Floats) -> Floats:
    """For each value, return the sum of that value and all later values."""
    return values[::-1].cumsum()[::-1]
