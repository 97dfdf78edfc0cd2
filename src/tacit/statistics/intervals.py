"""Estimates with intervals, for what was observed in clusters.

Statements about one thing are not independent of one another, so what is resampled is the things:
all rows of a cluster go together. An interval is made in three steps.

1. The rows are summed by cluster. A cluster with nothing in any denominator takes no part.
2. Each resample draws as many clusters as there are, with replacement, and makes the figure of
   their sums.
3. The ends are the percentiles of the resampled figures, with linear interpolation. Resamples in
   which the figure is undefined are left out.

The draws depend on the seed and the number of clusters alone. Figures over the same clusters are
therefore resampled alike, and a difference is paired.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    from collections.abc import Iterable


# How many clusters are drawn at once, over all resamples of a batch; bounds the memory.
_CELLS = 4_000_000


@dataclass(frozen=True)
class Estimate:
    """A figure and its interval.

    Args:
        value: The figure; None when it is undefined.
        low: The interval's lower end; None when the figure, or a ratio in it, rests on fewer than
            two clusters, which tells nothing of how clusters differ.
        high: Its upper end, or None with it.
    """

    value: float | None
    low: float | None
    high: float | None

    @property
    def interval(self) -> list[float] | None:
        """Both ends, ready for JSON; None when there is no interval."""
        return None if self.low is None or self.high is None else [self.low, self.high]


@dataclass(frozen=True)
class Bootstrap:
    """A percentile bootstrap over clusters.

    Args:
        resamples: How many resamples are drawn.
        seed: Where the draws begin.
        level: The interval's coverage.
    """

    resamples: int = 2000
    seed: int = 0
    level: float = 0.95

    def ratio(
        self, clusters: ArrayLike, numerators: ArrayLike, denominators: ArrayLike
    ) -> Estimate:
        """The sum of the numerators over the sum of the denominators.

        Args:
            clusters: The cluster of each row, shape (rows,).
            numerators: Shape (rows,), such as how many were right.
            denominators: Shape (rows,), such as how many there were.
        """
        import numpy as np

        over, under = np.asarray(numerators)[None], np.asarray(denominators)[None]
        return self._estimate(clusters, over, under, _first)

    def mean_of_ratios(
        self,
        clusters: ArrayLike,
        numerators: ArrayLike,
        denominators: ArrayLike,
        *,
        all_defined: bool = False,
    ) -> Estimate:
        """The mean of several ratios of sums, of those that are defined (a macro average).

        Args:
            clusters: The cluster of each row, shape (rows,).
            numerators: Shape (ratios, rows).
            denominators: Shape (ratios, rows).
            all_defined: Whether the mean is undefined where any of the ratios is.
        """
        figure = _mean_of_all if all_defined else _mean
        return self._estimate(clusters, numerators, denominators, figure)

    def difference(
        self, clusters: ArrayLike, numerators: ArrayLike, denominators: ArrayLike
    ) -> Estimate:
        """The second ratio of sums minus the first, both of the same resamples.

        Args:
            clusters: The cluster of each row, shape (rows,).
            numerators: Shape (2, rows).
            denominators: Shape (2, rows).
        """
        return self._estimate(clusters, numerators, denominators, _difference)

    def to_json(self) -> dict[str, Any]:
        """How the intervals are made."""
        return {"method": "percentile bootstrap", **asdict(self)}

    def _estimate(
        self,
        clusters: ArrayLike,
        numerators: ArrayLike,
        denominators: ArrayLike,
        figure: Callable[[Floats], Floats],
    ) -> Estimate:
        import numpy as np

        over, under = _sums(clusters, numerators), _sums(clusters, denominators)
        present = (under != 0).any(axis=1)
        over, under = over[present], under[present]
        value = float(figure(_ratios(over.sum(axis=0), under.sum(axis=0))[None])[0])
        if np.isnan(value):
            return Estimate(None, None, None)
        behind = np.count_nonzero(under, axis=0)
        if (behind == 1).any():
            return Estimate(value, None, None)
        drawn = [figure(_ratios(times @ over, times @ under)) for times in self._draws(len(over))]
        values = np.concatenate(drawn)
        tail = (1 - self.level) / 2
        low, high = np.nanquantile(values, [tail, 1 - tail])
        return Estimate(value, float(low), float(high))

    def _draws(self, clusters: int) -> Iterator[Floats]:
        """How often each cluster is drawn in each resample: batches of (resamples, clusters)."""
        import numpy as np

        if self.resamples * clusters <= _CELLS:
            yield _all_drawn(self.seed, self.resamples, clusters)
            return
        generator = np.random.default_rng(self.seed)
        step = max(1, _CELLS // clusters)
        for begin in range(0, self.resamples, step):
            yield _drawn(generator, min(step, self.resamples - begin), clusters)


@lru_cache(maxsize=2)
def _all_drawn(seed: int, resamples: int, clusters: int) -> Floats:
    """All resamples of so many clusters, kept: many figures rest on the same ones."""
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


def _sums(clusters: ArrayLike, values: ArrayLike) -> Floats:
    """The sums by cluster, in sorted order: from (ratios, rows) to (clusters, ratios)."""
    import numpy as np

    names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
    columns = np.asarray(values, dtype=np.float64)
    sums = [np.bincount(cluster, weights=column, minlength=len(names)) for column in columns]
    return np.stack(sums, axis=1).astype(np.float64)  # those of no rows would be integers


def _ratios(over: Floats, under: Floats) -> Floats:
    """Element by element; nan where there is nothing below."""
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


def t_interval(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The mean, with Student's interval.

    Args:
        values: One per group; those that are None were not measured and are left out.
        level: The interval's coverage.

    Returns:
        No value of nothing, and no interval of fewer than two values.
    """
    from statistics import fmean, stdev

    from scipy.special import stdtrit

    measured = [value for value in values if value is not None]
    n = len(measured)
    if not n:
        return Estimate(None, None, None)
    mean = fmean(measured)
    if n == 1:
        return Estimate(mean, None, None)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * stdev(measured) / n**0.5
    return Estimate(mean, mean - half, mean + half)


def wilson(successes: int, draws: int, level: float = 0.95) -> Estimate:
    """A share with Wilson's score interval, which is defined and lies in 0 to 1 also at its ends.

    Args:
        successes: How many draws came out so.
        draws: How many there were, each independent of the others.
        level: The interval's coverage.

    Returns:
        No value and no interval of no draws.
    """
    if not draws:
        return Estimate(None, None, None)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share, shrunk = successes / draws, 1 + z**2 / draws
    middle = (share + z**2 / (2 * draws)) / shrunk
    half = z / shrunk * (share * (1 - share) / draws + z**2 / (4 * draws**2)) ** 0.5
    # At the ends the formula gives 0 and 1, but for rounding.
    low = 0.0 if successes == 0 else middle - half
    high = 1.0 if successes == draws else middle + half
    return Estimate(share, low, high)
