"""Shares of independent draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.stats import binom

from tacit.statistics.estimate import Estimate, t_interval, wilson


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_a_wilson_interval_is_where_the_score_test_rejects(counts: tuple[int, int]) -> None:
    """At both ends the share's distance is 1.96 of the end's own standard errors."""
    successes, draws = counts
    found = wilson(successes, draws)
    share = successes / draws
    assert (found.value, found.n) == (share, draws)
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= share <= found.high <= 1
    for end in (found.low, found.high):
        if 0 < end < 1:
            error = (end * (1 - end) / draws) ** 0.5
            assert abs(share - end) == pytest.approx(1.959964 * error, rel=1e-4)


def test_nothing_drawn_is_nothing_known() -> None:
    """Neither 0 nor one half."""
    found = wilson(0, 0)
    assert (found.value, found.low, found.high) == (None, None, None)


@pytest.mark.parametrize("draws", [10, 30, 100])
def test_intervals_cover_at_the_nominal_rate(draws: int) -> None:
    """Exactly, by the binomial: 95 % on average over shares from 0 to 1, nowhere far below."""
    ends = [wilson(k, draws) for k in range(draws + 1)]
    low = np.array([one.low for one in ends], float)
    high = np.array([one.high for one in ends], float)
    shares = np.linspace(0.0005, 0.9995, 1000)
    weights = binom.pmf(np.arange(draws + 1)[None], draws, shares[:, None])
    covers = (weights * ((low <= shares[:, None]) & (shares[:, None] <= high))).sum(axis=1)
    assert covers.mean() == pytest.approx(0.95, abs=0.006)
    assert covers.min() > 0.82


def test_a_simulation_covers_at_the_nominal_rate() -> None:
    """Of 20,000 shares drawn at random, each seen through 25 draws, with a fixed seed."""
    random = np.random.default_rng(0)
    shares = random.uniform(0, 1, 20_000)
    seen = random.binomial(25, shares)
    ends = {k: wilson(k, 25) for k in range(26)}
    held = [
        (ends[k].low or 0) <= share <= (ends[k].high or 1)
        for share, k in zip(shares, seen.tolist(), strict=True)
    ]
    assert np.mean(held) == pytest.approx(0.95, abs=0.006)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=14), st.sampled_from([0.8, 0.95]))
def test_the_interval_is_students(values: list[float], level: float) -> None:
    """Of the mean of two to fourteen values, as scipy has it; none if all are equal."""
    made = t_interval(values, level)
    if np.ptp(values) < 1e-12:
        assert made.value == pytest.approx(np.mean(values))
        assert (made.low, made.high) == (None, None)
        return
    error = np.std(values, ddof=1) / len(values) ** 0.5
    low, high = np.mean(values) + error * np.array(stats.t.interval(level, len(values) - 1))
    assert (made.value, made.low, made.high) == pytest.approx(
        (np.mean(values), low, high), abs=1e-12
    )


def test_worked_by_hand() -> None:
    """0.4 and 0.6: half a width of 12.706 times 0.1."""
    made = t_interval([0.4, 0.6])
    assert (made.low, made.high) == pytest.approx((0.5 - 1.2706, 0.5 + 1.2706), abs=1e-4)


def test_what_was_not_measured_is_left_out() -> None:
    """It is no 0."""
    assert t_interval([0.4, None, 0.6]) == t_interval([0.4, 0.6])


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    """How groups differ is not known from one."""
    assert t_interval([0.3, None]) == Estimate(0.3, None, None)
    assert t_interval([None]) == Estimate(None, None, None)
    assert t_interval([]) == Estimate(None, None, None)
