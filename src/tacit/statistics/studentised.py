"""P-values and intervals of ranking metrics, by studentised permutations.

A ranking metric is converted to a scale without limits. On this scale, chance is 0. The standard
error of the metric is an infinitesimal jackknife estimate. The influences of the rows on the metric
are summed for each cluster. The standard error is the root of the sum of the squares of these sums.
The ratio of the metric to its standard error is computed for the observed labels and for each
permutation. The p-value is the share of permutations whose ratio is at least the observed ratio.
The interval contains all values that the one-sided tests in both directions do not reject.
Therefore, the p-value is at most 2.5 % exactly if the whole 95 % CI is above chance.

The permutations keep the labels of a cluster together. Assume that all clusters have the same size,
and that labels are independent of scores. Every permutation is then as likely as the observed
sample, and 5 % of the p-values are at most 5 %. If clusters have different sizes, the rate of false
positives is only approximately 5 %.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import AUROC, LIFT, Scale, critical_value, laid, p_value
from tacit.statistics.ranking import at_thresholds, summed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Labels: TypeAlias = NDArray[np.bool_]

# A standard error below this is rounding only.
_NOTHING = 1e-12
# Number of labels per batch of permutations; bounds the memory.
_CELLS = 500_000
_FEWEST_CLUSTERS = 2


@dataclass(frozen=True)
class Permutations:
    """The parameters of p-values and intervals that are based on permutations.

    Args:
        permutations: Number of permutations.
        seed: Seed of the random draws.
        level: Confidence level of the intervals.
    """

    permutations: int = 5000
    seed: int = 0
    level: float = 0.95

    def to_json(self) -> dict[str, Any]:
        """Return the method and its parameters, as JSON can store them."""
        return {"method": "studentised permutations", **asdict(self)}


@dataclass(frozen=True)
class Permuted:
    """For each metric and permutation, the ratio of the metric to its standard error.

    Args:
        lift: Shape (permutations,).
        auroc: Shape (permutations,).
    """

    lift: Floats
    auroc: Floats


@dataclass(frozen=True)
class Sample:
    """Rows in descending order of score; the input order does not affect the order of tied rows.

    Args:
        labels: Whether each row is correct, shape (rows,).
        rows: Number of rows at each threshold, shape (thresholds,).
        clusters: A matrix that is 1 where a row belongs to a cluster, shape (clusters, rows).
    """

    labels: Labels
    rows: Floats
    clusters: csr_array

    @classmethod
    def of(cls, right: ArrayLike, score: ArrayLike, clusters: ArrayLike) -> Sample:
        """Sort rows into a sample.

        Args:
            right: Whether each row is correct, shape (rows,).
            score: Shape (rows,).
            clusters: The cluster of each row, shape (rows,).

        Raises:
            ValueError: If the shapes differ, or a score is nan.
        """
        rows = at_thresholds(right, score)[1]
        labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        if cluster.shape != labels.shape:
            raise ValueError(f"right has shape {labels.shape} and clusters {cluster.shape}")
        order = np.lexsort([labels, cluster, -scores])
        places = (cluster[order], np.arange(len(order)))
        member = csr_array((np.ones(len(order)), places), shape=(len(names), len(order)))
        return cls(labels[order], rows, member)

    def permuted(self, how: Permutations) -> Permuted:
        """Compute the ratio of each metric to its standard error, for labels that are permuted."""
        batches = [
            (
                over_error(*self._scaled(LIFT, labels)),
                over_error(*self._scaled(AUROC, labels)),
            )
            for labels in self.dealt(how)
        ]
        return Permuted(*(np.concatenate(column) for column in zip(*batches, strict=True)))

    def p_value(self, scale: Scale, permuted: Floats) -> float | None:
        """Compute the one-sided p-value of a metric.

        Args:
            scale: The metric's scale.
            permuted: The ratio of the metric to its standard error, for each permutation.

        Returns:
            The p-value. None if there are fewer than two clusters, because one cluster does not
            show how much clusters vary. For a perfect ranking, the metric is infinite on its scale
            and has no standard error. In this case, the p-value is the share of permutations that
            also give a perfect ranking.
        """
        if self.clusters.shape[0] < _FEWEST_CLUSTERS:
            return None
        observed = over_error(*self._scaled(scale, self.labels[None]))
        return p_value(float(observed[0]), permuted)

    def interval(self, figure: float, scale: Scale, permuted: Floats, level: float) -> Estimate:
        """Compute the confidence interval of a metric.

        Args:
            figure: The metric itself.
            scale: The metric's scale.
            permuted: The ratio of metric to error for each permutation.
            level: Confidence level of the interval.

        Returns:
            The metric with its interval. There is no interval if there are fewer than two clusters,
            if the metric is infinite on its scale, if no row influences the metric, or if the
            permutations do not limit the interval.
        """
        (value,), (error,) = self._scaled(scale, self.labels[None])
        ends = interval_of(float(value), float(error), permuted, level)
        if self.clusters.shape[0] < _FEWEST_CLUSTERS or ends is None:
            return Estimate(figure, None, None)
        return Estimate(figure, scale.back(ends[0]), scale.back(ends[1]))

    def _scaled(self, scale: Scale, labels: Labels) -> tuple[Floats, Floats]:
        """Compute each sample's metric on a scale, and its standard error up to a common factor."""
        influence = scale.influence(summed(labels, self.rows), self.rows)
        times = self.rows.astype(np.intp)
        right = np.repeat(influence.right, times, axis=1)
        wrong = np.repeat(influence.wrong, times, axis=1)
        with np.errstate(invalid="ignore"):
            sums = self.clusters @ np.where(labels, right, wrong).T
            return influence.value, np.sqrt((sums**2).sum(axis=0))

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """Yield permuted labels in batches of shape (permutations, rows).

        The labels of a cluster stay together. The labels are shuffled within each cluster, and the
        clusters are put in random order.
        """
        shuffling, ordering = np.random.default_rng(how.seed).spawn(2)
        rows, n = self.clusters.indices, len(self.labels)
        sizes = np.diff(self.clusters.indptr).astype(np.intp)
        cluster = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(n) - (sizes.cumsum() - sizes)[cluster]
        step = max(1, _CELLS // n)
        for begin in range(0, how.permutations, step):
            samples = min(step, how.permutations - begin)
            shuffled = (cluster + shuffling.random((samples, n))).argsort(axis=1)
            places = rows[laid(sizes, samples, ordering)[:, cluster] + within]
            labels = np.empty((samples, n), dtype=bool)
            np.put_along_axis(labels, places, self.labels[rows[shuffled]], axis=1)
            yield labels


def interval_of(
    value: float, error: float, permuted: Floats, level: float
) -> tuple[float, float] | None:
    """Compute the interval of those values that the permutations do not reject.

    Args:
        value: The observed metric, on a scale where chance is 0.
        error: Its standard error.
        permuted: For each permutation, the ratio of the metric to its standard error, shape
            (permutations,).
        level: Confidence level of the interval.

    Returns:
        Both ends of the interval, on the scale of ``value``. The lower end is above 0 exactly if
        the one-sided p-value is at most (1 - level)/2. The result is None if the metric is
        infinite, if the standard error is 0, or if the permutations do not limit the interval.
    """
    tail = (1 - level) / 2
    high, low = critical_value(permuted, tail), critical_value(-permuted, tail)
    if high is None or low is None or not error > _NOTHING:
        return None
    if not np.isfinite([value, high, low]).all():
        return None
    return value - high * error, value + low * error


def over_error(values: Floats, errors: Floats) -> Floats:
    """Divide each value by its standard error.

    The ratio is infinite if the value is infinite. It is also infinite if the value is not 0 and
    its standard error is 0.
    """
    unmoved = ~(errors > _NOTHING) | np.isinf(values)
    ends = np.where(np.abs(values) <= _NOTHING, 0.0, np.copysign(np.inf, values))
    return np.where(unmoved, ends, values / np.where(unmoved, 1.0, errors))
