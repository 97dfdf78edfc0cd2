"""Relevance: the gain of marked items, link by link, and its p-value."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.statistics.conditional import Gain, Links, conditional_gain
from tacit.statistics.permutation import Permutations

QUICK = Permutations(199)


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


@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 3), st.booleans()), min_size=1, max_size=20
    ),
    st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_the_gain_is_counted_link_by_link(
    links: list[tuple[int, int, bool]], marked: list[bool]
) -> None:
    """An item's share is the mean over its links; items count equally."""
    item, cluster, right = (np.array(each) for each in zip(*links, strict=True))
    made = found(np.array(marked), item, cluster, right)
    shares = {
        one: Fraction(sum(r for i, _, r in links if i == one), sum(i == one for i, _, _ in links))
        for one in set(item.tolist())
    }
    own = [share for one, share in shares.items() if marked[one]]
    assert (made.marked, made.others) == (len(own), len(shares) - len(own))
    mean = sum(shares.values()) / len(shares)
    assert made.mean == pytest.approx(float(mean))
    if own:
        assert made.gain == pytest.approx(float(sum(own) / len(own) - mean), abs=1e-12)
    else:
        assert made.gain is None


@pytest.mark.parametrize("side", [True, False])
def test_below_20_items_on_a_side_there_is_no_p_value(side: bool) -> None:  # noqa: FBT001
    """With 19 there is the gain alone; with 20 there is a p-value."""
    _, item, cluster, right = drawn(300, 0.5, 1)
    for few in (19, 20):
        marked = (np.arange(300) % 15 == 0) & (np.arange(300) < 15 * few)
        made = found(marked if side else ~marked, item, cluster, right)
        assert made.gain is not None
        assert (made.p_value is None) == (few < 20)


def test_5_of_100_p_values_are_small_where_there_is_nothing() -> None:
    """Of 300 samples with 10 % of 420 items marked, in clusters of 7, within 3 in 100."""
    small = [found(*drawn(420, 0.1, seed, size=7)).p_value for seed in range(300)]
    assert np.mean([p <= 0.05 for p in small if p is not None]) == pytest.approx(0.05, abs=0.03)


def test_knowledge_that_matters_is_found() -> None:
    """Marked items are right far more often."""
    assert found(*drawn(600, 0.4, 0, slope=2.0)).p_value == 1 / 200


def test_items_without_a_link_are_not_counted() -> None:
    """Nor do they change anything."""
    marked, item, cluster, right = drawn(120, 0.4, 5)
    fewer = found(marked, item, cluster, right)
    assert found(np.append(marked, [True, False]), item, cluster, right) == fewer
