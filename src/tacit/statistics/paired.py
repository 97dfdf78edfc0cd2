"""Paired changes of accuracy: McNemar's exact test, and a cluster bootstrap interval."""

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
    """The change of accuracy between two sets of answers to the same rows.

    Args:
        n: Number of rows (pairs).
        before: The accuracy of the first answers; None if there are no rows.
        after: The accuracy of the second answers; None if there are no rows.
        change: The second accuracy minus the first, with a cluster bootstrap interval.
        gained: Number of rows whose answer changes from incorrect to correct.
        lost: Number of rows whose answer changes from correct to incorrect.
        p_value: The two-sided p-value of McNemar's exact test, which assumes independent rows; None
            if there are no rows.
        no_interval: The reason why the change has no interval, as a constant of this module; None
            if the change has an interval.
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
        before: Whether the first answer to each row is correct, shape (rows,).
        after: Whether the second answer to each row is correct, shape (rows,).
        clusters: The cluster of each row.
        bootstrap: The bootstrap that computes the interval; if None, a default ``Bootstrap()`` is
            used.
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
        gained: Number of pairs that change from incorrect to correct.
        lost: Number of pairs that change from correct to incorrect.

    Returns:
        The two-sided binomial probability of a split of the changed pairs that is at least as
        uneven as the observed split. The p-value is 1 if no pair changes.
    """
    from scipy.stats import binomtest

    changed = gained + lost
    return float(binomtest(gained, changed, 0.5).pvalue) if changed else 1.0
