"""Chance levels, permutation tests and unbounded scales for ranking metrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.ranking import at_thresholds, aurocs, average_precisions, divided

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]


# Values closer than this are equal: summation in another order changes the last digits.
_EQUAL = 1e-12


def chance_level(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the exact mean of average precision over all permutations of ``right``."""
    at, rows = at_thresholds(right, score)
    level = float(chance_levels(at.sum(), rows))
    return None if np.isnan(level) else level


def chance_levels(right: ArrayLike, rows: Floats) -> Floats:
    """Compute the chance level of average precision from counts of rows."""
    all_right, n = np.asarray(right, dtype=np.float64), rows.sum(axis=-1)
    parts = divided(rows, rows.cumsum(axis=-1))
    more = np.where(rows > 0, parts, 0.0).sum(axis=-1) - 1
    share = divided(np.where(all_right > 0, all_right, np.nan), n)
    return share + (1 - share) * np.where(n > 1, divided(more, n - 1), 0.0)


def lift(average_precision: float | None, chance: float | None) -> float | None:
    """Return the lift (average precision - chance)/(1 - chance); None if it is undefined."""
    if average_precision is None or chance is None or chance >= 1:
        return None
    return (average_precision - chance) / (1 - chance)


def dealt(right: int, keys: Floats, weights: Floats | None = None) -> NDArray[np.bool_]:
    """Draw random labels; in each sample, the number of true labels is ``right``."""
    if weights is not None:
        keys = weights - np.log(-np.log(np.maximum(keys, np.finfo(float).tiny)))
    last = keys.shape[1] - right
    labels: NDArray[np.bool_] = keys >= np.partition(keys, last, axis=1)[:, last, None]
    return labels


def laid(sizes: Ints, samples: int, random: np.random.Generator) -> Ints:
    """Put clusters in random orders; return the new index of each cluster's first row."""
    order = random.permuted(np.tile(np.arange(len(sizes)), (samples, 1)), axis=1)
    lengths = sizes[order]
    starts = np.empty_like(order)
    np.put_along_axis(starts, order, lengths.cumsum(axis=1) - lengths, axis=1)
    return starts


def p_value(observed: float, permuted: Floats) -> float:
    """Return (1 + k)/(1 + n), where k of the n permuted values are at least ``observed``."""
    reached = int((permuted >= observed - _EQUAL).sum())
    return (1 + reached) / (1 + len(permuted))


def critical_value(permuted: Floats, level: float = 0.05) -> float | None:
    """Return the value above which a statistic has a p-value of at most ``level``."""
    allowed = int(level * (1 + len(permuted)) + _EQUAL) - 1
    if allowed < 0:
        return None
    return float(np.sort(permuted)[::-1][allowed]) + _EQUAL


@dataclass(frozen=True)
class Influence:
    """A metric in several samples, and the influence of each row on the metric."""

    value: Floats
    right: Floats
    wrong: Floats


@dataclass(frozen=True)
class Scale:
    """The conversion of a metric to an unbounded scale, and back to the metric."""

    influence: Callable[[Floats, Floats], Influence]
    back: Callable[[float], float]


def _of_lift(right: Floats, rows: Floats) -> Influence:
    """Compute -log(1 - lift) for each sample, and the influence of each row on this value."""
    n, all_right = rows.sum(axis=-1, keepdims=True), right.sum(axis=1, keepdims=True)
    all_rows = rows.cumsum(axis=-1)
    average = average_precisions(right, rows)[:, None]
    chance = chance_levels(all_right[:, 0], rows)
    precision = right.cumsum(axis=1) / all_rows
    raised = precision + _from_here_on(right / all_rows) - average
    lowered = _from_here_on(right * precision / all_rows)
    rest = (1 - average) * all_right
    with np.errstate(divide="ignore", invalid="ignore"):
        return Influence(
            np.log(1 - chance) - np.log(1 - average[:, 0]),
            (raised - lowered) / rest - 1 / n,
            all_right / n / (n - all_right) - lowered / rest,
        )


def _of_auroc(right: Floats, rows: Floats) -> Influence:
    """Compute each sample's log-odds of AUROC, and each row's influence on the log-odds."""
    wrong = rows - right
    all_right, all_wrong = right.sum(axis=1, keepdims=True), wrong.sum(axis=1, keepdims=True)
    area = aurocs(right, rows)[:, None]
    lower = (_from_here_on(wrong) - wrong / 2) / all_wrong
    higher = (right.cumsum(axis=1) - right / 2) / all_right
    slope = area * (1 - area)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Influence(
            np.log(area[:, 0]) - np.log(1 - area[:, 0]),
            (lower - area) / all_right / slope,
            (higher - area) / all_wrong / slope,
        )


LIFT = Scale(_of_lift, lambda value: float(-np.expm1(-value)))
AUROC = Scale(_of_auroc, lambda value: float(1 / (1 + np.exp(-value))))


def _from_here_on(values: Floats) -> Floats:
    """For each threshold, sum the values at that threshold and at all lower thresholds."""
    return values[:, ::-1].cumsum(axis=1)[:, ::-1]
