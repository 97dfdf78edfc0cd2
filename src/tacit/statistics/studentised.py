"""P-values and intervals of ranking metrics, computed with studentised permutations."""

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
    """The parameters of p-values and intervals that are based on permutations."""

    permutations: int = 5000
    seed: int = 0
    level: float = 0.95

    def to_json(self) -> dict[str, Any]:
        """Return the method and its parameters as a JSON-compatible dictionary."""
        return {"method": "studentised permutations", **asdict(self)}


@dataclass(frozen=True)
class Permuted:
    """For each metric and permutation, the ratio of the metric to its standard error."""

    lift: Floats
    auroc: Floats


@dataclass(frozen=True)
class Sample:
    """Rows sorted by descending score; the input order of equal scores has no effect."""

    labels: Labels
    rows: Floats
    clusters: csr_array

    @classmethod
    def of(cls, right: ArrayLike, score: ArrayLike, clusters: ArrayLike) -> Sample:
        """Create a sample; sort its rows in descending order of score."""
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
        """Shuffle which rows are correct; divide each metric by its standard error."""
        batches = [
            (
                over_error(*self._scaled(LIFT, labels)),
                over_error(*self._scaled(AUROC, labels)),
            )
            for labels in self.dealt(how)
        ]
        return Permuted(*(np.concatenate(column) for column in zip(*batches, strict=True)))

    def p_value(self, scale: Scale, permuted: Floats) -> float | None:
        """Compute the one-sided p-value of a metric."""
        if self.clusters.shape[0] < _FEWEST_CLUSTERS:
            return None
        observed = over_error(*self._scaled(scale, self.labels[None]))
        return p_value(float(observed[0]), permuted)

    def interval(self, figure: float, scale: Scale, permuted: Floats, level: float) -> Estimate:
        """Compute the confidence interval of a metric."""
        (value,), (error,) = self._scaled(scale, self.labels[None])
        ends = interval_of(float(value), float(error), permuted, level)
        if self.clusters.shape[0] < _FEWEST_CLUSTERS or ends is None:
            return Estimate(figure, None, None)
        return Estimate(figure, scale.back(ends[0]), scale.back(ends[1]))

    def _scaled(self, scale: Scale, labels: Labels) -> tuple[Floats, Floats]:
        """Return each sample's metric, converted by ``scale``, and the metric's standard error."""
        influence = scale.influence(summed(labels, self.rows), self.rows)
        times = self.rows.astype(np.intp)
        right = np.repeat(influence.right, times, axis=1)
        wrong = np.repeat(influence.wrong, times, axis=1)
        with np.errstate(invalid="ignore"):
            sums = self.clusters @ np.where(labels, right, wrong).T
            return influence.value, np.sqrt((sums**2).sum(axis=0))

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """Yield batches of permuted labels, each of shape (permutations, rows)."""
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
    """Compute the interval of the values that the permutation test does not reject."""
    tail = (1 - level) / 2
    high, low = critical_value(permuted, tail), critical_value(-permuted, tail)
    if high is None or low is None or not error > _NOTHING:
        return None
    if not np.isfinite([value, high, low]).all():
        return None
    return value - high * error, value + low * error


def over_error(values: Floats, errors: Floats) -> Floats:
    """Divide each value by its standard error."""
    unmoved = ~(errors > _NOTHING) | np.isinf(values)
    ends = np.where(np.abs(values) <= _NOTHING, 0.0, np.copysign(np.inf, values))
    return np.where(unmoved, ends, values / np.where(unmoved, 1.0, errors))
