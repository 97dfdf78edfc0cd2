"""Paired changes of right and wrong answers: McNemar's exact test, and a clustered interval."""

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
"""With fewer changed rows, the exact test cannot reach 5 %, but the bootstrap could exclude 0."""


@dataclass(frozen=True)
class PairedChange:
    """The change of accuracy between two answers to the same rows.

    Args:
        n: Number of rows (pairs).
        before: The accuracy of the first answers; None without rows.
        after: The accuracy of the second answers; None without rows.
        change: The second accuracy minus the first, with a bootstrap interval over clusters.
        gained: Number of rows that turn from wrong to right.
        lost: Number of rows that turn from right to wrong.
        p_value: Two-sided, by McNemar's exact test; it assumes independent rows. None without rows.
        no_interval: Why there is no interval, one of the constants of this module; None if there is
            one.
    """

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
    """Compute the change of accuracy.

    Args:
        before: Whether the first answer to each row is right, shape (rows,).
        after: The same for the second answer.
        clusters: The cluster of each row.
        bootstrap: The bootstrap for the interval; the default if None.
    """
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
    """Return the two-sided p-value of McNemar's exact test.

    Args:
        gained: Number of pairs that turn from wrong to right.
        lost: Number of pairs that turn from right to wrong.

    Returns:
        The probability that, of as many fair coin tosses, at least as many fall on one side; 1 if
        no pair changes.
    """
    from scipy.stats import binomtest

    changed = gained + lost
    return float(binomtest(gained, changed, 0.5).pvalue) if changed else 1.0
