from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from tacit.statistics.permutation import chance_level, critical_value, dealt, lift
from tacit.statistics.prediction import benjamini_hochberg, smallest_lift
from tacit.statistics.ranking import at_thresholds, average_precision, average_precisions

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


def test_corrected_worked_by_hand() -> None:
    """Times 3 over the rank, and never above a larger one's: 0.03, 0.04·3/3, 0.03·3/2."""
    assert benjamini_hochberg([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.04, None, 0.04])


def test_the_smallest_lift_is_found_by_four_samples_of_five() -> None:
    """Among 100 rows whose odds of being right rise with the rank, 40 of them right or about so."""
    n, slopes = 100, (0.8, 1.4, 2.0)
    random = np.random.default_rng(2)
    ranks = np.linspace(0.5, -0.5, n)
    score = -np.arange(n)
    critical = {}
    lifts, found = [], []
    for slope in slopes:
        chance_of_right = expit(np.log(40 / 60) + slope * ranks)
        values, passed = [], []
        for _ in range(300):
            labels = random.random(n) < chance_of_right
            right = int(labels.sum())
            if right not in critical:
                permuted = dealt(right, random.random((999, n)))
                critical[right] = critical_value(
                    average_precisions(*at_thresholds(permuted, score))
                )
            precision = average_precision(labels, score)
            value = lift(precision, chance_level(labels, score))
            assert precision is not None
            assert value is not None
            values.append(value)
            passed.append(precision > (critical[right] or 0))
        lifts.append(np.mean(values))
        found.append(np.mean(passed))
    smallest = smallest_lift(40, range(n))
    assert smallest is not None
    assert 0.74 < np.interp(smallest, lifts, found) < 0.86


def test_more_rows_show_smaller_lifts() -> None:
    """And a higher power asks for a larger lift."""
    few, some, many = (smallest_lift(n * 2 // 5, range(n)) for n in (28, 100, 1000))
    surer = smallest_lift(40, range(100), power=0.95)
    assert few is not None
    assert some is not None
    assert many is not None
    assert surer is not None
    assert 1 > few > some > many > 0
    assert surer > some


def test_only_the_order_of_scores_counts() -> None:
    """Their distances and the order of the rows do not."""
    score = np.random.default_rng(0).integers(0, 5, 60)
    assert smallest_lift(20, score) == smallest_lift(20, np.exp(score[::-1]))


def test_what_can_show_nothing_has_no_smallest_lift() -> None:
    """Tied scores, all right, none right, four rows, or no rows."""
    assert smallest_lift(5, [1] * 20) is None
    assert smallest_lift(0, range(20)) is None
    assert smallest_lift(20, range(20)) is None
    assert smallest_lift(2, range(4)) is None
    assert smallest_lift(0, []) is None
