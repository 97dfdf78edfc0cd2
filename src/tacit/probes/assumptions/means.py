"""Means over concepts with confidence intervals, for single and for paired measurements."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


class Paired(NamedTuple):
    """Means of two paired measurements, and the difference between the means."""

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
    """Return a column's mean and the ends of its confidence interval; None if undefined."""
    there = values.drop_nulls(of)
    ones = [1] * there.height
    found = bootstrap.ratio(there["concept"].to_numpy(), there[of].to_numpy(), ones)
    return found.value, found.low, found.high


def paired(pairs: pl.DataFrame, bootstrap: Bootstrap) -> Paired:
    """Compare two measurements on the rows in which both are defined."""
    import numpy as np

    whole = pairs.drop_nulls(["first", "second"])
    values = whole.select("first", "second").to_numpy().T
    change = bootstrap.difference(whole["concept"].to_numpy(), values, np.ones_like(values))
    first, second = values.mean(axis=1).tolist() if whole.height else (None, None)
    ends = (change.value, change.low, change.high, change.p_value)
    return Paired(whole.height, first, second, *ends)
