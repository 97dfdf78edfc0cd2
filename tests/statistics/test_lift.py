"""Lift within strata, its p-values and intervals, against simulations, jackknife and counting."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import norm, t
from sklearn.metrics import average_precision_score

from tacit.statistics.estimate import Estimate
from tacit.statistics.lift import Lift, RankedRows, auroc_of, lift_of, measure_lift, strata_of
from tacit.statistics.permutation import Permutations
from tacit.statistics.ranking import (
    auroc,
    average_precision,
    chance_level,
    least_average_precision,
    lift,
    lifts_within_strata,
)
from tests.statistics.samples import drawn

QUICK = Permutations(200)


def p_of(made: Lift) -> float:
    assert made.p_value is not None
    return made.p_value


def ends(made: Estimate) -> list[float]:
    assert made.interval is not None
    return made.interval


def test_the_ways_back_from_the_scales() -> None:
    """The scale's value gives the figure itself."""
    right, score, _, cluster = drawn(60, 0)
    rows = RankedRows.of(right, score, cluster)
    of_lift, of_area = rows.permuted(QUICK, rows.log_lifts, rows.log_odds)
    made = lift(average_precision(right, score), chance_level(right, score))
    assert lift_of(of_lift.value) == pytest.approx(made, abs=1e-12)
    assert auroc_of(of_area.value) == pytest.approx(auroc(right, score), abs=1e-12)


@pytest.mark.parametrize("barely", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_the_interval_and_p_value_are_those_of_the_formula(seed: int, barely: bool) -> None:  # noqa: FBT001
    right, score, _, cluster = drawn(60, seed)
    rows = RankedRows.of(right, score, cluster)
    (made,) = rows.permuted(QUICK, rows.log_lifts)
    ratios = sorted(made.values / made.errors)
    if barely:  # so little above 0 that only the permutation test excludes it
        made = replace(made, value=1.01 * ratios[-5] * made.error)
    tested = [made.value - ratios[at] * made.error for at in (-5, 4)]
    wider = t.ppf(0.975, rows.clusters - 1) / norm.ppf(0.975)
    widened = [made.value - wider * ratios[at] * made.error for at in (-5, 4)]
    assert (tested[0] > 0 > widened[0]) == barely
    expected = [lift_of(end) for end in (tested[0] / 2 if barely else widened[0], widened[1])]
    assert ends(made.interval(0.0, lift_of, 0.95)) == pytest.approx(expected, abs=1e-9)
    beyond = sum(ratio >= made.value / made.error for ratio in ratios)
    assert made.p_value == pytest.approx((1 + beyond) / 201)


@pytest.mark.parametrize("which", [0, 1])
def test_a_row_twice_in_its_cluster_is_no_more_than_once(which: int) -> None:
    """The error stays; of rows that stand for themselves it shrinks by the root of two."""
    right, score, *_ = drawn(50, 0, slope=1.0)
    once = errors(right, score, np.arange(50))[which]
    twice = np.tile(right, 2), np.tile(score, 2)
    assert errors(*twice, np.tile(np.arange(50), 2))[which] == pytest.approx(once, rel=0.01)
    assert errors(*twice, np.arange(100))[which] == pytest.approx(once / 2**0.5, rel=0.01)


def errors(right: np.ndarray, score: np.ndarray, cluster: np.ndarray) -> list[float]:
    """The standard errors of the lift and the AUROC on their scales."""
    rows = RankedRows.of(right, score, cluster)
    return [float(each(rows.labels[None])[1][0]) for each in (rows.log_lifts, rows.log_odds)]


@pytest.mark.parametrize("many", [False, True])
def test_the_error_is_nearly_the_jackknifes(many: bool) -> None:  # noqa: FBT001
    """Leaving out each of 400 rows in turn, chance and strata included, gives it within 5 %."""
    right, score, facts, _ = drawn(400, 2)
    strata = strata_of(facts) if many else np.zeros(400)
    rows = RankedRows.of(right, score, np.arange(400), strata)
    _, (error,) = rows.log_lifts(rows.labels[None])
    without = []
    for at in range(400):
        kept = np.delete(np.arange(400), at)
        found = RankedRows.of(right[kept], score[kept], kept, strata[kept])
        (value,), _ = found.log_lifts(found.labels[None])
        without.append(value)
    jackknife = (399 / 400 * ((without - np.mean(without)) ** 2).sum()) ** 0.5
    assert error == pytest.approx(jackknife, rel=0.05)


def test_permutations_keep_the_labels_of_strata_and_clusters() -> None:
    """Each stratum has as many right rows as before; clusters of one size exchange theirs."""
    sample = RankedRows.of([True, True, False, False, False], [5, 4, 3, 2, 1], range(5))
    dealt = np.concatenate(list(sample.dealt(Permutations(10_000))))
    ways, times = np.unique(dealt, axis=0, return_counts=True)
    assert len(ways) == 10
    assert np.abs(times - 1000).max() < 120
    right = np.array([1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0], dtype=bool)
    strata, cluster = np.repeat([0, 1], [8, 4]), np.repeat(np.arange(6), 2)
    rows = RankedRows.of(right, -np.arange(12.0), cluster, strata)
    dealt = np.concatenate(list(rows.dealt(Permutations(3000))))
    assert (dealt[:, :8].sum(axis=1) == 3).all()
    assert (dealt[:, 8:].sum(axis=1) == 3).all()
    sums = dealt.reshape(3000, 6, 2).sum(axis=2)
    assert (np.sort(sums[:, :4], axis=1) == [0, 0, 1, 2]).all()
    assert (np.sort(sums[:, 4:], axis=1) == [1, 2]).all()
    # Four standard errors of one half, and of one quarter.
    assert abs((sums[:, 4] == 2).mean() - 1 / 2) < 0.037
    assert abs((sums[:, 0] == 2).mean() - 1 / 4) < 0.032


Row = tuple[bool, int, int, int]
ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 2), st.integers(0, 12)),
    min_size=2,
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(ROWS, st.randoms(use_true_random=False), st.booleans())
def test_the_order_of_rows_does_not_matter_and_p_agrees_with_the_interval(
    rows: list[Row],
    random: object,
    many: bool,  # noqa: FBT001
) -> None:
    """The interval lies above 0 exactly if p is at most 2.5 %, unless it is clipped there."""
    made = of_rows(rows, many=many)
    assert hasattr(random, "shuffle")
    random.shuffle(rows)
    assert of_rows(rows, many=many) == made
    if made.lift.low is not None and made.lift.high is not None and made.p_value is not None:
        assert made.lift.low <= made.lift.high <= 1
        if made.lift.low != made.lift.high:
            assert (made.lift.low > 0) == (made.p_value <= 0.025)


def of_rows(rows: list[Row], *, many: bool) -> Lift:
    """The prediction from quick permutations, within strata or not."""
    right, score, strata, clusters = zip(*rows, strict=True)
    return measure_lift(right, score, clusters, QUICK, strata=strata if many else None)


def test_the_memory_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All permutations at once and a few at a time are the same draws."""
    right, score, _, cluster = drawn(60, 0)
    whole = measure_lift(right, score, cluster, QUICK)
    assert whole.lift.interval is not None
    monkeypatch.setattr("tacit.statistics.lift._CELLS", 60 * 200)
    assert measure_lift(right, score, cluster, QUICK) == whole


def test_false_alarms_and_coverage_are_as_stated() -> None:
    """Of 200 samples in clusters of 20 that share their luck."""
    random, small, held = np.random.default_rng(0), 0, 0
    cluster = np.repeat(np.arange(10), 20)
    for seed in range(200):
        luck, known = (random.normal(size=10)[cluster] for _ in range(2))
        right = random.random(200) < expit(1.5 * luck - 0.4)
        score = known + random.normal(size=200) / 3
        rows = RankedRows.of(right, score, cluster)
        (of_lift,) = rows.permuted(Permutations(250, seed=seed), rows.log_lifts)
        value = lift(average_precision(right, score), chance_level(right, score))
        assert value is not None
        made = of_lift.interval(value, lift_of, 0.95)
        small += of_lift.p_value <= 0.05
        held += made.low is not None and made.high is not None and made.low <= 0 <= made.high
    assert small / 200 <= 0.08
    assert held / 200 >= 0.92


def test_a_confounder_is_adjusted_for() -> None:
    """Where few-fact questions are easier, only the plain chance level suggests knowledge."""
    right, score, facts, cluster = drawn(1000, 3)
    one, other = (
        measure_lift(right, score, cluster, Permutations(1000), strata=strata)
        for strata in (np.zeros(1000), strata_of(facts))
    )
    assert p_of(one) < 0.01
    assert p_of(other) > 0.05


@given(st.lists(st.integers(0, 9), min_size=1, max_size=200), st.integers(1, 30))
def test_strata_are_neighbouring_values_of_enough_rows(values: list[int], least: int) -> None:
    """Equal values share a stratum, larger values have no lower one, and all are large enough."""
    strata = strata_of(values, least)
    order = np.argsort(values, kind="stable")
    assert (np.diff(strata[order]) >= 0).all()
    assert set(np.diff(strata[order])) <= {0, 1}
    assert all(len(set(strata[np.array(values) == value])) == 1 for value in values)
    counts = np.bincount(strata)
    assert (counts >= least).all() or len(counts) == 1
    # As many strata as merging upwards from the lowest value allows.
    if len(counts) > 1:
        lowest = np.array(values)[strata == 0]
        assert (lowest < lowest.max()).sum() < least


N = 40
HALF = [at < 20 for at in range(N)]


@pytest.mark.parametrize(
    ("right", "score", "strata", "clusters", "why"),
    [
        # Of 28 rows, 4 of them wrong, permutations only bound the lift by -2 and 0.7.
        (
            [number not in {1, 9, 14, 26} for number in range(28)],
            *(range(28, 0, -1), [0] * 28, range(28), "too few rows"),
        ),
        ([], [], [], [], "no rows"),
        ([True] * N, range(N), [0] * N, range(N), "all right"),
        ([False] * N, range(N), [0] * N, range(N), "all wrong"),
        (HALF, [1] * N, [0] * N, range(N), "one score"),
        (HALF, range(N), HALF, range(N), "no variation within strata"),
        (HALF, range(N, 0, -1), [0] * N, range(N), "perfect ranking"),
        ([True, False] * 20, range(N), [0] * N, [0] * N, "one cluster"),
        ([True, False] * 20, range(N), [0] * N, [at % 9 for at in range(N)], "too few clusters"),
    ],
)
def test_reasons_why_there_is_no_interval(
    right: list[bool], score: list[int], strata: list[int], clusters: list[int], why: str
) -> None:
    """Each with its clause; an undefined lift has no p-value either."""
    found = measure_lift(right, score, clusters, QUICK, strata=strata)
    assert (found.lift.why, found.lift.interval) == (why, None)
    assert found.auroc.interval is None
    assert (found.lift.value is None) == (why in {"no rows", "all right", "all wrong"})
    if found.lift.value is None or why == "one cluster":
        assert found.p_value is None


def test_a_score_that_knows_is_told_from_one_that_does_not() -> None:
    """Above chance in all figures; the same scores shuffled are not."""
    right, score, _, clusters = drawn(200, 0, slope=1.0)
    made = measure_lift(right, score, clusters)
    assert made.p_value == 1 / 5001
    assert ends(made.lift)[0] > 0
    assert ends(made.auroc)[0] > 0.5
    other = measure_lift(right, np.random.default_rng(1).permutation(score), clusters)
    assert p_of(other) > 0.05
    assert ends(other.lift)[0] < 0 < ends(other.lift)[1]
    made = measure_lift([True, False, False, True, False], [0.5] * 5, range(5), QUICK)
    assert (made.average_precision, made.chance) == pytest.approx((0.4, 0.4))
    assert made.lift.value == pytest.approx(0, abs=1e-12)
    assert (made.auroc.value, made.p_value, made.smallest) == (0.5, 1.0, None)


def test_an_interval_ends_at_the_lowest_possible_lift() -> None:
    """All right rows at the bottom; no interval of 200 samples goes below that."""
    random, cut = np.random.default_rng(1), 0
    for number in range(200):
        right, score = random.random(30) < 0.3, random.integers(0, 6, 30)
        if not 0 < right.sum() < 30:
            continue
        made = measure_lift(right, score, range(30), Permutations(100, seed=number))
        if made.lift.low is None or made.chance is None:
            continue
        least = (least_average_precision(right.sum(), 30) - made.chance) / (1 - made.chance)
        assert made.lift.low >= least - 1e-12
        cut += made.lift.low <= least + 1e-12
    assert cut > 0


def test_the_smallest_lift_is_found_by_four_samples_of_five() -> None:
    """Among 100 rows whose odds of being right rise with the rank, 40 of them right or about so."""
    n, random = 100, np.random.default_rng(2)
    ranks = np.linspace(0.5, -0.5, n)
    lifts, found = [], []
    for slope in (0.8, 1.4, 2.0):
        values, passed = [], []
        for _ in range(100):
            labels = random.random(n) < expit(np.log(40 / 60) + slope * ranks)
            made = measure_lift(labels, range(n, 0, -1), range(n), Permutations(199))
            assert made.lift.value is not None
            values.append(made.lift.value)
            passed.append(p_of(made) <= 0.05)
        lifts.append(np.mean(values))
        found.append(np.mean(passed))
    labels = np.random.default_rng(0).permutation(np.arange(n) < 40)
    smallest = measure_lift(labels, range(n, 0, -1), range(n), Permutations(999)).smallest
    assert smallest is not None
    assert 0.7 < np.interp(smallest, lifts, found) < 0.9


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.booleans(), st.integers(0, 3), st.integers(0, 2)), min_size=2, max_size=9)
)
def test_chance_is_the_mean_over_all_permutations_within_strata(
    rows: list[tuple[bool, int, int]],
) -> None:
    """Counted out one by one, with scikit-learn's average precision."""
    right, score, strata = (np.array(column) for column in zip(*rows, strict=True))
    found = measure_lift(right, score, np.arange(len(right)), Permutations(50), strata=strata)
    if not right.any():
        assert found.chance is None
        assert found.lift.value is None
        return
    wanted = np.bincount(strata, right)
    choices = (np.array(labels) for labels in product([False, True], repeat=len(right)))
    every = [labels for labels in choices if (np.bincount(strata, labels) == wanted).all()]
    precisions = [average_precision_score(labels, score) for labels in every]
    assert found.chance == pytest.approx(np.mean(precisions), abs=1e-12)
    if np.mean(precisions) < 1 - 1e-12:
        by_hand = lift(average_precision_score(right, score), float(np.mean(precisions)))
        assert found.lift.value == pytest.approx(by_hand)


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
        repeated = measure_lift(
            right[rows], score[rows], np.arange(80), Permutations(50), strata=strata[rows]
        )
        found = float(lifts_within_strata(counts[0], counts[1]))
        assert found == pytest.approx(repeated.lift.value)
