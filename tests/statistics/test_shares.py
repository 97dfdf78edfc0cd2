"""Shares of independent draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from tacit.statistics.intervals import wilson


@given(st.integers(1, 400).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_intervals_are_scipy_s(counts: tuple[int, int]) -> None:
    """To rounding; and they hold the share."""
    successes, draws = counts
    found = wilson(successes, draws)
    theirs = binomtest(successes, draws).proportion_ci(0.95, method="wilson")
    assert found.low == pytest.approx(theirs.low, abs=1e-12)
    assert found.high == pytest.approx(theirs.high, abs=1e-12)
    assert found.value == successes / draws
    assert found.low is not None
    assert found.high is not None
    assert 0 <= found.low <= found.value <= found.high <= 1


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
