"""The influence of a row on a metric is the metric's slope."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tacit.statistics.influence import Influence, of_auroc, of_average_precision
from tacit.statistics.ranking import aurocs, average_precisions


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
