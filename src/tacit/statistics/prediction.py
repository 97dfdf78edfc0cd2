"""Evaluate how well a score predicts which answers are correct.

Even for a score that predicts nothing, average precision increases with the share of correct
answers. Besides average precision, each evaluation reports the chance level, the lift above chance,
AUROC, a p-value, and the smallest lift that could be detected with the number of evaluated rows. If
the lift has no interval, `Prediction.no_interval` contains the reason.
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
# Largest slope of the log-odds over the ranks, and number of bisection steps.
_STEEPEST = 256.0
_HALVINGS = 14


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple tests by the method of Benjamini and Hochberg.

    Args:
        p_values: One p-value per test. A test that could not be run has the p-value None and is
            ignored.

    Returns:
        The adjusted p-values, in the order of ``p_values``. If a p-value is None, its adjusted
        p-value is also None.
    """
    from scipy.stats import false_discovery_control

    corrected = iter(false_discovery_control([p for p in p_values if p is not None]))
    return [None if p is None else float(next(corrected)) for p in p_values]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values by Holm's method, which controls the family-wise error rate.

    Of m p-values, the i-th smallest is multiplied by m - i + 1 and limited to 1. An adjusted
    p-value is raised, if necessary, so that it is not below the adjusted value of any smaller
    p-value.

    Args:
        p_values: One p-value per test. A test that could not be run has the p-value None and is
            ignored.

    Returns:
        The adjusted p-values, in the order of ``p_values``. If a p-value is None, its adjusted
        p-value is also None.
    """
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
    """Estimate the smallest lift that could be detected with the given number of rows.

    The function simulates samples in which ``right`` of the n rows are labelled correct. In a
    simulated sample, the rows to label as correct are drawn without replacement. A row's weight is
    exp(b·rank/n), where rank is the rank of the row's score, b is a slope and n is the number of
    rows. Ranks are counted from 0 for the lowest score. A one-sided permutation test is applied to
    each simulated sample. The function searches for the smallest slope b (the weakest dependence of
    labels on scores) at which the share of significant samples reaches ``power``. A simulated
    sample counts as significant if the p-value of its permutation test is at most ``level``. The
    returned value is the mean lift of simulated samples in which labels depend on scores just
    strongly enough for the test to reach the required ``power``. The simulated samples have no
    clusters: all rows are treated as independent.

    Args:
        right: The number of correct rows. To plan a study, pass the expected accuracy times the
            planned number of rows.
        score: The score of each row, shape (rows,). Scores may be tied. For n rows without ties,
            pass ``range(n)``.
        seed: Seed of the random draws.
        level: Significance level of the test.
        power: The minimum share of simulated samples in which the test must be significant.

    Returns:
        The smallest lift that could be detected. None if the required ``power`` cannot be reached
        with the given rows and scores.
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
    """How well a score predicts which answers are correct.

    Args:
        n: Number of rows.
        clusters: Number of clusters.
        right: Number of correct rows.
        average_precision: The average precision of the score; None if no row is correct.
        chance: The chance level: the exact mean of average precision over all permutations of the
            labels "correct" and "incorrect".
        lift: The lift (average precision - chance)/(1 - chance). The lift has no value if all
            answers are correct, or if no answer is correct. The interval is clipped at the lowest
            possible lift, which results if all correct rows are ranked last. An interval that
            includes 0 and is wider than 1 (the distance from chance to a perfect ranking) is
            omitted as uninformative.
        auroc: The area under the ROC curve. AUROC has no value if all answers are correct, or if no
            answer is correct. AUROC has no interval if there are too few rows, or too few clusters,
            for an interval of the lift.
        p_value: The one-sided p-value of the lift. The p-value is computed from the same
            permutations as the interval of the lift. The p-value is None if all rows are correct,
            if no row is correct, or if there is only one cluster.
        smallest: The smallest detectable lift: the lift at which the test would be significant at
            the 5 % level in 80 of 100 samples of ``n`` rows. None if the lift is undefined, or if
            ``smallest_lift`` finds no detectable lift.
        no_interval: The reason why the lift has no interval: one of the module's constants, such as
            ``ONE_SCORE``. None if the lift has an interval.
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
    """Measure how well a score predicts which answers are correct.

    The result does not depend on the order of the rows.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,).
        clusters: The cluster of each row, shape (rows,). Rows of the same cluster need not be
            independent.
        how: The number of permutations, the random seed, and the confidence level.

    Raises:
        ValueError: If the shapes of the arguments do not match, or a score is nan.
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
    """Clip the interval of a lift; omit an interval that is too wide or unreliable.

    The interval is clipped at the lowest possible lift, which results if all correct rows are
    ranked last. An interval that includes 0 and is wider than 1 (the distance from chance to a
    perfect ranking) is omitted as uninformative.

    Args:
        lifted: The lift, with the interval that ``Sample.interval`` returned.
        sample: The rows from which the lift was computed. The sample must contain at least one row
            with a correct answer and at least one row with an incorrect answer.

    Returns:
        The lift, and the reason why the lift has no interval (None if it has an interval).
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
    """Return the reason why the lift is undefined; None if the lift is defined."""
    if not len(sample.labels):
        return NO_ROWS
    if sample.labels.all():
        return ALL_RIGHT
    return None if sample.labels.any() else ALL_WRONG
