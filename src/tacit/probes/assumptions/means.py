"""Means over concepts with their intervals, for single and for paired measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


class Paired(NamedTuple):
    """The two means over pairs of measurements, and their difference.

    Args:
        pairs: The number of rows with both measurements.
        first: The mean of the first measurements; None without pairs.
        second: The mean of the second measurements; None without pairs.
        difference: Second minus first; None without pairs.
        low: The lower end of the difference's interval; None for fewer than two concepts.
        high: The upper end; None for fewer than two concepts.
        p_value: Two-sided, against no difference; None for fewer than two concepts.
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
    """Return the mean of the non-null values and its interval's ends; None where undefined.

    Args:
        values: ``concept`` (resampled) and the column to average; nulls are ignored.
        of: The column to average.
        bootstrap: The bootstrap for the interval.
    """
    there = values.drop_nulls(of)
    ones = [1] * there.height
    found = bootstrap.ratio(there["concept"].to_numpy(), there[of].to_numpy(), ones)
    return found.value, found.low, found.high


def paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> Paired:
    """Return both means over the complete pairs, with an interval for their difference.

    Args:
        pairs: ``concept`` (resampled), ``first``, ``second``; rows with a null in either are
            ignored.
        bootstrap: The bootstrap for the interval.
    """
    import numpy as np

    whole = pairs.drop_nulls(["first", "second"])
    values = whole.select("first", "second").to_numpy().T
    change = bootstrap.difference(whole["concept"].to_numpy(), values, np.ones_like(values))
    first, second = values.mean(axis=1).tolist() if whole.height else (None, None)
    ends = (change.value, change.low, change.high, change.p_value)
    return Paired(whole.height, first, second, *ends)
