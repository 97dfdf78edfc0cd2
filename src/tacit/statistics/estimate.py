"""A number with its confidence interval, and the intervals of shares and means."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

_EQUAL = 1e-12  # the range of values that differ by rounding only


@dataclass(frozen=True)
class Estimate:
    """A statistic and its interval; ``why`` is a clause if the interval is missing."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = field(default=None, kw_only=True, compare=False)
    why: str | None = field(default=None, kw_only=True, compare=False)

    @property
    def interval(self) -> list[float] | None:
        """Both ends of the interval as a list, for JSON; None if there is no interval."""
        return None if self.low is None or self.high is None else [self.low, self.high]


@dataclass(frozen=True)
class Change(Estimate):
    """A difference or a slope, with its confidence interval and p-value."""

    p_value: float | None = None

    @property
    def estimate(self) -> Estimate:
        """The value and the interval, without the p-value."""
        return Estimate(self.value, self.low, self.high, n=self.n, why=self.why)


def t_interval(values: Iterable[float | None], level: float = 0.95) -> Estimate:
    """Compute the mean of one value per group, with Student's t confidence interval."""
    from statistics import fmean, stdev

    from scipy.stats import t

    measured = [value for value in values if value is not None]
    n = len(measured)
    if not n:
        return Estimate(None, n=0, why="no group has a value")
    mean = fmean(measured)
    if max(measured) - min(measured) < _EQUAL:
        return Estimate(mean, n=n, why="no variation" if n > 1 else "only one group")
    low, high = t.interval(level, n - 1, mean, stdev(measured) / n**0.5)
    return Estimate(mean, float(low), float(high), n=n)
