"""Chance levels and lift, against every labelling and scikit-learn."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from tacit.statistics.lift import Rows, predict, strata_of
from tacit.statistics.permutation import Permutations
from tacit.statistics.ranking import (
    at_thresholds,
    average_precisions,
    chance_level,
    chance_levels,
    lift,
    lifts_within_strata,
)
from tests.statistics.samples import drawn

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


def labellings(right: np.ndarray, strata: np.ndarray) -> list[np.ndarray]:
    """Every permutation of the labels within strata, each equally often."""
    names = np.unique(strata)
    options = [
        [
            chosen
            for chosen in product([False, True], repeat=int((strata == name).sum()))
            if sum(chosen) == right[strata == name].sum()
        ]
        for name in names
    ]
    found = []
    for picked in product(*options):
        labels = np.zeros(len(right), dtype=bool)
        for name, values in zip(names, picked, strict=True):
            labels[strata == name] = values
        found.append(labels)
    return found


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=9)
)
def test_chance_is_the_mean_over_all_permutations_within_strata(
    rows: list[tuple[bool, int, int]],
) -> None:
    """Counted out one by one, with scikit-learn's average precision."""
    right, score, strata = (np.array(column) for column in zip(*rows, strict=True))
    found = predict(right, score, np.arange(len(right)), Permutations(50), strata=strata)
    if not right.any():
        assert found.chance is None
        assert found.lift.value is None
        return
    every = labellings(right, strata)
    expected = np.prod(
        [comb(int((strata == s).sum()), int(right[strata == s].sum())) for s in set(strata)]
    )
    assert len(every) == expected
    precisions = [average_precision_score(labels, score) for labels in every]
    assert found.chance == pytest.approx(np.mean(precisions), abs=1e-12)
    if np.mean(precisions) < 1 - 1e-12:
        by_hand = lift(average_precision_score(right, score), float(np.mean(precisions)))
        assert found.lift.value == pytest.approx(by_hand)


def test_one_stratum_is_the_plain_chance_level() -> None:
    """With all rows in one stratum nothing is adjusted."""
    right, score, _, cluster = drawn(200, 1)
    one, two = (Rows.of(right, score, cluster, np.arange(200) >= first) for first in (0, 199))
    assert (one.strata, two.strata) == (1, 2)
    assert one.chance == chance_level(right, score)
    assert two.chance == pytest.approx(one.chance, abs=0.01)


def test_lifts_of_resamples_are_those_of_repeated_rows() -> None:
    """Counts times how often each row is drawn, against the rows themselves."""
    right, score, facts, _ = drawn(80, 5)
    strata, random = strata_of(facts), np.random.default_rng(0)
    levels, level = np.unique(-score, return_inverse=True)
    cells = level * (strata.max() + 1) + strata
    shape = (len(levels), strata.max() + 1)
    for _ in range(5):
        times = random.multinomial(80, np.full(80, 1 / 80))
        counts = [
            np.bincount(cells, times * weights, shape[0] * shape[1]).reshape(shape)
            for weights in (right, np.ones(80))
        ]
        rows = np.repeat(np.arange(80), times)
        repeated = predict(
            right[rows], score[rows], np.arange(80), Permutations(50), strata=strata[rows]
        )
        found = float(lifts_within_strata(counts[0], counts[1]))
        assert found == pytest.approx(repeated.lift.value)
