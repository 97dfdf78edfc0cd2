"""Corrections of p-values, and McNemar's test with the paired change of accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from tacit.statistics.bootstrap import Bootstrap
from tacit.statistics.estimate import Estimate

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


def paired_change(
    before: ArrayLike, after: ArrayLike, clusters: ArrayLike, bootstrap: Bootstrap | None = None
) -> PairedChange:
    """Compute the change in accuracy from the first answers to the second answers."""
    first, second = (np.asarray(values, dtype=bool) for values in (before, after))
    n = len(first)
    if not n:
        return PairedChange(0, None, None, Estimate(None, n=0, why="no pairs"), 0, 0, None)
    gained, lost = int((second & ~first).sum()), int((first & ~second).sum())
    change = (bootstrap or Bootstrap()).difference(
        clusters, np.stack([first, second]), np.ones((2, n))
    )
    estimate = change.estimate
    if gained + lost < FEWEST_CHANGES:
        why = "too few answers changed" if gained + lost else "no answer changed"
        estimate = Estimate(change.value, why=why)
    accuracies = float(first.mean()), float(second.mean())
    return PairedChange(n, *accuracies, estimate, gained, lost, mcnemar(gained, lost))


def mcnemar(gained: int, lost: int) -> float:
    """Return the two-sided p-value of McNemar's exact test."""
    from scipy.stats import binomtest

    changed = gained + lost
    return float(binomtest(gained, changed, 0.5).pvalue) if changed else 1.0


def benjamini_hochberg(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values for multiple tests by the method of Benjamini and Hochberg."""
    from scipy.stats import false_discovery_control

    corrected = iter(false_discovery_control([p for p in p_values if p is not None]))
    return [None if p is None else float(next(corrected)) for p in p_values]


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Adjust p-values by Holm's method, which controls the family-wise error rate."""
    adjusted: list[float | None] = [None] * len(p_values)
    tested = sorted((p, at) for at, p in enumerate(p_values) if p is not None)
    least = 0.0
    for step, (p, at) in enumerate(tested):
        least = max(least, min(1.0, p * (len(tested) - step)))
        adjusted[at] = least
    return adjusted
