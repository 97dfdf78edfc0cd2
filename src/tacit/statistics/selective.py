"""Selective prediction: select the rows with the highest scores, and count the incorrect ones.

Rows are selected in descending order of score. The coverage is the share of all rows that are
selected. The risk at a coverage is the share of incorrect rows among the selected rows. A coverage
may select only some of the rows with equal scores. The risk is then the mean over all orders of
these rows, so that the order of the input has no effect.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import digamma

from tacit.statistics.ranking import at_thresholds, divided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def risks(right: ArrayLike, score: ArrayLike) -> Floats:
    """Compute the risk at each of the coverages 1/rows, 2/rows, … 1.

    Args:
        right: Whether each row is correct, shape (rows,).
        score: The score of each row, which states the confidence in the row, shape (rows,).

    Raises:
        ValueError: If the shapes differ, or a score is nan.
    """
    counts, rows = at_thresholds(right, score)
    each = np.repeat(divided(rows - counts, rows), rows.astype(np.intp))
    found: Floats = each.cumsum() / np.arange(1, len(each) + 1)
    return found


def risk_area(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the area under the risk-coverage curve (AURC): the mean of all values of ``risks``.

    Args:
        right: Whether each row is correct, shape (rows,).
        score: The confidence in each row, shape (rows,).

    Returns:
        The area, or None if there are no rows. If all scores are equal, the area is the share of
        incorrect rows.

    Raises:
        ValueError: If the shapes differ, or a score is nan.
    """
    if not np.size(right):
        return None
    return float(risk_areas(*at_thresholds(right, score)))


def risk_areas(right: Floats, rows: Floats) -> Floats:
    """Compute the area under the risk-coverage curve from the number of rows at each threshold.

    Let m rows have the same score, of which e rows are incorrect. Let N rows have a higher score,
    of which E rows are incorrect. For the m rows, the sum of the risks is e + (E - N·e/m)·(1/(N +
    1) + … + 1/(N + m)).

    Args:
        right: The number of correct rows at each threshold, shape (..., thresholds). The highest
            threshold comes first.
        rows: The number of all rows at each threshold. It may be 0, as in a resample.

    Returns:
        Shape (...); nan without rows.
    """
    wrong = rows - right
    through, wrong_through = rows.cumsum(axis=-1), wrong.cumsum(axis=-1)
    above, wrong_above = through - rows, wrong_through - wrong
    share = np.divide(wrong, rows, out=np.zeros_like(wrong), where=rows > 0)
    harmonic = digamma(through + 1) - digamma(above + 1)
    sums = wrong + (wrong_above - above * share) * harmonic
    return divided(sums.sum(axis=-1), rows.sum(axis=-1))
