"""Shares of independent draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from tacit.statistics.estimate import Estimate, t_interval


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


def test_what_was_not_measured_is_left_out() -> None:
    assert t_interval([0.4, None, 0.6]) == t_interval([0.4, 0.6])


def test_one_value_has_no_interval_and_none_no_mean() -> None:
    """How groups differ is not known from one."""
    assert t_interval([0.3, None]) == Estimate(0.3, None, None)
    assert t_interval([None]) == Estimate(None, None, None)
    assert t_interval([]) == Estimate(None, None, None)
