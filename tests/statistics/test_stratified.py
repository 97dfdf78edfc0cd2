from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from tacit.statistics import stratified
from tacit.statistics.permutation import chance_level, lift
from tacit.statistics.stratified import Adjusted, adjusted_lift, strata_of
from tacit.statistics.studentised import Permutations

QUICK = Permutations(300)
Row = tuple[bool, int, int, int]
ROWS = st.lists(
    st.tuples(st.booleans(), st.integers(0, 4), st.integers(0, 2), st.integers(0, 12)),
    min_size=2,
    max_size=40,
)


def drawn(
    n: int, seed: int, slope: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Anchors of which those with few facts are right more often."""
    random = np.random.default_rng(seed)
    facts = np.minimum(random.geometric(0.3, n), 8)
    knowledge = random.normal(size=n)
    score = random.binomial(2 * facts, 1 / (1 + np.exp(-0.5 - knowledge))) / (2 * facts)
    odds = 0.8 - 0.9 * np.log2(facts) + slope * knowledge
    right = random.random(n) < 1 / (1 + np.exp(-odds))
    return right, score, facts, np.arange(n) // 2


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
    found = adjusted_lift(right, score, strata, np.arange(len(right)), QUICK)
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
    found = adjusted_lift(right, score, np.zeros(200), cluster, QUICK)
    assert found.strata == 1
    assert found.chance == pytest.approx(chance_level(right, score), abs=1e-12)


def test_the_error_is_nearly_the_jackknifes() -> None:
    """Leaving out each of 400 rows in turn, chance and strata included, gives it within 5 %."""
    right, score, facts, _ = drawn(400, 2)
    strata = strata_of(facts)
    rows = stratified._Rows.of(right, score, strata, np.arange(400))
    _, (error,) = rows.scaled(rows.labels[None])
    without = []
    for at in range(400):
        kept = np.delete(np.arange(400), at)
        found = stratified._Rows.of(right[kept], score[kept], strata[kept], kept)
        (value,), _ = found.scaled(found.labels[None])
        without.append(value)
    jackknife = (399 / 400 * ((without - np.mean(without)) ** 2).sum()) ** 0.5
    assert error == pytest.approx(jackknife, rel=0.05)


def test_permutations_keep_the_labels_of_strata_and_clusters() -> None:
    """Each stratum has as many right rows as before; clusters of one size exchange theirs."""
    right = np.array([1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 1, 0], dtype=bool)
    strata, cluster = np.repeat([0, 1], [8, 4]), np.repeat(np.arange(6), 2)
    rows = stratified._Rows.of(right, -np.arange(12.0), strata, cluster)
    dealt = np.concatenate(list(rows.dealt(Permutations(3000))))
    assert (dealt[:, :8].sum(axis=1) == 3).all()
    assert (dealt[:, 8:].sum(axis=1) == 3).all()
    sums = dealt.reshape(3000, 6, 2).sum(axis=2)
    assert (np.sort(sums[:, :4], axis=1) == [0, 0, 1, 2]).all()
    assert (np.sort(sums[:, 4:], axis=1) == [1, 2]).all()
    # Four standard errors of one half, and of one quarter.
    assert abs((sums[:, 4] == 2).mean() - 1 / 2) < 0.037
    assert abs((sums[:, 0] == 2).mean() - 1 / 4) < 0.032


@settings(max_examples=25, deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows: list[Row], random: object) -> None:
    """Nor does the order of names; the interval lies above 0 exactly if p is at most 2.5 %."""
    made = of_rows(rows)
    assert hasattr(random, "shuffle")
    random.shuffle(rows)
    assert of_rows(rows) == made
    if made.lift.low is not None and made.p_value is not None:
        assert (made.lift.low > 0) == (made.p_value <= 0.025)


def of_rows(rows: list[Row]) -> Adjusted:
    """The adjusted lift of rows, from quick permutations."""
    right, score, strata, clusters = zip(*rows, strict=True)
    return adjusted_lift(right, score, strata, clusters, QUICK)


def test_a_confounder_is_adjusted_for_and_knowledge_is_not() -> None:
    """Where few-fact questions are easier, only the plain chance level suggests knowledge."""
    right, score, facts, cluster = drawn(1000, 3)
    one, other = (
        adjusted_lift(right, score, strata, cluster, Permutations(1000))
        for strata in (np.zeros(1000), strata_of(facts))
    )
    assert one.p_value is not None
    assert other.p_value is not None
    assert one.p_value < 0.01
    assert other.p_value > 0.05
    right, score, facts, cluster = drawn(1000, 3, slope=1.0)
    found = adjusted_lift(right, score, strata_of(facts), cluster, Permutations(1000))
    assert found.p_value == 1 / 1001
    assert found.lift.low is not None
    assert found.lift.low > 0


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


def bare(right: list[bool], score: list[float], strata: list[int], clusters: list[int]) -> Adjusted:
    """The result of quick permutations."""
    return adjusted_lift(right, score, strata, clusters, QUICK)


def test_reasons_why_there_is_no_interval() -> None:
    """All right, none right, strata that are all right or all wrong, and few clusters."""
    assert bare([], [], [], []).no_interval == stratified.NO_ROWS
    n, score = 40, list(np.linspace(0, 1, 40))
    half = [at < 20 for at in range(n)]
    each = list(range(n))
    for right, strata, clusters, reason in (
        ([True] * n, [0] * n, each, stratified.UNDEFINED),
        ([False] * n, [0] * n, each, stratified.UNDEFINED),
        (half, [int(one) for one in half], each, stratified.NO_VARIATION),
        (
            [at % 2 == 0 for at in range(n)],
            [0] * n,
            [at % 9 for at in each],
            stratified.FEW_CLUSTERS,
        ),
    ):
        found = bare(right, score, strata, clusters)
        assert found.no_interval == reason
        assert (found.p_value, found.lift.low) == (None, None)


def test_columns_of_different_lengths_are_an_error() -> None:
    """Strata or clusters that are too short name the shapes."""
    with pytest.raises(ValueError, match=r"strata \(2,\)"):
        adjusted_lift([True, False, True], [1, 2, 3], [0, 1], [0, 1, 2])


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
        repeated = adjusted_lift(right[rows], score[rows], strata[rows], np.arange(80), QUICK)
        found = float(stratified.lifts_within_strata(counts[0], counts[1]))
        assert found == pytest.approx(repeated.lift.value)
