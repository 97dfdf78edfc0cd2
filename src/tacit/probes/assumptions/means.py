"""Means over concepts with confidence intervals, for single and for paired measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


class Paired(NamedTuple):
    """Means of two paired measurements, and the difference between the means.

    Args:
        pairs: The number of rows that have both a first and a second measurement.
        first: The mean of the first measurements; None if there are no pairs.
        second: The mean of the second measurements; None if there are no pairs.
        difference: The second mean minus the first mean; None if there are no pairs.
        low: The lower end of the confidence interval of the difference; None if there is no
            interval, as with fewer than ``FEWEST_CLUSTERS`` concepts.
        high: The upper end of the confidence interval of the difference; None if there is no
            interval.
        p_value: The two-sided p-value for the hypothesis of no difference. The p-value is 1 if the
            difference is 0 in all bootstrap resamples. Without a confidence interval, the p-value
            is None unless the difference is 0 in all bootstrap resamples.
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
    """Return a column's mean and the ends of its confidence interval; None if undefined.

    Args:
        values: A table with the column to average, whose nulls are ignored, and the column
            ``concept``, whose values are resampled.
        of: The name of the column to average.
        bootstrap: The bootstrap that computes the confidence interval.
    """
    there = values.drop_nulls(of)
    ones = [1] * there.height
    found = bootstrap.ratio(there["concept"].to_numpy(), there[of].to_numpy(), ones)
    return found.value, found.low, found.high


def paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> Paired:
    """Compare two measurements on the rows in which both are defined.

    Args:
        pairs: The columns ``concept`` (whose values are resampled), ``first`` and ``second``. Rows
            with a null ``first`` or ``second`` are ignored.
        bootstrap: The bootstrap that computes the confidence interval of the mean difference,
            ``second`` minus ``first``.
    """
    import numpy as np

    whole = pairs.drop_nulls(["first", "second"])
    values = whole.select("first", "second").to_numpy().T
    change = bootstrap.difference(whole["concept"].to_numpy(), values, np.ones_like(values))
    first, second = values.mean(axis=1).tolist() if whole.height else (None, None)
    ends = (change.value, change.low, change.high, change.p_value)
    return Paired(whole.height, first, second, *ends)
