"""A percentile bootstrap that resamples clusters of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.statistics.estimate import Change, Estimate
from tacit.statistics.ranking import aurocs, divided, weighted_thresholds

Floats: TypeAlias = NDArray[np.float64]


# Minimum number of clusters for an interval.
FEWEST_CLUSTERS = 5
_EQUAL = 1e-12  # the range of resampled statistics that differ by rounding only
# Maximum number of clusters drawn in a batch of resamples; bounds the memory.
_CELLS = 4_000_000
# The same for the weights of rows, of which statistics make several copies.
_WEIGHTS = 500_000
_RESAMPLES_PER_PAIR = 80


@dataclass(frozen=True)
class Bootstrap:
    """A percentile bootstrap that resamples clusters of rows."""

    resamples: int = 2000
    seed: int = 0
    level: float = 0.95

    @classmethod
    def for_pairs(cls, models: int) -> Bootstrap:
        """Return a bootstrap with enough resamples to compare all pairs of models."""
        return cls(max(cls.resamples, _RESAMPLES_PER_PAIR * models * (models - 1) // 2))

    def ratio(
        self, clusters: ArrayLike, numerators: ArrayLike, denominators: ArrayLike
    ) -> Estimate:
        """Estimate the ratio of the sum of the numerators to the sum of the denominators."""
        over, under = np.asarray(numerators)[None], np.asarray(denominators)[None]
        return self.mean_of_ratios(clusters, over, under)

    def mean_of_ratios(
        self,
        clusters: ArrayLike,
        numerators: ArrayLike,
        denominators: ArrayLike,
        *,
        all_defined: bool = False,
    ) -> Estimate:
        """Estimate a macro average: the mean of several ratios of sums."""

        def figure(ratios: Floats) -> Floats:
            return ratios.mean(axis=1) if all_defined else _mean(ratios)

        return self._estimate(clusters, numerators, denominators, figure).estimate

    def difference(
        self, clusters: ArrayLike, numerators: ArrayLike, denominators: ArrayLike
    ) -> Change:
        """Estimate the difference of two ratios of sums: the second ratio minus the first."""
        return self._estimate(
            clusters, numerators, denominators, lambda ratios: ratios[:, 1] - ratios[:, 0]
        )

    def of_clusters(
        self, clusters: int, behind: int, figures: Callable[[Floats], Floats]
    ) -> list[Change]:
        """Estimate statistics with ``figures``, which computes them from weights of clusters.

        The intervals are None if fewer than ``FEWEST_CLUSTERS`` clusters are ``behind`` a value.
        """
        observed = figures(np.ones((1, clusters)))[0]
        drawn = np.empty((0, len(observed)))
        if behind >= FEWEST_CLUSTERS and not np.isnan(observed).all():
            drawn = np.concatenate([figures(times) for times in self.draws(clusters)])
        return [self.change(float(one), of) for one, of in zip(observed, drawn.T, strict=True)]

    def weighted(
        self, clusters: ArrayLike, figures: Callable[[Floats], Floats], behind: int | None = None
    ) -> list[Estimate]:
        """Estimate statistics with ``figures``, which computes them from weights of rows."""
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)

        def of_rows(times: Floats) -> Floats:
            parts = np.array_split(times, 1 + len(times) * len(cluster) // _WEIGHTS)
            return np.concatenate([figures(part[:, cluster]) for part in parts])

        n = len(names) if behind is None else behind
        return [each.estimate for each in self.of_clusters(len(names), n, of_rows)]

    def auroc(self, clusters: ArrayLike, right: ArrayLike, score: ArrayLike) -> Estimate:
        """Estimate the AUROC of a score that should be higher for correct rows."""
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        true = np.asarray(right, dtype=bool)
        behind = min(len(np.unique(cluster[some])) for some in (true, ~true))
        if not behind:
            return Estimate(None, why="undefined")
        if len(names) ** 2 <= len(cluster):
            won = _aurocs_of_clusters(cluster, right, score)
            return self.of_clusters(len(names), behind, won)[0].estimate
        (area,) = self.weighted(
            clusters, lambda rows: aurocs(*weighted_thresholds(right, score, rows))[:, None], behind
        )
        return area

    def change(self, value: float, resampled: Floats) -> Change:
        """Compute the interval and the p-value of a statistic from its resampled values."""
        if np.isnan(value):
            return Change(None, why="undefined")
        defined = resampled[~np.isnan(resampled)]
        # Rounding errors would otherwise decide on which side of 0 a resample lies.
        defined = np.sort(np.where(np.abs(defined) < _EQUAL, 0.0, defined))
        if not len(defined):
            return Change(float(value), why=f"fewer than {FEWEST_CLUSTERS} clusters")
        if defined[-1] - defined[0] < _EQUAL:
            p_value = 1.0 if abs(value) < _EQUAL else None
            return Change(float(value), p_value=p_value, why="no variation")
        tail = (1 - self.level) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        least = min(_share_below(defined), _share_below(-defined[::-1]))
        p_value = min(1.0, 2 * max(least, 1 / (len(defined) + 1)))
        return Change(float(value), float(low), float(high), p_value)

    def to_json(self) -> dict[str, Any]:
        """Return the name and the parameters of the bootstrap as a JSON-compatible dictionary."""
        return {"method": "percentile bootstrap", **asdict(self)}

    def _estimate(
        self,
        clusters: ArrayLike,
        numerators: ArrayLike,
        denominators: ArrayLike,
        figure: Callable[[Floats], Floats],
    ) -> Change:
        n, behind, ratios = ratios_by_cluster(clusters, numerators, denominators)
        (change,) = self.of_clusters(n, behind, lambda times: figure(ratios(times))[:, None])
        return change

    def draws(self, clusters: int) -> Iterator[Floats]:
        """Yield batches of resamples as counts of each cluster, shape (resamples, clusters)."""
        if self.resamples * clusters <= _CELLS:
            yield _all_drawn(self.seed, self.resamples, clusters)
            return
        generator = np.random.default_rng(self.seed)
        step = max(1, _CELLS // clusters)
        for begin in range(0, self.resamples, step):
            yield _drawn(generator, min(step, self.resamples - begin), clusters)


@lru_cache(maxsize=2)
def _all_drawn(seed: int, resamples: int, clusters: int) -> Floats:
    """Draw all resamples at once, and cache the result for use by several statistics."""
    times = _drawn(np.random.default_rng(seed), resamples, clusters)
    times.flags.writeable = False
    return times


def _drawn(generator: np.random.Generator, rows: int, clusters: int) -> Floats:
    drawn = generator.integers(0, clusters, size=(rows, clusters))
    cells = drawn + clusters * np.arange(rows)[:, None]
    times = np.bincount(cells.ravel(), minlength=rows * clusters)
    return times.reshape(rows, clusters).astype(np.float64)


def _aurocs_of_clusters(
    cluster: NDArray[np.intp], right: ArrayLike, score: ArrayLike
) -> Callable[[Floats], Floats]:
    """Return a function of the clusters' weights, from the wins of each against each other."""
    true, score = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
    numbers = range(int(cluster.max()) + 1)
    won = np.zeros((len(numbers), len(numbers)))
    for other in numbers:
        wrong = np.sort(score[~true & (cluster == other)])
        lower = sum(np.searchsorted(wrong, score[true], side) for side in ("left", "right")) / 2
        won[:, other] = np.bincount(cluster[true], lower, len(numbers))
    pairs = [np.bincount(cluster[some], minlength=len(numbers)) for some in (true, ~true)]
    return lambda times: divided(
        ((times @ won) * times).sum(axis=1), (times @ pairs[0]) * (times @ pairs[1])
    )[:, None]


def _share_below(values: Floats) -> float:
    """Return the highest level (0 to 1) whose quantile of ``values`` is at most 0."""
    reached = int(np.searchsorted(values, 0.0, side="right"))
    if reached in {0, len(values)}:
        return float(reached > 0)
    below, above = values[reached - 1], values[reached]
    return float((reached - 1 - below / (above - below)) / (len(values) - 1))


def sums_by_cluster(clusters: ArrayLike, values: ArrayLike) -> Floats:
    """Sum each array of ``values`` by cluster, shape (clusters in sorted order, arrays)."""
    names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    columns = np.asarray(values, dtype=np.float64)
    sums = [np.bincount(cluster, weights=column, minlength=len(names)) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)  # bincount of no rows returns integers


def ratios_by_cluster(
    clusters: ArrayLike, over: ArrayLike, under: ArrayLike
) -> tuple[int, int, Callable[[Floats], Floats]]:
    """Return the number of clusters with a denominator, of those behind the ratio that has fewest.

    And return a function from weights of clusters to the ratios of sums. A ratio without any
    denominator has no value; it takes no interval from the others.
    """
    tops, bottoms = sums_by_cluster(clusters, over), sums_by_cluster(clusters, under)
    present = (bottoms != 0).any(axis=1)
    tops, bottoms = tops[present], bottoms[present]
    known = np.count_nonzero(bottoms, axis=0)
    behind = int(known[known > 0].min(initial=len(tops)))
    return len(tops), behind, lambda times: divided(times @ tops, times @ bottoms)


def _mean(ratios: Floats) -> Floats:
    defined = ~np.isnan(ratios)
    return divided(np.where(defined, ratios, 0.0).sum(axis=1), defined.sum(axis=1))
