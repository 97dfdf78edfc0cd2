from __future__ import annotations

import importlib.util
import sys
from itertools import chain, permutations
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics import conditional
from tacit.statistics.conditional import Gain, Links, conditional_gain
from tacit.statistics.studentised import Permutations

if TYPE_CHECKING:
    from types import ModuleType

QUICK = Permutations(199)


def _benchmark() -> ModuleType:
    path = Path(__file__).parents[2] / "benchmarks" / "relevance_intervals.py"
    spec = importlib.util.spec_from_file_location("relevance_intervals", path)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(path)
    module = importlib.util.module_from_spec(spec)
    sys.modules["relevance_intervals"] = module  # where dataclasses look
    spec.loader.exec_module(module)
    return module


SIMULATION = _benchmark()


def drawn(
    items: int, share: float, seed: int, slope: float = 0.0, size: int = 3
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Which items are marked, then of each link its item, cluster and whether it is right."""
    random = np.random.default_rng(seed)
    cluster = np.arange(items) // size
    known = random.normal(size=items)[cluster]
    marked = random.random(items) < share * np.exp(0.5 * known)
    right = random.random(items) < 1 / (1 + np.exp(-slope * known))
    second = random.integers(0, items, items // 5)
    item = np.concatenate([np.arange(items), np.arange(items // 5)])
    link = np.concatenate([np.arange(items), second])
    return marked, item, cluster[link], right[link]


def found(marked: np.ndarray, item: np.ndarray, cluster: np.ndarray, right: np.ndarray) -> Gain:
    """The gain, from few permutations."""
    return conditional_gain(marked, Links(item, cluster, right), QUICK)


def log_odds_ratio(marked: np.ndarray, item: np.ndarray, right: np.ndarray) -> float:
    """Link by link."""
    odds = []
    for side in (True, False):
        values = [[], []]  # type: list[list[float]]
        for one, correct in zip(item, right, strict=True):
            if marked[one] == side:
                weight = 1 / (item == one).sum()
                values[bool(correct)].append(weight)
        odds.append(sum(values[1]) / sum(values[0]))
    return float(np.log(odds[0] / odds[1]))


def test_the_error_is_the_jackknifes_to_first_order() -> None:
    """Leaving out the links of each of 100 clusters in turn gives the same within 2 %."""
    marked, item, cluster, right = drawn(300, 0.3, 0)
    weight = 1 / np.bincount(item)[item]
    shares = []
    for out in np.unique(cluster):
        kept = cluster != out
        odds = []
        for side in (True, False):
            of = kept & (marked[item] == side)
            share = (weight * right)[of].sum() / weight[of].sum()
            odds.append(share / (1 - share))
        shares.append(np.log(odds[0] / odds[1]))
    whole = log_odds_ratio(marked, item, right)
    table = conditional._Table.of(marked, Links(item, cluster, right))
    (value,), (error,) = table._scaled(table.marked[None])
    assert value == pytest.approx(whole)
    assert error == pytest.approx(((np.array(shares) - whole) ** 2).sum() ** 0.5, rel=0.02)


@given(st.floats(-8, 8), st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_the_way_back_gives_the_odds_ratio(log_odds: float, share: float, mean: float) -> None:
    """The four cells of the gain have the odds ratio and the two margins."""
    given_marked = conditional._gain(log_odds, share, mean) + mean
    both = share * given_marked
    cells = np.array([both, share - both, mean - both, 1 - share - mean + both])
    assert (cells > -1e-12).all()
    if (cells > 1e-6).all():
        ratio = cells[0] * cells[3] / (cells[1] * cells[2])
        assert np.log(ratio) == pytest.approx(log_odds, abs=1e-4)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000), st.floats(0.1, 0.8), st.floats(-2, 2))
def test_an_interval_lies_around_a_gain_that_is_possible(
    seed: int, share: float, slope: float
) -> None:
    """Both ends are gains that the two margins allow."""
    made = found(*drawn(240, share, seed, slope))
    if made.gain.low is None or made.gain.high is None or made.mean is None:
        assert made.no_interval is not None
        return
    assert made.gain.value is not None
    assert made.no_interval is None
    assert -made.mean <= made.gain.low < made.gain.high <= 1 - made.mean
    assert made.gain.low <= made.gain.value <= made.gain.high


@pytest.mark.parametrize("side", [True, False])
def test_below_20_items_on_a_side_there_is_no_interval(side: bool) -> None:  # noqa: FBT001
    """With 19 there is the gain alone, and why; with 20 there is an interval."""
    _, item, cluster, right = drawn(300, 0.5, 1)
    for few, reason in (
        (19, conditional.FEW_MARKED if side else conditional.FEW_OTHERS),
        (20, None),
    ):
        marked = (np.arange(300) % 15 == 0) & (np.arange(300) < 15 * few)
        made = found(marked if side else ~marked, item, cluster, right)
        assert (made.marked if side else made.others) == few
        assert made.gain.value is not None
        assert made.no_interval == reason
        assert (made.gain.interval is None) == (reason is not None)


def test_there_is_no_interval_at_the_end_of_the_scale() -> None:
    """All that marked items are linked to is right."""
    marked, item, cluster, _ = drawn(300, 0.3, 2)
    made = found(marked, item, cluster, marked[item])
    assert (made.given_marked, made.no_interval) == (1, conditional.EXTREME)
    assert made.gain.interval is None


def test_four_clusters_are_too_few() -> None:
    """They can be laid one after the other in 24 ways only."""
    marked, item, _, right = drawn(300, 0.3, 3)
    made = found(marked, item, item % 4, right)
    assert made.no_interval == conditional.FEW_CLUSTERS
    assert found(marked, item, item % 5, right).no_interval is None


def test_clusters_are_permuted_whole() -> None:
    """Of three clusters of unequal sizes, in all six orders and no others."""
    marked = np.array([True, False, False, False, True, True])
    cluster = np.array([0, 0, 0, 1, 2, 2])
    links = Links(np.arange(6), cluster, np.zeros(6))
    table = conditional._Table.of(marked, links)
    made = {tuple(way.tolist()) for ways in table._permuted(QUICK) for way in ways}
    blocks = [[True, False, False], [False], [True, True]]
    assert made == {tuple(chain(*order)) for order in permutations(blocks)}


def test_the_memory_of_a_batch_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """All permutations at once and a few at a time are the same draws."""
    whole = found(*drawn(120, 0.4, 4))
    assert whole.gain.interval is not None
    monkeypatch.setattr(conditional, "_CELLS", 1000)
    assert found(*drawn(120, 0.4, 4)) == whole


def test_items_without_a_link_are_not_counted() -> None:
    """Nor do they change anything."""
    marked, item, cluster, right = drawn(120, 0.4, 5)
    fewer = found(marked, item, cluster, right)
    assert found(np.append(marked, [True, False]), item, cluster, right) == fewer


def test_95_of_100_intervals_include_0_where_there_is_nothing() -> None:
    """Of 200 samples with 4 % of 700 items marked, in clusters of 7, within 4 in 100."""
    held = made = 0
    for seed in range(200):
        gain = found(*drawn(700, 0.05, seed, size=7)).gain
        if gain.low is not None and gain.high is not None:
            made += 1
            held += gain.low <= 0 <= gain.high
    assert made > 150
    assert held / made == pytest.approx(0.95, abs=0.04)


def test_the_simulation_prints_a_line() -> None:
    """With 0.5 % of 1,150 facts right no sample has an interval; with 5 % all have."""
    population, sizes = SIMULATION.INDEPENDENT, SIMULATION.SMALL
    few, some = (SIMULATION.row(population, sizes, share, 3) for share in (0.005, 0.05))
    assert (few["no interval"], few["includes the true relevance"]) == ("3 too few marked", "-")
    assert some["no interval"] == "0"


def test_the_simulations_true_relevance_is_that_of_many_facts() -> None:
    """By quadrature and by 600,000 facts drawn."""
    population = SIMULATION.DEPENDENT
    known, links = population.draw(SIMULATION.Sizes(200_000, 3), 0.3, 0.4, np.random.default_rng(0))
    gain = conditional_gain(known, links, Permutations(1)).gain.value
    assert gain == pytest.approx(population.relevance(0.3, 0.4), abs=0.004)


def test_the_share_of_marked_items_widens_the_interval_where_few_are_not_marked() -> None:
    """By as much as a bootstrap's of the share does; and moves no end across 0."""
    marked, item, cluster, right = drawn(900, 0.9, 3, slope=1.5)
    marked = marked | (np.random.default_rng(1).random(900) < 0.6)
    made = found(marked, item, cluster, right).gain
    table = conditional._Table.of(marked, Links(item, cluster, right))
    (value,), _ = table._scaled(table.marked[None])
    reached = table._share_moves(float(value), float(table.values.mean()), 0.95)
    random = np.random.default_rng(2)
    shares = [marked.reshape(-1, 3)[random.integers(0, 300, 300)].mean() for _ in range(2000)]
    gains = [
        np.log(conditional._gain(float(value), float(share), float(table.values.mean())))
        for share in shares
    ]
    assert reached == pytest.approx(1.96 * np.std(gains), rel=0.1)
    assert made.low is not None
    assert made.value is not None
    assert 0 < made.low < made.value
    assert conditional._widened(-0.01, 0.02, reached) == -0.01
