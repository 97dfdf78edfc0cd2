"""The mean of a few groups' means, such as the 14 relations of Figure 4 (Sahu et al. 2022)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.statistics.intervals import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable


def t_interval(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """The mean, with Student's interval.

    Args:
        values: One per group; those that are None were not measured and are left out.
        level: The interval's coverage.

    Returns:
        No value of nothing, and no interval of fewer than two values.
    """
    from statistics import fmean, stdev

    from scipy.special import stdtrit

    measured = [value for value in values if value is not None]
    n = len(measured)
    if not n:
        return Estimate(None, None, None)
    mean = fmean(measured)
    if n == 1:
        return Estimate(mean, None, None)
    half = float(stdtrit(n - 1, (1 + level) / 2)) * stdev(measured) / n**0.5
    return Estimate(mean, mean - half, mean + half)
