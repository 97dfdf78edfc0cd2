"""Intervals of a ranking's figures, from permutations of the figure over its standard error.

The figure is put on a scale without ends, where 0 is chance. Its standard error is that of the
infinitesimal jackknife: what each row moves the figure by is summed over its cluster, and the sums
are squared. The ends are those values that would bring figure over error to the 2.5 % and 97.5 %
of the permutations. If what is right has nothing to do with the score, the interval holds 0 as
often as it says, however few rows there are; otherwise it does when there are many.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import dealt
from tacit.statistics.ranking import at_thresholds, average_precisions, summed
from tacit.statistics.scales import AUROC, LIFT, Scale

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
    """The figures of each permutation, all of shape (permutations,).

    Args:
        average_precision: As it is.
        lift: On its scale, over its standard error.
        auroc: Likewise.
    """

    average_precision: Floats
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
                average_precisions(summed(labels, self.rows), self.rows),
                _over_error(*self._scaled(LIFT, labels)),
                _over_error(*self._scaled(AUROC, labels)),
            )
            for labels in self._dealt(how)
        ]
        return Permuted(*(np.concatenate(column) for column in zip(*batches, strict=True)))

    def interval(self, figure: float, scale: Scale, permuted: Floats, level: float) -> Estimate:
        """The figure with the ends that the permutations leave it.

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
        tail = (1 - level) / 2
        low, high = np.quantile(permuted, [tail, 1 - tail], method="inverted_cdf")
        enough = self.clusters.shape[0] >= _FEWEST_CLUSTERS and error > _NOTHING
        if not enough or not np.isfinite([value, low, high]).all():
            return Estimate(figure, None, None)
        return Estimate(figure, scale.back(value - high * error), scale.back(value - low * error))

    def _scaled(self, scale: Scale, labels: Labels) -> tuple[Floats, Floats]:
        """Each sample's figure on its scale, and its error but for a factor that all share."""
        influence = scale.influence(summed(labels, self.rows), self.rows)
        times = self.rows.astype(np.intp)
        right = np.repeat(influence.right, times, axis=1)
        wrong = np.repeat(influence.wrong, times, axis=1)
        with np.errstate(invalid="ignore"):
            sums = self.clusters @ np.where(labels, right, wrong).T
            return influence.value, np.sqrt((sums**2).sum(axis=0))

    def _dealt(self, how: Permutations) -> Iterator[Labels]:
        random = np.random.default_rng(how.seed)
        n, right = len(self.labels), int(self.labels.sum())
        step = max(1, _CELLS // n)
        for begin in range(0, how.permutations, step):
            yield dealt(right, random.random((min(step, how.permutations - begin), n)))


def _over_error(values: Floats, errors: Floats) -> Floats:
    """Each value over its error; infinite at the scale's ends, and where there is no error."""
    unmoved = ~(errors > _NOTHING) | np.isinf(values)
    ends = np.where(np.abs(values) <= _NOTHING, 0.0, np.copysign(np.inf, values))
    return np.where(unmoved, ends, values / np.where(unmoved, 1.0, errors))
