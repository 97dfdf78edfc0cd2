from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.metrics import brier_score_loss

from tacit.statistics import Bootstrap
from tacit.statistics.calibration import (
    BINS,
    brier_score,
    brier_scores,
    calibration_bins,
    calibration_error,
    calibration_errors,
)

ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 40).map(lambda n: n / 40)), min_size=1, max_size=60
)


def brute_error(rows: list[tuple[bool, float]]) -> float:
    """The error, bin by bin."""
    found = 0.0
    for at in range(BINS):
        low, high = np.linspace(0, 1, BINS + 1)[[at, at + 1]]
        inside = [(y, p) for y, p in rows if low < p <= high or (at == 0 and p == 0)]
        if inside:
            gap = float(np.mean([p for _, p in inside]) - np.mean([y for y, _ in inside]))
            found += abs(gap) * len(inside) / len(rows)
    return found


@given(ROWS)
def test_the_errors_are_those_of_an_independent_computation(
    rows: list[tuple[bool, float]],
) -> None:
    """scikit-learn's Brier score, and the calibration error bin by bin."""
    right, probability = map(list, zip(*rows, strict=True))
    expected = brier_score_loss(right, probability, pos_label=True, labels=[False, True])
    assert brier_score(right, probability) == pytest.approx(expected, abs=1e-12)
    assert calibration_error(right, probability) == pytest.approx(brute_error(rows), abs=1e-12)


def test_the_bins_are_those_of_scikit_learn() -> None:
    """The same mean probabilities and shares, also at the ends of bins."""
    random = np.random.default_rng(1)
    probability = np.concatenate([random.random(200), np.linspace(0, 1, 11)])
    right = random.random(211) < probability
    shares, means = calibration_curve(right, probability, n_bins=BINS)
    bins = calibration_bins(probability)
    assert [one.predicted for one in bins] == pytest.approx(means)
    assert [right[one.rows].mean() for one in bins] == pytest.approx(shares)


@given(ROWS, st.integers(0, 9))
def test_a_row_of_weight_two_counts_twice(rows: list[tuple[bool, float]], seed: int) -> None:
    """As if it were listed twice; a row of weight 0 as if it were not."""
    times = np.random.default_rng(seed).integers(0, 3, len(rows))
    times[0] += 1
    right, probability = map(np.array, zip(*rows, strict=True))
    weights = times[None].astype(float)
    repeated = np.repeat(right, times), np.repeat(probability, times)
    assert brier_scores(right, probability, weights)[0] == pytest.approx(brier_score(*repeated))
    assert calibration_errors(right, probability, weights)[0] == pytest.approx(
        calibration_error(*repeated), abs=1e-12
    )


def test_no_rows_have_no_error() -> None:
    """None, not 0."""
    assert brier_score([], []) is None
    assert calibration_error([], []) is None


def test_the_interval_of_a_weighted_mean_is_that_of_a_ratio() -> None:
    """The same draws and the same statistic."""
    random = np.random.default_rng(2)
    clusters, values = random.integers(0, 12, 50), random.random(50)

    def means(weights: np.ndarray) -> np.ndarray:
        found = (weights @ values) / weights.sum(axis=1)
        return np.stack([found, np.full(len(weights), np.nan)], axis=1)

    ratio = Bootstrap(300).ratio(clusters, values, np.ones(50))
    weighted, undefined = Bootstrap(300).weighted(clusters, means)
    assert weighted.value == pytest.approx(ratio.value)
    assert weighted.interval == pytest.approx(ratio.interval)
    assert (undefined.value, undefined.interval) == (None, None)
    assert Bootstrap(300).weighted(np.zeros(50), means)[0].interval is None
