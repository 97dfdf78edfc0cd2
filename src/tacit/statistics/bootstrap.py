"""A percentile bootstrap that resamples clusters of rows."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.statistics.estimate import Change, Estimate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


# Minimum number of clusters for an interval.
FEWEST_CLUSTERS = 5
_EQUAL = 1e-12  # the range of resampled statistics that differ by rounding only
# Maximum number of clusters drawn in a batch of resamples; bounds the memory.
_CELLS = 4_000_000
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
        import numpy as np

        over, under = np.asarray(numerators)[None], np.asarray(denominators)[None]
        return self._estimate(clusters, over, under, _first).estimate

    def mean_of_ratios(
        self,
        clusters: ArrayLike,
        numerators: ArrayLike,
        denominators: ArrayLike,
        *,
        all_defined: bool = False,
    ) -> Estimate:
        """Estimate a macro average: the mean of several ratios of sums."""
        figure = _mean_of_all if all_defined else _mean
        return self._estimate(clusters, numerators, denominators, figure).estimate

    def difference(
        self, clusters: ArrayLike, numerators: ArrayLike, denominators: ArrayLike
    ) -> Change:
        """Estimate the difference of two ratios of sums: the second ratio minus the first."""
        return self._estimate(clusters, numerators, denominators, _difference)

    def weighted(self, clusters: ArrayLike, figures: Callable[[Floats], Floats]) -> list[Estimate]:
        """Estimate statistics with ``figures``, a function that computes them from row weights."""
        import numpy as np

        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        values = [None if np.isnan(v) else float(v) for v in figures(np.ones((1, len(cluster))))[0]]
        if len(names) < 2:  # noqa: PLR2004 - one cluster does not show how much clusters vary
            return [Estimate(value, why="one cluster") for value in values]
        drawn = np.concatenate([figures(times[:, cluster]) for times in self.draws(len(names))])
        tail = (1 - self.level) / 2
        known = [at for at, value in enumerate(values) if value is not None]
        ends = dict(
            zip(known, np.nanquantile(drawn[:, known], [tail, 1 - tail], axis=0).T, strict=True)
        )
        return [
            Estimate(value, float(ends[at][0]), float(ends[at][1]))
            if at in ends
            else Estimate(None, why="undefined")
            for at, value in enumerate(values)
        ]

    def auroc(self, clusters: ArrayLike, right: ArrayLike, score: ArrayLike) -> Estimate:
        """Estimate the AUROC of a score that should be higher for correct rows."""
        import numpy as np

        from tacit.statistics.ranking import auroc

        value = auroc(right, score)
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        if value is None or len(names) == 1:
            return Estimate(value, why="undefined" if value is None else "one cluster")
        labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
        by = _aurocs_by_pair if len(names) ** 2 <= len(cluster) else _aurocs_by_row
        values = list(by(self.draws(len(names)), cluster, labels, scores))
        tail = (1 - self.level) / 2
        low, high = np.nanquantile(np.concatenate(values), [tail, 1 - tail])
        return Estimate(value, float(low), float(high))

    def change(self, value: float, resampled: Floats) -> Change:
        """Compute the interval and the p-value of a statistic from its resampled values."""
        import numpy as np

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
        import numpy as np

        over, under = sums_by_cluster(clusters, numerators), sums_by_cluster(clusters, denominators)
        present = (under != 0).any(axis=1)
        over, under = over[present], under[present]
        value = float(figure(_ratios(over.sum(axis=0), under.sum(axis=0))[None])[0])
        behind = np.count_nonzero(under, axis=0)
        if np.isnan(value) or ((behind > 0) & (behind < FEWEST_CLUSTERS)).any():
            return self.change(value, np.empty(0))
        drawn = [figure(_ratios(times @ over, times @ under)) for times in self.draws(len(over))]
        return self.change(value, np.concatenate(drawn))

    def draws(self, clusters: int) -> Iterator[Floats]:
        """Yield batches of resamples as counts of each cluster, shape (resamples, clusters)."""
        import numpy as np

        if self.resamples * clusters <= _CELLS:
            yield _all_drawn(self.seed, self.resamples, clusters)
            return
        generator = np.random.default_rng(self.seed)
        step = max(1, _CELLS // clusters)
        for begin in range(0, self.resamples, step):
            yield _drawn(generator, min(step, self.resamples - begin), clusters)


def no_interval_because(clusters: str) -> str:
    """Return the sentence in which a report explains why some values have no interval."""
    return (
        f"A value has no interval if it is computed from fewer than {FEWEST_CLUSTERS} "
        f"{clusters}, or if it is the same in every resample (for example 100 %), because the "
        "resamples then show no variation."
    )


@lru_cache(maxsize=2)
def _all_drawn(seed: int, resamples: int, clusters: int) -> Floats:
    """Draw all resamples at once, and cache the result for use by several statistics."""
    import numpy as np

    times = _drawn(np.random.default_rng(seed), resamples, clusters)
    times.flags.writeable = False
    return times


def _drawn(generator: np.random.Generator, rows: int, clusters: int) -> Floats:
    import numpy as np

    drawn = generator.integers(0, clusters, size=(rows, clusters))
    cells = drawn + clusters * np.arange(rows)[:, None]
    times = np.bincount(cells.ravel(), minlength=rows * clusters)
    return times.reshape(rows, clusters).astype(np.float64)


def _share_below(values: Floats) -> float:
    """Return the highest level (0 to 1) whose quantile of ``values`` is at most 0."""
    import numpy as np

    reached = int(np.searchsorted(values, 0.0, side="right"))
    if reached in {0, len(values)}:
        return float(reached > 0)
    below, above = values[reached - 1], values[reached]
    return float((reached - 1 - below / (above - below)) / (len(values) - 1))


def sums_by_cluster(clusters: ArrayLike, values: ArrayLike) -> Floats:
    """Sum each array of ``values`` by cluster, shape (clusters in sorted order, arrays)."""
    import numpy as np

    names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    columns = np.asarray(values, dtype=np.float64)
    sums = [np.bincount(cluster, weights=column, minlength=len(names)) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)  # bincount of no rows returns integers


def _aurocs_by_pair(
    draws: Iterable[Floats], cluster: NDArray[np.intp], right: NDArray[np.bool_], score: Floats
) -> Iterator[Floats]:
    """Yield the AUROCs of resamples, from the wins of each cluster against each other cluster."""
    import numpy as np

    clusters = int(cluster.max()) + 1
    won = np.zeros((clusters, clusters))
    for other in range(clusters):
        wrong = np.sort(score[~right & (cluster == other)])
        lower = sum(np.searchsorted(wrong, score[right], side) for side in ("left", "right")) / 2
        won[:, other] = np.bincount(cluster[right], lower, clusters)
    each = [np.bincount(cluster[some], minlength=clusters) for some in (right, ~right)]
    for times in draws:
        yield _ratios(((times @ won) * times).sum(axis=1), (times @ each[0]) * (times @ each[1]))


def _aurocs_by_row(
    draws: Iterable[Floats], cluster: NDArray[np.intp], right: NDArray[np.bool_], score: Floats
) -> Iterator[Floats]:
    """Yield the AUROCs of resamples, from the weights of the rows."""
    import numpy as np

    from tacit.statistics.ranking import aurocs

    level = np.unique(-score, return_inverse=True)[1]
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    labels, cluster = right[order].astype(np.float64), cluster[order]
    for batch in draws:
        for times in np.array_split(batch, 1 + len(batch) * len(order) // _CELLS):
            rows = times[:, cluster]
            counts = (np.add.reduceat(each, starts, axis=1) for each in (rows * labels, rows))
            yield aurocs(*counts)


def _ratios(over: Floats, under: Floats) -> Floats:
    """Divide two arrays element by element; the result is nan where the denominator is 0."""
    import numpy as np

    return np.divide(over, under, out=np.full_like(over, np.nan), where=under != 0)


def _first(ratios: Floats) -> Floats:
    return ratios[:, 0]


def _difference(ratios: Floats) -> Floats:
    return ratios[:, 1] - ratios[:, 0]


def _mean(ratios: Floats) -> Floats:
    import numpy as np

    defined = ~np.isnan(ratios)
    return _ratios(np.where(defined, ratios, 0.0).sum(axis=1), defined.sum(axis=1).astype(float))


def _mean_of_all(ratios: Floats) -> Floats:
    mean: Floats = ratios.mean(axis=1)
    return mean
