from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, roc_auc_score

from tacit.statistics.influence import Influence, of_auroc, of_average_precision
from tacit.statistics.ranking import (
    at_thresholds,
    auroc,
    aurocs,
    average_precision,
    average_precisions,
    chance_level,
    chance_levels,
    least_average_precision,
    lift,
)

# Whether right, and one of few scores, so that most are tied.
ROWS = st.lists(st.tuples(st.booleans(), st.integers(-3, 3)), max_size=25)


@pytest.mark.parametrize("rows", [1, 2, 5, 8])
def test_the_least_average_precision_is_that_of_the_worst_order(rows: int) -> None:
    """Against every labelling of untied rows; ties only raise it."""
    for right in range(1, rows + 1):
        labels = [[i in chosen for i in range(rows)] for chosen in combinations(range(rows), right)]
        least = least_average_precision(right, rows)
        found = [average_precision(each, range(rows)) or 0 for each in labels]
        assert least == pytest.approx(min(found))
        tied = [average_precision(each, [i // 2 for i in range(rows)]) or 0 for each in labels]
        assert least <= min(tied) + 1e-12


@given(ROWS)
def test_average_precision_and_auroc_are_scikit_learns(rows: list[tuple[bool, int]]) -> None:
    """Equation 3, and the share of pairs in order, of which ties count half."""
    right, score = [one for one, _ in rows], [one for _, one in rows]
    of = {average_precision: any(right), auroc: any(right) and not all(right)}
    for found, by in ((average_precision, average_precision_score), (auroc, roc_auc_score)):
        assert found(right, score) == (pytest.approx(by(right, score)) if of[found] else None)


@given(st.lists(st.booleans(), min_size=1).filter(any))
def test_a_perfect_score_is_exactly_one(right: list[bool]) -> None:
    """All right rows above all wrong ones, however they are spread within."""
    score = [10 * r + k / len(right) for k, r in enumerate(right)]
    assert average_precision(right, score) == 1.0
    assert auroc(right, score) == (None if all(right) else 1.0)


def test_many_labellings_at_once_are_each_alone() -> None:
    """Counts of many samples give the figures of each, nan where one is undefined."""
    random = np.random.default_rng(3)
    score = random.integers(0, 6, 30)
    labels = random.random((50, 30)) < np.linspace(0, 1, 50)[:, None]
    right, rows = at_thresholds(labels, score)
    assert right.shape == (50, len(rows))
    for figures, one in (
        (average_precisions(right, rows), average_precision),
        (aurocs(right, rows), auroc),
    ):
        alone = [one(each, score) for each in labels]
        assert [None if np.isnan(figure) else figure for figure in figures] == alone
        assert None in alone
    # Thresholds without rows change nothing, as in a resample that drew none of them.
    right, rows = np.array([[0.0, 2, 0, 1, 0]]), np.array([[0.0, 3, 0, 4, 0]])
    lean = np.array([[2.0, 1]]), np.array([[3.0, 4]])
    assert average_precisions(right, rows) == average_precisions(*lean)
    assert aurocs(right, rows) == aurocs(*lean)


def test_what_cannot_be_ranked_is_refused() -> None:
    """Another number of scores, and a score that is not a number."""
    with pytest.raises(ValueError, match=r"right has shape \(2,\) and score \(3,\)"):
        average_precision([True, False], [1, 2, 3])
    with pytest.raises(ValueError, match="a score is NaN"):
        auroc([True, False], [1, float("nan")])


SCORES = st.lists(st.integers(0, 4), max_size=9)


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
    right = data.draw(st.integers(0, len(score)))
    labels = every_labelling(len(score), right)
    if not right:
        assert chance_level(labels[0], score) is None
        return
    mean = average_precisions(*at_thresholds(labels, score)).mean()
    assert chance_level(labels[0], score) == pytest.approx(mean, abs=1e-12)


def test_chance_levels_of_resamples() -> None:
    """Each sample has its own rows; thresholds without rows change nothing.

    Half of 28 untied rows lie about 0.05 above their accuracy by chance; of 1,220 next to nothing.
    """
    assert chance_level([True, False] * 14, range(28)) == pytest.approx(0.5542, abs=1e-4)
    assert chance_level([True, False] * 610, range(1220)) == pytest.approx(0.5, abs=0.003)
    rows = np.array([[0.0, 2, 3], [1, 1, 1], [0, 0, 4]])
    levels = chance_levels(np.array([2.0, 1, 0]), rows)
    assert levels[0] == chance_level([True, True, False, False, False], [2, 2, 1, 1, 1])
    assert levels[1] == pytest.approx(11 / 18)
    assert np.isnan(levels[2])


def test_the_lift_is_the_way_gone_from_chance_to_perfect() -> None:
    """Chance is 0, perfect is 1, worse than chance is negative; of nothing there is none."""
    assert [lift(one, 0.4) for one in (0.4, 1.0)] == [0, 1]
    assert [lift(one, 0.4) for one in (0.7, 0.1)] == pytest.approx([0.5, -0.5])
    assert [lift(1.0, 1.0), lift(None, 0.4), lift(0.4, None)] == [None] * 3


def log_shortfall(right: np.ndarray, rows: np.ndarray) -> np.ndarray:
    return np.asarray(-np.log(1 - average_precisions(right, rows)))


def log_odds(right: np.ndarray, rows: np.ndarray) -> np.ndarray:
    area = aurocs(right, rows)
    return np.asarray(np.log(area / (1 - area)))


@pytest.mark.parametrize(
    ("influence_of", "figure"), [(of_average_precision, log_shortfall), (of_auroc, log_odds)]
)
def test_the_influence_of_a_row_is_the_figures_slope(
    influence_of: Callable[..., Influence], figure: Callable[..., np.ndarray]
) -> None:
    """A little more of a right or a wrong row at each threshold moves the figure by so much."""
    random = np.random.default_rng(4)
    rows = random.integers(1, 6, 8).astype(float)
    right = random.binomial(rows.astype(int), 0.4)[None].astype(float)
    made, step = influence_of(right, rows), 1e-6
    for place, more in enumerate(np.eye(8) * step):
        for influence, added in ((made.right, more), (made.wrong, 0 * more)):
            slope = (figure(right + added, rows + more) - figure(right, rows))[0] / step
            assert influence[0, place] == pytest.approx(slope, abs=1e-5)
