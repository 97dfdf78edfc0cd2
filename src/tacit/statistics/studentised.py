"""P-values and intervals of a ranking's figures, from permutations of figure over standard error.

The figure is put on a scale without ends, where 0 is chance. Its standard error is that of the
infinitesimal jackknife: each row's influence on the figure is summed over the row's cluster, and
the sums are squared. The p-value is the share of permutations whose figure over error is at least
the observed one. The interval holds the values of the figure that the same test, one-sided in both
directions, does not reject; so the p-value is at most 2.5 % exactly where a 95 % CI lies
above chance. The permutations keep the labels of a cluster together. Where clusters are of one
size and labels have nothing to do with scores, they are as likely as the sample itself, and 5 % of
the p-values are at most 5 %; where sizes differ, nearly so.
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

# A standard error below this is nothing but rounding.
_NOTHING = 1e-12
# How many labels are dealt at once; bounds the memory.
_CELLS = 500_000
_FEWEST_CLUSTERS = 2


@dataclass(frozen=True)
class Permutations:
    """How p-values and intervals are made.

    Args:
        permutations: How many are drawn.
        seed: Where the draws begin.
        level: The intervals' coverage.
    """

    permutations: int = 5000
    seed: int = 0
    level: float = 0.95

    def to_json(self) -> dict[str, Any]:
        """How they are made."""
        return {"method": "studentised permutations", **asdict(self)}


@dataclass(frozen=True)
class Permuted:
    """Figure over standard error, on the figure's scale, of each permutation.

    Args:
        lift: Shape (permutations,).
        auroc: Likewise.
    """

    lift: Floats
    auroc: Floats


@dataclass(frozen=True)
class Sample:
    """Rows by falling score; tied ones in an order in which the input's has no part.

    Args:
        labels: Whether each row is right, shape (rows,).
        rows: How many rows stand at each threshold, shape (thresholds,).
        clusters: 1 where a row belongs to a cluster, shape (clusters, rows).
    """

    labels: Labels
    rows: Floats
    clusters: csr_array

    @classmethod
    def of(cls, right: ArrayLike, score: ArrayLike, clusters: ArrayLike) -> Sample:
        """The rows in order.

        Args:
            right: Whether each row is right, shape (rows,).
            score: Shape (rows,).
            clusters: The cluster of each row, shape (rows,).

        Raises:
            ValueError: The shapes differ, or a score is not a number.
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
        """The figures of random labels, as many of them right as there are."""
        batches = [
            (
                over_error(*self._scaled(LIFT, labels)),
                over_error(*self._scaled(AUROC, labels)),
            )
            for labels in self.dealt(how)
        ]
        return Permuted(*(np.concatenate(column) for column in zip(*batches, strict=True)))

    def p_value(self, scale: Scale, permuted: Floats) -> float | None:
        """The one-sided p-value of a figure.

        Args:
            scale: The figure's scale.
            permuted: Value over error of each permutation.

        Returns:
            None with fewer than two clusters, which do not show how clusters differ. At the end of
            the scale, a perfect ranking, there is no error, and the p-value is the share of
            permutations that are perfect too.
        """
        if self.clusters.shape[0] < _FEWEST_CLUSTERS:
            return None
        observed = over_error(*self._scaled(scale, self.labels[None]))
        return p_value(float(observed[0]), permuted)

    def interval(self, figure: float, scale: Scale, permuted: Floats, level: float) -> Estimate:
        """The figure with its interval.

        Args:
            figure: The figure itself.
            scale: Its scale.
            permuted: Value over error of each permutation.
            level: The interval's coverage.

        Returns:
            No interval of fewer than two clusters, where the figure stands at the end of its
            scale, where no row moves it, or where an end lies beyond what permutations can tell.
        """
        (value,), (error,) = self._scaled(scale, self.labels[None])
        ends = interval_of(float(value), float(error), permuted, level)
        if self.clusters.shape[0] < _FEWEST_CLUSTERS or ends is None:
            return Estimate(figure, None, None)
        return Estimate(figure, scale.back(ends[0]), scale.back(ends[1]))

    def _scaled(self, scale: Scale, labels: Labels) -> tuple[Floats, Floats]:
        """Each sample's figure on its scale, and its error but for a factor that all share."""
        influence = scale.influence(summed(labels, self.rows), self.rows)
        times = self.rows.astype(np.intp)
        right = np.repeat(influence.right, times, axis=1)
        wrong = np.repeat(influence.wrong, times, axis=1)
        with np.errstate(invalid="ignore"):
            sums = self.clusters @ np.where(labels, right, wrong).T
            return influence.value, np.sqrt((sums**2).sum(axis=0))

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """The labels of the permutations: batches of shape (permutations, rows).

        The labels of a cluster stay together. They are shuffled, and the clusters are laid one
        after the other in random order, over the rows of all clusters.
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
    """The values of a figure that the permutations do not reject.

    Args:
        value: The figure, on a scale where 0 is chance.
        error: Its standard error.
        permuted: Value over error of each permutation.
        level: The interval's coverage.

    Returns:
        Both ends, on the scale; the lower is above 0 exactly where the one-sided p-value is at most
        (1 - level)/2. None where the value is infinite, the error is 0, or the permutations do not
        bound the value.
    """
    tail = (1 - level) / 2
    high, low = critical_value(permuted, tail), critical_value(-permuted, tail)
    if high is None or low is None or not error > _NOTHING:
        return None
    if not np.isfinite([value, high, low]).all():
        return None
    return value - high * error, value + low * error


def over_error(values: Floats, errors: Floats) -> Floats:
    """Each value over its error; infinite at the scale's ends, and where there is no error."""
    unmoved = ~(errors > _NOTHING) | np.isinf(values)
    ends = np.where(np.abs(values) <= _NOTHING, 0.0, np.copysign(np.inf, values))
    return np.where(unmoved, ends, values / np.where(unmoved, 1.0, errors))
