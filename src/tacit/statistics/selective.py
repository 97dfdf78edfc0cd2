"""Selective prediction: the share of incorrect answers among answers with high scores.

Rows (answers) are selected in descending order of score. The coverage is the number of selected
rows divided by the number of all rows. The risk at a coverage is the share of incorrect rows among
the selected rows. If several rows have equal scores, the selection at a given coverage can include
some of these rows and exclude the others. With tied scores, the risk is averaged over all orders of
the tied rows, so that the order of the input has no effect.
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
    """Compute the risks (error rates) of n rows at the coverages 1/n, 2/n, ..., 1.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: For each row, the confidence that its answer is correct, shape (rows,).

    Raises:
        ValueError: If the shapes of ``right`` and ``score`` do not match, or a score is nan.
    """
    counts, rows = at_thresholds(right, score)
    each = np.repeat(divided(rows - counts, rows), rows.astype(np.intp))
    found: Floats = each.cumsum() / np.arange(1, len(each) + 1)
    return found


def risk_area(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the area under the risk-coverage curve (AURC): the mean of the risks.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: For each row, the confidence that its answer is correct, shape (rows,).

    Returns:
        The area, or None if there are no rows. If all scores are equal, the area is the share of
        incorrect rows.

    Raises:
        ValueError: If the shapes of ``right`` and ``score`` do not match, or a score is nan.
    """
    if not np.size(right):
        return None
    return float(risk_areas(*at_thresholds(right, score)))


def risk_areas(right: Floats, rows: Floats) -> Floats:
    """Compute areas under risk-coverage curves from counts of rows per threshold.

    Rows with equal scores are ranked in random order, so the areas are expected values. For rows
    with equal scores, the sum of the expected error rates is computed by a formula with harmonic
    numbers.

    Args:
        right: For each distinct score (threshold), the number of correct rows with that score,
            shape (..., thresholds). The thresholds (distinct scores) are in decreasing order.
        rows: For each distinct score (threshold), the number of rows with that score, shape (...,
            thresholds). Counts may be 0: a resample may contain no row with a given score.

    Returns:
        The area under the risk-coverage curve of each sample, shape (...). The area is nan if a
        sample has no rows.
    """
    wrong = rows - right
    through, wrong_through = rows.cumsum(axis=-1), wrong.cumsum(axis=-1)
    above, wrong_above = through - rows, wrong_through - wrong
    share = np.divide(wrong, rows, out=np.zeros_like(wrong), where=rows > 0)
    harmonic = digamma(through + 1) - digamma(above + 1)
    sums = wrong + (wrong_above - above * share) * harmonic
    return divided(sums.sum(axis=-1), rows.sum(axis=-1))
