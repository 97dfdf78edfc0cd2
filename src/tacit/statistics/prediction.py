"""Evaluate how well a score predicts which answers are correct."""

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
# Largest slope of the log-odds over the ranks, and number of bisection steps.
_STEEPEST = 256.0
_HALVINGS = 14


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple tests by the method of Benjamini and Hochberg."""
    from scipy.stats import false_discovery_control

    corrected = iter(false_discovery_control([p for p in p_values if p is not None]))
    return [None if p is None else float(next(corrected)) for p in p_values]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values by Holm's method, which controls the family-wise error rate."""
    found: list[float | None] = [None] * len(p_values)
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    least = 0.0
    for step, (p, at) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - step)))
        found[at] = least
    return found


def smallest_lift(
    right: int, score: ArrayLike, *, seed: int = 0, level: float = 0.05, power: float = 0.8
) -> float | None:
    """Estimate the smallest lift that could be detected with the given number of rows."""
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
    """Simulated samples of labels, and the average precision of each sample."""

    def __init__(self, right: int, rows: Floats, seed: int) -> None:
        self._right, self._rows = right, rows
        self._random = np.random.default_rng(seed)
        n = int(rows.sum())
        middles = rows.cumsum() - (rows - 1) / 2
        self._ranks = np.repeat((n - middles) / n, rows.astype(np.intp))
        self._keys = self._random.random((_DRAWS, n))

    def permuted(self) -> Floats:
        """Return average precisions of samples whose correct rows are drawn at random."""
        return self._figures(self._random.random((_PERMUTATIONS, len(self._ranks))), None)

    def tilted(self, steepness: float) -> Floats:
        """Return average precisions of samples in which correct rows tend to have high scores."""
        return self._figures(self._keys, steepness * self._ranks)

    def _figures(self, keys: Floats, weights: Floats | None) -> Floats:
        labels = dealt(self._right, keys, weights)
        return average_precisions(summed(labels, self._rows), self._rows)


_NONE = Estimate(None, None, None)
# Reasons why a lift has no interval.
NO_ROWS = "no rows"
ALL_RIGHT = "all right"
ALL_WRONG = "all wrong"
ONE_SCORE = "one score"
ONE_CLUSTER = "one cluster"
PERFECT = "perfect ranking"
TOO_FEW_CLUSTERS = "too few clusters"
TOO_FEW = "too few rows"
# Fewer clusters have too few permutations.
FEWEST_CLUSTERS = 10
# The distance in lift from chance to a perfect ranking.
_WIDEST = 1.0


@dataclass(frozen=True)
class Prediction:
    """How well a score predicts which answers are correct."""

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
    """Measure how well a score predicts which answers are correct."""
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
    """Clip the interval of a lift; omit an interval that is too wide or unreliable."""
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
    """Return the reason why the lift is undefined; None if the lift is defined."""
    if not len(sample.labels):
        return NO_ROWS
    if sample.labels.all():
        return ALL_RIGHT
    return None if sample.labels.any() else ALL_WRONG
