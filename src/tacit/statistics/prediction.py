"""How well a score predicts what is right, with all that keeps the figure honest.

Average precision rises with the share of rows that are right, so it never stands alone: beside it
are its chance level, the lift above that, AUROC, a p-value, and the lift that so few rows could
show at all. Where lift and AUROC have no interval, `Prediction.no_interval` says why.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import (
    AUROC,
    LIFT,
    chance_level,
    chance_levels,
    critical_value,
    dealt,
    lift,
)
from tacit.statistics.ranking import (
    at_thresholds,
    auroc,
    average_precision,
    average_precisions,
    least_average_precision,
    summed,
)
from tacit.statistics.studentised import Permutations, Sample

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
    from scipy.stats import false_discovery_control

    corrected = iter(false_discovery_control([p for p in p_values if p is not None]))
    return [None if p is None else float(next(corrected)) for p in p_values]


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


_NONE = Estimate(None, None, None)
# Why a lift has no interval.
NO_ROWS = "no rows"
ALL_RIGHT = "all right"
ALL_WRONG = "all wrong"
ONE_SCORE = "one score"
ONE_CLUSTER = "one cluster"
PERFECT = "perfect ranking"
TOO_FEW_CLUSTERS = "too few clusters"
TOO_FEW = "too few rows"
# With fewer clusters there are too few ways to permute them.
FEWEST_CLUSTERS = 10
# Chance and perfect are so far apart in lift.
_WIDEST = 1.0


@dataclass(frozen=True)
class Prediction:
    """What a score tells of what is right.

    Args:
        n: Rows.
        clusters: Clusters they come in.
        right: Rows that are right.
        average_precision: None when no row is right.
        chance: The mean average precision over all permutations, exact.
        lift: (average precision - chance)/(1 - chance); no value when all or no rows are right. The
            interval ends at the lowest lift that is possible, and there is none that includes 0 and
            is wider than 1, the distance from chance to perfect.
        auroc: The area under the receiver operating characteristic, undefined likewise; without an
            interval where there are too few rows for the lift's.
        p_value: One-sided, of the lift, from the permutations that its interval is made of; None
            likewise, and with one cluster.
        smallest: The lift that would pass 5 % in 80 of 100 such samples; None where none would.
        no_interval: Why the lift has no interval, as one of the constants of this module; None
            where it has one.
    """

    n: int
    clusters: int
    right: int
    average_precision: float | None
    chance: float | None
    lift: Estimate
    auroc: Estimate
    p_value: float | None
    smallest: float | None
    no_interval: str | None


def predict(
    right: ArrayLike, score: ArrayLike, clusters: ArrayLike, how: Permutations | None = None
) -> Prediction:
    """How well a score predicts what is right.

    The order of the rows changes nothing.

    Args:
        right: Whether each row is right, shape (rows,).
        score: What is to predict it, shape (rows,).
        clusters: The cluster of each row, shape (rows,): rows of a cluster are not independent.
        how: How many permutations, from which seed, and how wide the intervals are.

    Raises:
        ValueError: The shapes differ, or a score is not a number.
    """
    how = how or Permutations()
    sample = Sample.of(right, score, clusters)
    precision, chance = average_precision(right, score), chance_level(right, score)
    figures = Prediction(
        n=len(sample.labels),
        clusters=sample.clusters.shape[0],
        right=int(sample.labels.sum()),
        average_precision=precision,
        chance=chance,
        lift=_NONE,
        auroc=_NONE,
        p_value=None,
        smallest=None,
        no_interval=_undefined(sample),
    )
    lifted, area = lift(precision, chance), auroc(right, score)
    if lifted is None or area is None:
        return figures
    permuted = sample.permuted(how)
    interval = sample.interval(lifted, LIFT, permuted.lift, how.level)
    shown, reason = informative(interval, sample)
    return replace(
        figures,
        lift=shown,
        auroc=Estimate(area, None, None)
        if reason in {TOO_FEW, TOO_FEW_CLUSTERS}
        else sample.interval(area, AUROC, permuted.auroc, how.level),
        p_value=sample.p_value(LIFT, permuted.lift),
        smallest=smallest_lift(figures.right, score, seed=how.seed),
        no_interval=reason,
    )


def informative(lifted: Estimate, sample: Sample) -> tuple[Estimate, str | None]:
    """A lift with the interval that is shown.

    The interval is cut at the lowest lift that so many right rows can have. One that includes 0 and
    is wider than 1, the distance from chance to perfect, says nothing and is left out.

    Args:
        lifted: The lift with the interval of `Sample.interval`.
        sample: Its rows, some of them right and some not.

    Returns:
        The lift, and why it has no interval; None where it has one.
    """
    bare = replace(lifted, low=None, high=None)
    clusters = sample.clusters.shape[0]
    for reason, holds in (
        (ONE_SCORE, len(sample.rows) == 1),
        (ONE_CLUSTER, clusters == 1),
        (PERFECT, lifted.value is not None and lifted.value >= 1),
        (TOO_FEW_CLUSTERS, clusters < FEWEST_CLUSTERS),
    ):
        if holds:
            return bare, reason
    if lifted.low is None or lifted.high is None:
        return bare, TOO_FEW
    least = _least_lift(sample)
    low, high = max(lifted.low, least), max(lifted.high, least)
    if low <= 0 <= high and high - low > _WIDEST:
        return bare, TOO_FEW
    return Estimate(lifted.value, low, high), None


def _least_lift(sample: Sample) -> float:
    right, rows = int(sample.labels.sum()), len(sample.labels)
    chance = float(chance_levels(right, sample.rows))
    return (least_average_precision(right, rows) - chance) / (1 - chance)


def _undefined(sample: Sample) -> str | None:
    """Why there is no lift; None where there is one."""
    if not len(sample.labels):
        return NO_ROWS
    if sample.labels.all():
        return ALL_RIGHT
    return None if sample.labels.any() else ALL_WRONG
