"""What many tests at once are worth, and what a sample is too small to show."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.permutation import chance_levels, critical_value, dealt
from tacit.statistics.ranking import at_thresholds, average_precisions, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

_PERMUTATIONS = 1000
_DRAWS = 500
# How steep the odds of being right may become over the ranks, and how finely that is searched.
_STEEPEST = 256.0
_HALVINGS = 14


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """P-values corrected for their number: the rate of false discoveries at which each is one.

    Args:
        p_values: One per test; None is a test that could not be made, and counts as none.

    Returns:
        In the same order, None where it was.
    """
    made = [place for place, p in enumerate(p_values) if p is not None]
    p = np.array([p_values[place] for place in made], dtype=np.float64)
    falling = np.argsort(-p, kind="stable")
    ranks = np.arange(len(p), 0, -1)
    corrected = np.minimum.accumulate(np.minimum(1.0, p[falling] * len(p) / ranks))
    answers: list[float | None] = [None] * len(p_values)
    for place, value in zip(falling, corrected, strict=True):
        answers[made[place]] = float(value)
    return answers


def smallest_lift(
    right: int, score: ArrayLike, *, seed: int = 0, level: float = 0.05, power: float = 0.8
) -> float | None:
    """The lift that these rows are enough to show.

    Samples are drawn in which as many rows are right, and the odds of being right rise with the
    rank of the score, as exp(b·rank/rows). With the least b for which ``power`` of the samples have
    a one-sided permutation p-value of at most ``level``, this is their mean lift. Clusters are not
    looked at.

    Args:
        right: How many rows are right; for an accuracy, that share of the rows.
        score: Shape (rows,), ties as they are; ``range(n)`` for n rows without ties.
        seed: Where the draws begin.
        level: The test's level.
        power: The share of samples that are to pass it.

    Returns:
        The lift; None when no ranking by these scores could show anything.
    """
    rows = at_thresholds(np.zeros(np.shape(score)), score)[1]
    n = int(rows.sum())
    if not 0 < right < n:
        return None
    samples = _Samples(right, rows, seed)
    critical = critical_value(samples.permuted(), level)
    if critical is None or (samples.tilted(_STEEPEST) > critical).mean() < power:
        return None
    low, high = 0.0, _STEEPEST
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        enough = (samples.tilted(middle) > critical).mean() >= power
        low, high = (low, middle) if enough else (middle, high)
    chance = float(chance_levels(right, rows))
    return (float(samples.tilted(high).mean()) - chance) / (1 - chance)


class _Samples:
    """Average precisions of rows whose rightness follows the rank of the score more or less."""

    def __init__(self, right: int, rows: Floats, seed: int) -> None:
        self._right, self._rows = right, rows
        self._random = np.random.default_rng(seed)
        n = int(rows.sum())
        middles = rows.cumsum() - (rows - 1) / 2
        self._ranks = np.repeat((n - middles) / n, rows.astype(np.intp))
        self._keys = self._random.random((_DRAWS, n))

    def permuted(self) -> Floats:
        """Where rightness has nothing to do with the score."""
        return self._figures(self._random.random((_PERMUTATIONS, len(self._ranks))), None)

    def tilted(self, steepness: float) -> Floats:
        """Where it has; the same random numbers for every steepness."""
        return self._figures(self._keys, steepness * self._ranks)

    def _figures(self, keys: Floats, weights: Floats | None) -> Floats:
        labels = dealt(self._right, keys, weights)
        return average_precisions(summed(labels, self._rows), self._rows)
