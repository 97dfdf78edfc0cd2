from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import exp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics.permutation import (
    chance_level,
    chance_levels,
    critical_value,
    dealt,
    lift,
    p_value,
)
from tacit.statistics.ranking import at_thresholds, average_precision, average_precisions

SCORES = st.lists(st.integers(0, 4), min_size=1, max_size=9)


def every_labelling(n: int, right: int) -> np.ndarray:
    """All ways to choose which rows are right, shape (ways, n)."""
    chosen = list(combinations(range(n), right))
    labels = np.zeros((len(chosen), n), dtype=bool)
    for row, places in zip(labels, chosen, strict=True):
        row[list(places)] = True
    return labels


@given(SCORES, st.data())
def test_the_chance_level_is_the_mean_over_all_permutations(
    score: list[int], data: st.DataObject
) -> None:
    """The closed form against every labelling of up to nine rows, tied or not."""
    right = data.draw(st.integers(1, len(score)))
    labels = every_labelling(len(score), right)
    mean = average_precisions(*at_thresholds(labels, score)).mean()
    assert chance_level(labels[0], score) == pytest.approx(mean, abs=1e-12)


def test_the_chance_level_worked_by_hand() -> None:
    """One right of three, untied, stands first, second or third: (1 + 1/2 + 1/3)/3."""
    assert chance_level([True, False, False], [3, 2, 1]) == pytest.approx(float(Fraction(11, 18)))


def test_few_rows_lie_above_their_accuracy_by_chance() -> None:
    """Half of 28 untied rows: about 0.05 above; of 1,221: next to nothing."""
    assert chance_level([True, False] * 14, range(28)) == pytest.approx(0.5542, abs=1e-4)
    assert chance_level([True, False] * 610, range(1220)) == pytest.approx(0.5, abs=0.003)


def test_the_chance_level_of_what_cannot_vary() -> None:
    """Tied scores: the share that is right. All right: 1. One row: 1. None right: undefined."""
    assert chance_level([True, False, False, False], [1] * 4) == 0.25
    assert chance_level([True] * 3, range(3)) == 1
    assert chance_level([True], [0]) == 1
    assert chance_level([False] * 3, range(3)) is None
    assert chance_level([], []) is None


def test_chance_levels_of_resamples() -> None:
    """Each sample has its own rows; thresholds without rows change nothing."""
    rows = np.array([[0.0, 2, 3], [1, 1, 1], [0, 0, 4]])
    levels = chance_levels(np.array([2.0, 1, 0]), rows)
    assert levels[0] == chance_level([True, True, False, False, False], [2, 2, 1, 1, 1])
    assert levels[1] == pytest.approx(11 / 18)
    assert np.isnan(levels[2])


def test_the_lift_is_the_way_gone_from_chance_to_perfect() -> None:
    """Chance is 0, perfect is 1, worse than chance is negative; of nothing there is none."""
    assert lift(0.4, 0.4) == 0
    assert lift(1.0, 0.4) == 1
    assert lift(0.7, 0.4) == pytest.approx(0.5)
    assert lift(0.1, 0.4) == pytest.approx(-0.5)
    assert lift(1.0, 1.0) is None
    assert lift(None, 0.4) is None
    assert lift(0.4, None) is None


def test_every_labelling_is_dealt_equally_often() -> None:
    """2 of 5 rows: ten ways, each in a tenth of the deals, within four standard errors."""
    labels = dealt(2, np.random.default_rng(0).random((20_000, 5)))
    assert (labels.sum(axis=1) == 2).all()
    _, times = np.unique(labels, axis=0, return_counts=True)
    assert len(times) == 10
    assert np.abs(times / 20_000 - 0.1).max() < 4 * (0.1 * 0.9 / 20_000) ** 0.5


def test_weights_deal_by_turns() -> None:
    """One right row of three falls on each as its weight says."""
    weights = np.array([0.0, 1.0, 2.0])
    labels = dealt(1, np.random.default_rng(0).random((20_000, 3)), weights)
    expected = np.array([1, exp(1), exp(2)]) / (1 + exp(1) + exp(2))
    assert labels.mean(axis=0) == pytest.approx(expected, abs=0.015)


@pytest.mark.parametrize("right", [1, 3, 6])
def test_the_number_of_right_rows_is_kept(right: int) -> None:
    """Also where all rows are right."""
    keys = np.random.default_rng(1).random((100, 6))
    assert (dealt(right, keys).sum(axis=1) == right).all()
    assert (dealt(right, keys, np.arange(6.0)).sum(axis=1) == right).all()


def test_the_observation_is_one_of_the_permutations() -> None:
    """So a p-value is never 0, and equal figures count although their last digits differ."""
    permuted = np.array([0.1, 0.2, 0.3, 0.1 + 0.2])
    assert p_value(0.5, permuted) == 1 / 5
    assert p_value(0.3, permuted) == 3 / 5
    assert p_value(0.0, permuted) == 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.sampled_from([0.05, 0.2, 0.5]))
def test_the_critical_value_is_where_p_values_pass(figures: list[int], level: float) -> None:
    """Above it they are at most the level, up to it they are not."""
    permuted = np.array(figures, dtype=float)
    critical = critical_value(permuted, level)
    for figure in range(32):
        passes = p_value(figure, permuted) <= level + 1e-12
        assert passes == (critical is not None and figure > critical)


def test_p_values_are_uniform_by_chance() -> None:
    """Of 400 samples without any relation, about 5 % are at most 0.05 and 50 % at most 0.5."""
    random = np.random.default_rng(5)
    p_values = []
    for _ in range(400):
        score, right = random.random(20), random.permutation([True] * 7 + [False] * 13)
        labels = dealt(7, random.random((199, 20)))
        precision = average_precision(right, score)
        assert precision is not None
        p_values.append(p_value(precision, average_precisions(*at_thresholds(labels, score))))
    assert 0.02 < np.mean(np.array(p_values) <= 0.05) < 0.09
    assert 0.42 < np.mean(np.array(p_values) <= 0.5) < 0.58
