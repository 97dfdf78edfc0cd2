"""Changes in accuracy between paired answers: McNemar's test and bootstrap intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.statistics.intervals import FEWEST_CLUSTERS, Bootstrap, Estimate

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# Reasons why a change has no interval.
NO_PAIRS = "no pairs"
NO_CHANGE = "no answer changed"
FEW_CHANGES = "too few answers changed"
FEW_CLUSTERS = f"fewer than {FEWEST_CLUSTERS} clusters, or no variation"
FEWEST_CHANGES = 6
"""Minimum number of changed answers for a confidence interval of the change in accuracy.

An answer counts as changed if it turns from correct to incorrect, or from incorrect to correct.

With fewer than six changed answers, McNemar's p-value is always above 5 %.
"""


@dataclass(frozen=True)
class PairedChange:
    """The change in accuracy between the first and the second answers to the same questions."""

    n: int
    before: float | None
    after: float | None
    change: Estimate
    gained: int
    lost: int
    p_value: float | None
    no_interval: str | None


def paired_change(
    before: ArrayLike, after: ArrayLike, clusters: ArrayLike, bootstrap: Bootstrap | None = None
) -> PairedChange:
    """Compute the change in accuracy from the first answers to the second answers."""
    first, second = (np.asarray(values, dtype=bool) for values in (before, after))
    n = len(first)
    if not n:
        return PairedChange(0, None, None, Estimate(None, None, None), 0, 0, None, NO_PAIRS)
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    made = (bootstrap or Bootstrap()).difference(
        clusters, np.stack([first, second]), np.ones((2, n))
    )
    change = made.estimate
    reason = FEW_CLUSTERS if change.low is None else None
    if gained + lost < FEWEST_CHANGES:
        reason = FEW_CHANGES if gained + lost else NO_CHANGE
        change = Estimate(change.value, None, None)
    accuracies = float(first.mean()), float(second.mean())
    return PairedChange(n, *accuracies, change, gained, lost, mcnemar(gained, lost), reason)


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test."""
    from scipy.stats import binomtest

    changed = gained + lost
    return float(binomtest(gained, changed, 0.5).pvalue) if changed else 1.0
