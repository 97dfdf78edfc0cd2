from __future__ import annotations

from itertools import pairwise, permutations
from random import Random  # noqa: TC003 - hypothesis reads the types

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.statistics.ranking import weighted_thresholds
from tacit.statistics.selective import risk_area, risk_areas, risks

ROWS = st.lists(st.tuples(st.booleans(), st.integers(0, 3)), min_size=1, max_size=6)
MANY = st.lists(st.tuples(st.booleans(), st.integers(0, 9)), min_size=1, max_size=40)


def plain_risks(right: list[bool]) -> np.ndarray:
    """The risks of rows in the order of their scores."""
    wrong = ~np.array(right)
    found: np.ndarray = wrong.cumsum() / np.arange(1, len(wrong) + 1)
    return found


@given(ROWS)
def test_ties_have_the_mean_risk_of_all_their_orders(rows: list[tuple[bool, int]]) -> None:
    """By brute force over all orders of the rows that agree with the scores."""
    orders = [
        [right for right, _ in order]
        for order in permutations(rows)
        if all(a[1] >= b[1] for a, b in pairwise(order))
    ]
    expected = np.mean([plain_risks(one) for one in orders], axis=0)
    right, score = zip(*rows, strict=True)
    assert risks(right, score) == pytest.approx(expected)
    assert risk_area(right, score) == pytest.approx(expected.mean())


@given(MANY, st.randoms())
def test_the_order_of_the_rows_has_no_effect(rows: list[tuple[bool, int]], random: Random) -> None:
    """Not even within ties."""
    other = random.sample(rows, len(rows))
    first, second = (tuple(zip(*each, strict=True)) for each in (rows, other))
    assert risks(*first).tolist() == risks(*second).tolist()
    assert risk_area(*first) == risk_area(*second)


@given(MANY)
def test_a_perfect_score_has_the_least_area(rows: list[tuple[bool, int]]) -> None:
    """No score has less than the labels themselves, and none has more than their opposite."""
    right, score = map(np.array, zip(*rows, strict=True))
    areas = [risk_area(right, each) for each in (right.astype(int), score, -right.astype(int))]
    assert areas[0] <= areas[1] + 1e-12  # type: ignore[operator]
    assert areas[1] <= areas[2] + 1e-12  # type: ignore[operator]


@given(MANY)
def test_a_constant_score_has_the_share_of_wrong_rows(rows: list[tuple[bool, int]]) -> None:
    """At every coverage."""
    right = [row[0] for row in rows]
    assert risks(right, [0.5] * len(right)) == pytest.approx(1 - np.mean(right))
    assert risk_area(right, [0.5] * len(right)) == pytest.approx(1 - np.mean(right))


@given(MANY, st.integers(0, 9))
def test_a_row_of_weight_two_counts_twice(rows: list[tuple[bool, int]], seed: int) -> None:
    """As if it were listed twice."""
    times = np.random.default_rng(seed).integers(0, 3, len(rows))
    times[0] += 1
    right, score = map(np.array, zip(*rows, strict=True))
    counts = weighted_thresholds(right, score, times[None].astype(float))
    expected = risk_area(np.repeat(right, times), np.repeat(score, times))
    assert risk_areas(*counts)[0] == pytest.approx(expected)


def test_no_rows_have_no_area() -> None:
    """None, not 0."""
    assert risk_area([], []) is None
