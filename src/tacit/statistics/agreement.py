"""Agreement of two raters: the share of items with equal ratings, and Cohen's kappa."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.statistics.intervals import Estimate, wilson

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Reasons why kappa is undefined, or has no interval.
NO_ROWS = "no item is rated by both raters"
ONE_CATEGORY = "both raters use one and the same category"
ONE_SIDED = "one rater uses only one category"
PERFECT = "perfect agreement"


@dataclass(frozen=True)
class Agreement:
    """The agreement of two raters who assign each item to one of two categories."""

    n: int
    agreement: Estimate
    kappa: Estimate
    no_interval: str | None


def agreement(first: ArrayLike, second: ArrayLike, level: float = 0.95) -> Agreement:
    """Compute the agreement of two raters on the same items."""
    one, other = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    counts = np.zeros((2, 2), dtype=np.int64)
    np.add.at(counts, (one, other), 1)
    equal = wilson(int(counts.trace()), int(counts.sum()), level)
    kappa, reason = _kappa(counts, level)
    return Agreement(int(counts.sum()), equal, kappa, reason)


def _kappa(
    counts: np.ndarray[Any, np.dtype[np.int64]], level: float
) -> tuple[Estimate, str | None]:
    """Return Cohen's kappa for a table, and the reason if there is no interval."""
    from statsmodels.stats.inter_rater import cohens_kappa

    if not counts.sum():
        return Estimate(None, None, None), NO_ROWS
    if counts.sum() in counts.diagonal():
        return Estimate(None, None, None), ONE_CATEGORY
    if counts.trace() == counts.sum():
        return Estimate(1.0, None, None), PERFECT
    if 0 in {*counts.sum(axis=0), *counts.sum(axis=1)}:
        return Estimate(0.0, None, None), ONE_SIDED
    found = cohens_kappa(counts)
    value = float(found.kappa)
    reach = NormalDist().inv_cdf((1 + level) / 2) * float(found.std_kappa)
    return Estimate(value, max(value - reach, -1.0), min(value + reach, 1.0)), None
