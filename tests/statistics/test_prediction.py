from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics import Estimate, prediction
from tacit.statistics.permutation import LIFT, chance_level
from tacit.statistics.prediction import predict, smallest_lift
from tacit.statistics.ranking import auroc, average_precision
from tacit.statistics.studentised import Permutations, Sample

NONE = Estimate(None, None, None)
QUICK = Permutations(200)


def drawn(n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is right, scores that know something of it, and clusters."""
    random = np.random.default_rng(6)
    score = random.integers(0, 8, n)
    return random.random(n) < 0.2 + score / 14, score, random.integers(0, n // 2, n)


def test_all_figures_are_those_of_their_own_functions() -> None:
    """The entry adds nothing of its own."""
    right, score, clusters = drawn(200)
    made = predict(right, score, clusters)
    precision, chance = average_precision(right, score), chance_level(right, score)
    assert precision is not None
    assert chance is not None
    assert (made.n, made.clusters, made.right) == (200, len(set(clusters.tolist())), right.sum())
    assert (made.average_precision, made.chance) == (precision, chance)
    assert made.lift.value == pytest.approx((precision - chance) / (1 - chance))
    assert made.auroc.value == auroc(right, score)
    assert made.smallest == smallest_lift(int(right.sum()), score)


def test_a_score_that_knows_is_told_from_one_that_does_not() -> None:
    """Above chance in all figures; the same scores shuffled are not."""
    right, score, clusters = drawn(200)
    made = predict(right, score, clusters)
    assert made.p_value == 1 / 5001
    assert made.lift.low is not None
    assert made.lift.low > 0
    assert made.auroc.low is not None
    assert made.auroc.low > 0.5
    other = predict(right, np.random.default_rng(1).permutation(score), clusters)
    assert other.p_value is not None
    assert other.p_value > 0.05
    assert other.lift.low is not None
    assert other.lift.high is not None
    assert other.lift.low < 0 < other.lift.high


def test_a_score_that_is_always_the_same_is_worth_chance() -> None:
    """Its average precision is the accuracy, its p-value 1, and it can show nothing."""
    made = predict([True, False, False, True, False], [0.5] * 5, range(5), QUICK)
    assert astuple(made) == astuple(
        type(made)(
            n=5,
            clusters=5,
            right=2,
            average_precision=pytest.approx(0.4),  # type: ignore[arg-type]
            chance=pytest.approx(0.4),  # type: ignore[arg-type]
            lift=Estimate(pytest.approx(0, abs=1e-12), None, None),  # type: ignore[arg-type]
            auroc=Estimate(0.5, None, None),
            p_value=1.0,
            smallest=None,
            no_interval=prediction.ONE_SCORE,
        )
    )


def test_a_score_that_knows_exactly_is_perfect() -> None:
    """Nothing is above it; how far below it the truth may be, such a sample cannot tell."""
    right = [True, False] * 10
    made = predict(right, right, range(20), QUICK)
    assert made.average_precision == 1
    assert made.lift == Estimate(1, None, None)
    assert made.auroc == Estimate(1, None, None)
    assert made.p_value == 1 / 201
    assert made.no_interval == prediction.PERFECT


def test_what_has_no_two_sides_is_undefined() -> None:
    """All right: perfect and by chance. None right, or no rows: not even that. It says which."""
    whole = predict([True] * 3, [1, 2, 3], range(3), QUICK)
    assert (whole.average_precision, whole.chance, whole.p_value) == (1, 1, None)
    assert (whole.lift, whole.auroc, whole.smallest) == (NONE, NONE, None)
    assert whole.no_interval == prediction.ALL_RIGHT
    for none in (predict([False] * 3, [1, 2, 3], range(3), QUICK), predict([], [], [], QUICK)):
        assert (none.average_precision, none.chance, none.p_value) == (None, None, None)
        assert (none.lift, none.auroc, none.smallest) == (NONE, NONE, None)
        assert none.no_interval == (prediction.ALL_WRONG if none.n else prediction.NO_ROWS)


def test_one_cluster_says_nothing_of_others() -> None:
    """The figures are there, without p-value and interval."""
    right, score, _ = drawn(40)
    made = predict(right, score, [0] * 40, QUICK)
    assert made.lift.value is not None
    assert (made.lift.interval, made.auroc.interval, made.p_value) == (None, None, None)
    assert made.no_interval == prediction.ONE_CLUSTER


def test_an_interval_wider_than_from_chance_to_perfect_is_left_out() -> None:
    """Of 28 rows, 4 of them wrong, permutations only bound the lift by -2.4 and 0.7."""
    right = [number not in {1, 9, 14, 26} for number in range(28)]
    score, clusters = range(28, 0, -1), range(28)
    sample = Sample.of(right, score, clusters)
    made = predict(right, score, clusters, QUICK)
    assert made.lift.value is not None
    raw = sample.interval(made.lift.value, LIFT, sample.permuted(QUICK).lift, 0.95)
    assert raw.low is not None
    assert raw.high is not None
    assert raw.low < -2 < 0 < raw.high
    assert (made.lift.interval, made.auroc.interval) == (None, None)
    assert made.no_interval == prediction.TOO_FEW
    assert made.p_value is not None
    assert made.p_value > 0.025


def test_an_interval_ends_at_the_lowest_possible_lift() -> None:
    """All right rows at the bottom; no interval of 200 samples goes below that."""
    random, cut = np.random.default_rng(1), 0
    for number in range(200):
        right, score = random.random(30) < 0.3, random.integers(0, 6, 30)
        if not 0 < right.sum() < 30:
            continue
        made = predict(right, score, range(30), Permutations(100, seed=number))
        if made.lift.low is None or made.chance is None:
            continue
        places = np.arange(1, right.sum() + 1)
        worst = (places / (30 - right.sum() + places)).mean()
        least = (worst - made.chance) / (1 - made.chance)
        assert made.lift.low >= least - 1e-12
        cut += made.lift.low <= least + 1e-12
    assert cut > 0


@settings(max_examples=20, deadline=None)
@given(st.permutations(range(30)))
def test_the_order_of_rows_changes_nothing(order: list[int]) -> None:
    """Neither figures nor draws."""
    right, score, clusters = drawn(30)
    shuffled = predict(right[order], score[order], clusters[order], QUICK)
    assert shuffled == predict(right, score, clusters, QUICK)


def test_clusters_must_fit() -> None:
    """One per row."""
    with pytest.raises(ValueError, match=r"shape \(2,\) and clusters \(3,\)"):
        predict([True, False], [1, 2], [0, 0, 1])
