"""Selective prediction: the share of incorrect answers among answers with high scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.special import digamma

from tacit.statistics.ranking import at_thresholds, divided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def risks(right: ArrayLike, score: ArrayLike) -> Floats:
    """Compute the risks (error rates) of n rows at the coverages 1/n, 2/n, ..., 1."""
    counts, rows = at_thresholds(right, score)
    each = np.repeat(divided(rows - counts, rows), rows.astype(np.intp))
    found: Floats = each.cumsum() / np.arange(1, len(each) + 1)
    return found


def risk_area(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the area under the risk-coverage curve (AURC): the mean of the risks."""
    if not np.size(right):
        return None
    return float(risk_areas(*at_thresholds(right, score)))


def risk_areas(right: Floats, rows: Floats) -> Floats:
    """Compute areas under risk-coverage curves from counts of rows per threshold."""
    wrong = rows - right
    through, wrong_through = rows.cumsum(axis=-1), wrong.cumsum(axis=-1)
    above, wrong_above = through - rows, wrong_through - wrong
    share = np.divide(wrong, rows, out=np.zeros_like(wrong), where=rows > 0)
    harmonic = digamma(through + 1) - digamma(above + 1)
    sums = wrong + (wrong_above - above * share) * harmonic
    return divided(sums.sum(axis=-1), rows.sum(axis=-1))
