from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import page_trend_test
from statsmodels.stats.multitest import multipletests

from tacit.findings.scale import ratios
from tacit.statistics import Bootstrap, Change
from tacit.statistics import scale as reasons
from tacit.statistics.prediction import holm
from tacit.statistics.scale import slope, slopes, trend

SIZES = [125_000_000, 1_300_000_000, 350_000_000, 13_000_000_000]
VALUES = st.lists(st.floats(-1, 1), min_size=4, max_size=4)


@given(values=VALUES, shift=st.floats(-3, 3), factor=st.integers(1, 1000))
def test_a_slope_is_that_of_polyfit(values: list[float], shift: float, factor: int) -> None:
    """Over log10 of the sizes; neither a constant added to all values nor a unit changes it."""
    (expected, _) = np.polyfit(np.log10(SIZES), values, 1)
    assert slopes(SIZES, np.array(values)) == pytest.approx(expected, abs=1e-12)
    moved = slopes([size * factor for size in SIZES], np.array(values) + shift)
    assert moved == pytest.approx(expected, abs=1e-12)


def test_the_interval_fits_a_line_to_each_resample() -> None:
    """Rows drawn by hand, whole clusters at a time, the same ones for all models."""
    random = np.random.default_rng(3)
    clusters = np.array([f"c{row % 7}" for row in range(40)])
    rows = random.random((4, 40))
    figure = ratios("mean", ("cluster", clusters), rows, np.ones_like(rows))
    how = Bootstrap(resamples=50, seed=9)
    found, reason = slope(SIZES, figure.observed(), figure.resampled(how), how)
    names = sorted(set(clusters))
    fits = []
    for draw in np.random.default_rng(9).integers(0, 7, size=(50, 7)):
        drawn = np.concatenate([np.flatnonzero(clusters == names[at]) for at in draw])
        fits.append(np.polyfit(np.log10(SIZES), rows[:, drawn].mean(axis=1), 1)[0])
    low, high = np.quantile(fits, [0.025, 0.975])
    value = np.polyfit(np.log10(SIZES), rows.mean(axis=1), 1)[0]
    assert (found.value, found.low, found.high) == pytest.approx((value, low, high), abs=1e-12)
    assert reason is None


def test_a_slope_without_sizes_values_or_clusters_is_undefined() -> None:
    """Each with its reason."""
    how, two = Bootstrap(), np.array([0.1, 0.2])
    none = Change(None, None, None)
    assert slope([5, 5], two, None, how) == (none, reasons.ONE_SIZE)
    assert slope([5], two[:1], None, how) == (none, reasons.ONE_SIZE)
    assert slope([5, 50], np.array([0.1, np.nan]), None, how) == (none, reasons.UNDEFINED)
    found, reason = slope([5, 50], two, None, how)
    assert found.value == pytest.approx(0.1)
    assert found.low is found.high is found.p_value is None
    assert reason == reasons.FEW_CLUSTERS


def test_page_by_hand() -> None:
    """Ranks 123, 132, 213, 123: L = 1·5 + 2·8 + 3·11 = 54; p from all 6⁴ tables of ranks."""
    blocks = np.array([[0.1, 0.2, 0.3], [0.1, 0.9, 0.5], [0.4, 0.3, 0.6], [0.0, 0.5, 0.7]])
    found = trend([1, 2, 3], blocks)
    assert found.statistic == 54
    reached = [
        sum(number * rank for row in table for number, rank in enumerate(row, 1)) >= 54
        for table in product(permutations((1, 2, 3)), repeat=4)
    ]
    assert found.p_value == pytest.approx(np.mean(reached), abs=1e-12)
    assert (found.blocks, found.reason) == (4, None)


@given(st.lists(st.permutations([0.1, 0.2, 0.3, 0.4]), min_size=2, max_size=30))
def test_page_orders_models_by_size(rows: list[list[float]]) -> None:
    """In whatever order they are given; a fall is a rise of the negative values."""
    blocks = np.array(rows)
    ordered = blocks[:, np.argsort(SIZES)]
    expected = page_trend_test(ordered)
    found = trend(SIZES, blocks)
    assert (found.statistic, found.p_value) == (expected.statistic, expected.pvalue)
    falls = page_trend_test(ordered, predicted_ranks=[4, 3, 2, 1])
    found = trend(SIZES, blocks, falls=True)
    assert found.statistic == falls.statistic
    assert found.p_value == pytest.approx(falls.pvalue)


def test_page_leaves_out_blocks_without_a_value() -> None:
    """For any model; the others are tested."""
    blocks = np.array([[0.1, 0.2, 0.3], [np.nan, 0.1, 0.1], [0.1, 0.2, 0.3]])
    assert trend([1, 2, 3], blocks) == trend([1, 2, 3], blocks[[0, 2]])
    assert trend([1, 2, 3], blocks[:2]).reason == reasons.FEW_BLOCKS
    assert trend([1, 2], blocks[:, :2]).reason == reasons.FEW_MODELS
    equal = trend([1, 2, 2], blocks)
    assert (equal.statistic, equal.p_value, equal.reason) == (None, None, reasons.EQUAL_SIZES)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    """A test without a p-value is not counted."""
    expected = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected), abs=1e-15)
    assert holm([None, *p_values, None]) == [None, *holm(p_values), None]


def test_holm_by_hand() -> None:
    """.01·3, then .02·2, then .04 raised to .04."""
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([]) == holm([None])[:-1] == []


millionths = st.integers(-(10**6), 10**6).map(lambda number: number / 10**6)


@given(
    values=st.lists(millionths, min_size=60, max_size=200, unique=True),
    middle=millionths,
)
def test_p_and_interval_agree(values: list[float], middle: float) -> None:
    """Below .05 if and only if the interval excludes 0; close to twice the smaller share."""
    resampled = np.array(values) - middle
    found = Bootstrap().change(0.5, resampled)
    assert found.p_value is not None
    assert found.low is not None
    assert found.high is not None
    if min(abs(found.low), abs(found.high)) > 1e-9:
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
    share = min((resampled <= 1e-12).mean(), (resampled >= -1e-12).mean())
    assert found.p_value == pytest.approx(min(1, 2 * share), abs=4 / len(values))
    assert 2 / (len(values) + 1) <= found.p_value <= 1


def test_many_pairs_have_more_resamples() -> None:
    """So that the smallest p-value is significant after Holm's correction."""
    assert Bootstrap.for_pairs(2) == Bootstrap.for_pairs(7) == Bootstrap()
    for models in (8, 12, 30):
        pairs = models * (models - 1) // 2
        least = 2 / (Bootstrap.for_pairs(models).resamples + 1)
        assert least * pairs < 0.05
