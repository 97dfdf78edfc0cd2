"""Means over concepts with confidence intervals, for single and for paired measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


class Paired(NamedTuple):
    """Means of two paired measurements, and the difference of the means.

    Args:
        pairs: The number of rows with both measurements.
        first: The mean of the first measurements; None without pairs.
        second: The mean of the second measurements; None without pairs.
        difference: The second mean minus the first mean; None without pairs.
        low: The lower end of the difference's interval; None for fewer than two concepts.
        high: The upper end of the difference's interval; None for fewer than two concepts.
        p_value: The two-sided p-value for the hypothesis of no difference; None for fewer than two
            concepts.
    """

    pairs: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    p_value: float | None


def mean(
    values: pl.DataFrame, of: str, bootstrap: Bootstrap
) -> tuple[float | None, float | None, float | None]:
    """Return the mean of the non-null values and the ends of its interval; None if undefined.

    Args:
        values: The column ``concept``, whose values are resampled, and the column to average; nulls
            are ignored.
        of: The column to average.
        bootstrap: The bootstrap for the interval.
    """
    there = values.drop_nulls(of)
    ones = [1] * there.height
    found = bootstrap.ratio(there["concept"].to_numpy(), there[of].to_numpy(), ones)
    return found.value, found.low, found.high


def paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> Paired:
    """Return the means of both measurements over complete pairs, and their difference's interval.

    Args:
        pairs: The columns ``concept`` (which is resampled), ``first`` and ``second``; rows with a
            null ``first`` or ``second`` are ignored.
        bootstrap: The bootstrap for the interval.
    """
    import numpy as np

    whole = pairs.drop_nulls(["first", "second"])
    values = whole.select("first", "second").to_numpy().T
    change = bootstrap.difference(whole["concept"].to_numpy(), values, np.ones_like(values))
    first, second = values.mean(axis=1).tolist() if whole.height else (None, None)
    ends = (change.value, change.low, change.high, change.p_value)
    return Paired(whole.height, first, second, *ends)
