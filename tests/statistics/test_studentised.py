from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics import Estimate, studentised
from tacit.statistics.permutation import AUROC, LIFT, Scale, chance_level, lift
from tacit.statistics.ranking import auroc, aurocs, average_precision, average_precisions
from tacit.statistics.studentised import Permutations, Sample

if TYPE_CHECKING:
    from types import ModuleType


class Population(Protocol):
    """What the benchmark's samples are drawn from."""

    def draw(
        self, n: int, accuracy: float, random: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Whether each anchor is right, its score and its cluster."""


def _benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "lift_intervals.py"
    spec = importlib.util.spec_from_file_location("lift_intervals", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["lift_intervals"] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


SIMULATION = _benchmark()
INDEPENDENT, CLUSTERED, _, STRONG = SIMULATION.POPULATIONS


def log_shortfall(right: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """The lift's scale but for the small sample's share in the chance level."""
    accuracy = right.sum(axis=1) / rows.sum()
    return np.asarray(np.log(1 - accuracy) - np.log(1 - average_precisions(right, rows)))


def log_odds(right: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """AUROC's."""
    area = aurocs(right, rows)
    return np.asarray(np.log(area / (1 - area)))


@pytest.mark.parametrize(("scale", "figure"), [(LIFT, log_shortfall), (AUROC, log_odds)])
def test_the_influence_of_a_row_is_the_figures_slope(scale: Scale, figure: object) -> None:
    """A little more of a right or a wrong row at each threshold moves the figure by so much."""
    assert callable(figure)
    random = np.random.default_rng(4)
    rows = random.integers(1, 6, 8).astype(float)
    right = random.binomial(rows.astype(int), 0.4)[None].astype(float)
    made, step = scale.influence(right, rows), 1e-6
    for place, more in enumerate(np.eye(8) * step):
        for influence, added in ((made.right, more), (made.wrong, 0 * more)):
            slope = (figure(right + added, rows + more) - figure(right, rows))[0] / step
            assert influence[0, place] == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("scale", [LIFT, AUROC])
def test_the_way_back_from_the_scale(scale: Scale) -> None:
    """The scale's value gives the figure itself."""
    right, score, cluster = INDEPENDENT.draw(60, 0.4, np.random.default_rng(0))
    made = auroc(right, score)
    if scale is LIFT:
        made = lift(average_precision(right, score), chance_level(right, score))
    sample = Sample.of(right, score, cluster)
    value, _ = sample._scaled(scale, sample.labels[None])
    assert scale.back(float(value[0])) == pytest.approx(made, abs=1e-12)


@pytest.mark.parametrize("scale", [LIFT, AUROC])
def test_a_row_twice_in_its_cluster_is_no_more_than_once(scale: Scale) -> None:
    """The error stays; of rows that stand for themselves it shrinks by the root of two."""
    right, score, _ = STRONG.draw(50, 0.4, np.random.default_rng(0))
    once = error(scale, right, score, np.arange(50))
    twice = np.tile(right, 2), np.tile(score, 2)
    assert error(scale, *twice, np.tile(np.arange(50), 2)) == pytest.approx(once)
    assert error(scale, *twice, np.arange(100)) == pytest.approx(once / 2**0.5)


def error(scale: Scale, right: np.ndarray, score: np.ndarray, cluster: np.ndarray) -> float:
    """The standard error of a figure on its scale."""
    sample = Sample.of(right, score, cluster)
    return float(sample._scaled(scale, sample.labels[None])[1][0])


def test_the_error_is_nearly_the_jackknifes() -> None:
    """Leaving out each of 300 clusters in turn gives the same within 3 %."""
    right, score, _ = STRONG.draw(300, 0.4, np.random.default_rng(0))
    without = [
        -np.log(1 - (lift(average_precision(r, s), chance_level(r, s)) or 0))
        for place in range(300)
        for r, s in [(np.delete(right, place), np.delete(score, place))]
    ]
    jackknife = (299 / 300 * ((without - np.mean(without)) ** 2).sum()) ** 0.5
    assert error(LIFT, right, score, np.arange(300)) == pytest.approx(jackknife, rel=0.03)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 12)), min_size=2, max_size=40
    ).filter(lambda rows: 0 < sum(right for right, _, _ in rows) < len(rows)),
    st.randoms(use_true_random=False),
)
def test_an_interval_is_in_order_and_has_no_order_of_rows(
    rows: list[tuple[bool, int, int]], random: object
) -> None:
    """Its ends stand below 1, the lower below the upper, however the rows are shuffled."""
    made = interval(rows)
    if made.low is not None and made.high is not None:
        assert made.low <= made.high <= 1
    assert hasattr(random, "shuffle")
    random.shuffle(rows)
    assert interval(rows) == made


def interval(rows: list[tuple[bool, int, int]]) -> Estimate:
    """The lift's, from few permutations."""
    right, score, cluster = zip(*rows, strict=True)
    value = lift(average_precision(right, score), chance_level(right, score))
    assert value is not None
    sample = Sample.of(right, score, cluster)
    return sample.interval(value, LIFT, sample.permuted(Permutations(200)).lift, 0.95)


def test_a_deal_keeps_the_labels_of_a_cluster_together() -> None:
    """Clusters of one size exchange what is right in them, each as often as any other."""
    right = np.array([1, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0], dtype=bool)
    cluster = np.repeat([0, 1, 2], 4)
    score = np.random.default_rng(0).permutation(12)
    sample = Sample.of(right, score, cluster)
    dealt = np.concatenate(list(sample.dealt(Permutations(3000))))
    sums = np.stack([dealt[:, cluster[np.argsort(-score)] == one].sum(axis=1) for one in range(3)])
    assert (np.sort(sums, axis=0) == np.array([[0], [2], [3]])).all()
    assert np.unique(sums, axis=1).shape == (3, 6)
    # Four standard errors of a share of a third; a row is right in 5 of 12.
    assert np.abs((sums == 3).mean(axis=1) - 1 / 3).max() < 0.035
    assert np.abs(dealt.mean(axis=0) - 5 / 12).max() < 0.036


def test_a_deal_of_single_rows_is_any_choice_of_them() -> None:
    """All ten ways to put two right rows among five come equally often."""
    sample = Sample.of([True, True, False, False, False], [5, 4, 3, 2, 1], range(5))
    dealt = np.concatenate(list(sample.dealt(Permutations(10_000))))
    ways, times = np.unique(dealt, axis=0, return_counts=True)
    assert len(ways) == 10
    assert np.abs(times - 1000).max() < 120


def test_no_interval_where_the_sample_cannot_tell() -> None:
    """One cluster, tied scores, a perfect ranking, and three rows."""
    rows = [(True, 2, 0), (False, 1, 1), (True, 1, 2), (False, 0, 3)]
    for few in (
        [(right, score, 0) for right, score, _ in rows * 5],
        [(right, 1, cluster) for right, _, cluster in rows * 5],
        [(right, int(right), number) for number, (right, _, _) in enumerate(rows * 5)],
        rows[:3],
    ):
        made = interval(few)
        assert made.value is not None
        assert made.interval is None


def test_the_memory_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All permutations at once and a few at a time are the same draws."""
    rows = [(number % 3 == 0, number % 5, number // 2) for number in range(20)]
    whole = interval(rows)
    assert whole.interval is not None
    monkeypatch.setattr(studentised, "_CELLS", 100)
    assert interval(rows) == whole


def test_what_is_said_of_the_intervals_is_what_made_them() -> None:
    """Permutations, seed and level, ready for a manifest."""
    assert Permutations(100, 7, 0.9).to_json() == {
        "method": "studentised permutations",
        "permutations": 100,
        "seed": 7,
        "level": 0.9,
    }


def simulated(population: Population, n: int, samples: int) -> tuple[float, float]:
    """The share of p-values up to 0.05, and of intervals of the lift that hold the true one."""
    random = np.random.default_rng(0)
    small = held = 0
    for number in range(samples):
        accuracy = SIMULATION.ACCURACIES[number % 3]
        right, score, cluster = population.draw(n, accuracy, random)
        precision, chance = average_precision(right, score), chance_level(right, score)
        value = lift(precision, chance)
        if precision is None or value is None:
            continue
        sample = Sample.of(right, score, cluster)
        permuted = sample.permuted(Permutations(250, seed=number))
        made = sample.interval(value, LIFT, permuted.lift, 0.95)
        p = sample.p_value(LIFT, permuted.lift)
        assert p is not None
        small += p <= 0.05
        if made.low is not None and made.high is not None:
            held += (
                made.low <= SIMULATION.truth(population, accuracy)[SIMULATION.CHOSEN] <= made.high
            )
    return small / samples, held / samples


def test_by_chance_5_in_100_are_significant_and_95_hold_0() -> None:
    """Of 300 samples of 28 anchors, within 3 in 100 (2.4 standard errors)."""
    small, held = simulated(INDEPENDENT, 28, 300)
    assert small == pytest.approx(0.05, abs=0.03)
    assert held == pytest.approx(0.95, abs=0.03)


def test_clusters_that_share_their_luck_change_little() -> None:
    """Anchors of a cluster are right together; of 200 samples within 5 in 100."""
    small, held = simulated(CLUSTERED, 60, 200)
    assert small == pytest.approx(0.05, abs=0.05)
    assert held == pytest.approx(0.95, abs=0.05)


def test_clusters_of_20_do_not_raise_false_alarms() -> None:
    """At most 8 % of p-values are up to 0.05; permuting without the clusters' error gives 13 %."""
    population, n = SIMULATION.Population("20", 0.0, shared=1.5, size=20, known=0.9), 200
    small, held = simulated(population, n, 200)
    assert small <= 0.08
    assert held >= 0.92


def samples() -> st.SearchStrategy[list[tuple[bool, int, int]]]:
    """Rows of a cluster each, some of them right and some wrong."""
    rows = st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 12))
    return st.lists(rows, min_size=6, max_size=40).filter(
        lambda rows: 0 < sum(right for right, _, _ in rows) < len(rows)
    )


@pytest.mark.parametrize(("scale", "name"), [(LIFT, "lift"), (AUROC, "auroc")])
@settings(max_examples=60, deadline=None)
@given(rows=samples(), permutations=st.sampled_from([39, 100, 250, 999]))
def test_p_value_and_interval_agree(
    scale: Scale, name: str, rows: list[tuple[bool, int, int]], permutations: int
) -> None:
    """The p-value is at most 2.5 % exactly where the interval lies above chance."""
    sample = Sample.of(*zip(*rows, strict=True))
    permuted = getattr(sample.permuted(Permutations(permutations)), name)
    p = sample.p_value(scale, permuted)
    made = sample.interval(0.0, scale, permuted, 0.95)
    if p is not None and made.low is not None:
        assert (p <= 0.025) == (made.low > scale.back(0.0))


@pytest.mark.parametrize("slope", [0.5, 1.2])
def test_p_value_and_interval_agree_where_there_is_a_lift(slope: float) -> None:
    """Of 60 samples with a weak or a strong lift, some are found and some are not."""
    population, random = (
        SIMULATION.Population("", slope, shared=1.0, size=5),
        np.random.default_rng(3),
    )
    found = []
    for number in range(60):
        sample = Sample.of(*SIMULATION.undecided(population, 60, 0.4, random))
        permuted = sample.permuted(Permutations(199, seed=number)).lift
        p, made = sample.p_value(LIFT, permuted), sample.interval(0.0, LIFT, permuted, 0.95)
        assert p is not None
        assert made.low is not None
        assert (p <= 0.025) == (made.low > 0)
        found.append(p <= 0.025)
    assert 0 < sum(found) < 60


def test_one_cluster_has_no_p_value() -> None:
    """It does not show how clusters differ."""
    sample = Sample.of([True, False, True, False], [3, 2, 1, 0], [7] * 4)
    assert sample.p_value(LIFT, sample.permuted(Permutations(100)).lift) is None


def test_the_true_lift_is_held_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """By about 94 of 100 intervals of 100 anchors; permutations alone would give 80."""
    monkeypatch.setattr(SIMULATION, "LARGE", 200_000)
    small, held = simulated(STRONG, 100, 150)
    assert small > 0.6
    assert 0.90 <= held <= 0.98


def test_the_simulation_prints_a_line() -> None:
    """Each method's share and width, of six samples."""
    line = SIMULATION.row(INDEPENDENT, 28, 6, 0)
    assert line["anchors"] == "28"
    assert {"percentile", "BCa", "bootstrap-t", SIMULATION.CHOSEN} < set(line)
