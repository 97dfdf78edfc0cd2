"""Paired changes, McNemar's exact test and Holm's correction, against independent computations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tacit.statistics import Bootstrap
from tacit.statistics.tests import benjamini_hochberg, holm, mcnemar, paired_change
from tests.statistics.samples import mean, resampled


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_equals_scipy(gained: int, lost: int) -> None:
    """For any numbers of pairs."""
    changed = gained + lost
    exact = binomtest(lost, changed, alternative="two-sided").pvalue if changed else 1
    assert mcnemar(gained, lost) == pytest.approx(exact, rel=1e-9)
    assert mcnemar(gained, lost) == mcnemar(lost, gained)


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), max_size=8))
def test_holm_equals_its_definition(p_values: list[float | None]) -> None:
    """Step by step, from the smallest."""
    known = sorted(p for p in p_values if p is not None)
    steps = [min(1.0, p * (len(known) - k)) for k, p in enumerate(known)]
    expected = {p: max(steps[: known.index(p) + known.count(p)]) for p in known}
    found = holm(p_values)
    assert [p is None for p in found] == [p is None for p in p_values]
    for p, corrected in zip(p_values, found, strict=True):
        if p is not None:
            assert corrected == pytest.approx(expected[p], abs=1e-12)


def test_a_change_is_the_difference_of_accuracies_on_resampled_clusters() -> None:
    random = np.random.default_rng(3)
    clusters = random.integers(0, 12, 60)
    before, after = random.random((2, 60)) < [[0.4], [0.6]]
    found = paired_change(before, after, clusters, Bootstrap(resamples=500))
    assert (found.n, found.before, found.after) == (60, before.mean(), after.mean())
    assert (found.gained, found.lost) == ((after & ~before).sum(), (before & ~after).sum())
    assert found.change.value == pytest.approx(after.mean() - before.mean())
    assert found.p_value == mcnemar(found.gained, found.lost)
    ends = resampled(clusters, mean(after.astype(int) - before), 500)
    assert found.change.interval == pytest.approx(ends, abs=1e-12)


def test_a_change_without_an_interval_says_why() -> None:
    """No rows, no changes, or a single cluster."""
    none = paired_change([], [], [])
    assert (none.n, none.change.value, none.p_value, none.change.why) == (0, None, None, "no pairs")
    same = paired_change([True, False], [True, False], ["a", "b"])
    assert (same.change.value, same.change.low, same.p_value) == (0.0, None, 1.0)
    assert same.change.why == "no answer changed"
    alone = paired_change([False] * 8, [True] * 8, ["a"] * 8)
    assert (alone.change.value, alone.change.low) == (1.0, None)
    assert alone.change.why == "fewer than 5 clusters"
    for changed, reason in ((5, "too few answers changed"), (6, None)):
        after = [at < changed for at in range(12)]
        found = paired_change([False] * 12, after, range(12))
        assert found.p_value is not None
        assert (found.change.why, found.p_value < 0.05) == (reason, reason is None)
        assert (found.change.low is None) == (reason is not None)


P_VALUES = st.lists(st.none() | st.floats(0, 1), max_size=30)


@given(P_VALUES)
def test_corrected_p_values_are_the_least_over_all_larger_ones(
    p_values: list[float | None],
) -> None:
    """By the definition; those that are None stay None, and are not counted among the tests."""
    corrected = benjamini_hochberg(p_values)
    assert [each is None for each in corrected] == [each is None for each in p_values]
    made = [each for each in p_values if each is not None]
    expected = [
        min(1.0, *(len(made) * p / sum(q <= p for q in made) for p in made if p >= own))
        for own in made
    ]
    assert [each for each in corrected if each is not None] == pytest.approx(expected)
