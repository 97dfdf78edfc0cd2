"""Means over concepts with their intervals, of one measurement or of two of the same concepts."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


class Paired(NamedTuple):
    """The means over what was measured both times, and their difference.

    Args:
        pairs: How many were measured both times.
        first: The mean of the first measurements; None of no pairs.
        second: The mean of the second ones.
        difference: Second less first.
        low: The lower end of the difference's interval; None for fewer than two concepts.
        high: Its upper end, or None with it.
    """

    pairs: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None


def mean(
    values: pl.DataFrame, of: str, bootstrap: Bootstrap
) -> tuple[float | None, float | None, float | None]:
    """The mean of what is there, and its interval's ends; None where undefined.

    Args:
        values: ``concept`` (resampled) and the column to average; null ones are left out.
        of: That column.
        bootstrap: How the interval is made.
    """
    there = values.drop_nulls(of)
    ones = [1] * there.height
    found = bootstrap.ratio(there["concept"].to_numpy(), there[of].to_numpy(), ones)
    return found.value, found.low, found.high


def paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> Paired:
    """Both means over the pairs that are whole, with an interval for their difference.

    Args:
        pairs: ``concept`` (resampled), ``first``, ``second``; a row that lacks one is no pair.
        bootstrap: How the interval is made.
    """
    import numpy as np

    whole = pairs.drop_nulls(["first", "second"])
    values = whole.select("first", "second").to_numpy().T
    change = bootstrap.difference(whole["concept"].to_numpy(), values, np.ones_like(values))
    first, second = values.mean(axis=1).tolist() if whole.height else (None, None)
    return Paired(whole.height, first, second, change.value, change.low, change.high)
