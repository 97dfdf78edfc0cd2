"""What a ranking is worth by chance: permutations of what is right, on scales without ends."""

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


# Figures nearer than this are equal: sums in another order differ in their last digits.
_EQUAL = 1e-12


def chance_level(right: ArrayLike, score: ArrayLike) -> float | None:
    """The mean average precision over all permutations of what is right, exactly.

    Args:
        right: Whether each row is right, shape (rows,).
        score: Shape (rows,).

    Returns:
        The mean; the share of right rows when all scores are tied, more otherwise, the more so the
        fewer rows there are. None when no row is right.
    """
    at, rows = at_thresholds(right, score)
    level = float(chance_levels(at.sum(), rows))
    return None if np.isnan(level) else level


def chance_levels(right: ArrayLike, rows: Floats) -> Floats:
    """The chance level by counts.

    Let P of n rows be right, p = P/n, and let threshold j have g rows, N with all those above it,
    H and T of them right. Then AP is the sum over j of H·T/(N·P). T is hypergeometric and, given T,
    H is g·T/N on average, so that E[H·T] = g/N·E[T²], with E[T²] = N·p·(1-p)·(n-N)/(n-1) + N²·p².
    Summed over the thresholds, E[AP] = p + (1-p)·(Σ g/N - 1)/(n-1).

    Args:
        right: How many rows are right, shape (...).
        rows: How many stand at each threshold, highest first, shape (..., thresholds).

    Returns:
        Shape (...); nan where no row is right.
    """
    all_right, n = np.asarray(right, dtype=np.float64), rows.sum(axis=-1)
    parts = divided(rows, rows.cumsum(axis=-1))
    more = np.where(rows > 0, parts, 0.0).sum(axis=-1) - 1
    share = divided(np.where(all_right > 0, all_right, np.nan), n)
    return share + (1 - share) * np.where(n > 1, divided(more, n - 1), 0.0)


def lift(average_precision: float | None, chance: float | None) -> float | None:
    """How much of the way from chance to perfect was gone; None when chance is perfect."""
    if average_precision is None or chance is None or chance >= 1:
        return None
    return (average_precision - chance) / (1 - chance)


def dealt(right: int, keys: Floats, weights: Floats | None = None) -> NDArray[np.bool_]:
    """Labels of rows, exactly ``right`` of them true in each sample.

    Args:
        right: How many are true; at least 1.
        keys: Uniform random numbers below 1, shape (samples, rows).
        weights: Log-weight of each row, shape (rows,): the first true row is drawn by these
            weights, the next among the others, and so on. Without them every choice of rows is as
            likely as any other: a permutation.

    Returns:
        Shape (samples, rows).
    """
    if weights is not None:
        keys = weights - np.log(-np.log(np.maximum(keys, np.finfo(float).tiny)))
    last = keys.shape[1] - right
    labels: NDArray[np.bool_] = keys >= np.partition(keys, last, axis=1)[:, last, None]
    return labels


def laid(sizes: Ints, samples: int, random: np.random.Generator) -> Ints:
    """Where each cluster of rows begins when clusters follow one another in random order.

    Args:
        sizes: How many rows each cluster has, shape (clusters,).
        samples: How many orders are drawn.
        random: Draws them.

    Returns:
        Shape (samples, clusters).
    """
    order = random.permuted(np.tile(np.arange(len(sizes)), (samples, 1)), axis=1)
    lengths = sizes[order]
    starts = np.empty_like(order)
    np.put_along_axis(starts, order, lengths.cumsum(axis=1) - lengths, axis=1)
    return starts


def p_value(observed: float, permuted: Floats) -> float:
    """The share of permutations that come at least as high, the observation among them.

    Args:
        observed: The figure; large values are evidence.
        permuted: The same figure of each permutation, shape (permutations,).
    """
    reached = int((permuted >= observed - _EQUAL).sum())
    return (1 + reached) / (1 + len(permuted))


def critical_value(permuted: Floats, level: float = 0.05) -> float | None:
    """What a figure must exceed for its p-value to be at most ``level``.

    Returns:
        One of the permuted figures; None when there are too few permutations for that level.
    """
    allowed = int(level * (1 + len(permuted)) + _EQUAL) - 1
    if allowed < 0:
        return None
    return float(np.sort(permuted)[::-1][allowed]) + _EQUAL


@dataclass(frozen=True)
class Influence:
    """A figure of several samples, and what one row moves it by.

    Args:
        value: The figure, on a scale without ends; shape (samples,).
        right: What a right row at each threshold moves it by, shape (samples, thresholds).
        wrong: What a wrong row does.
    """

    value: Floats
    right: Floats
    wrong: Floats


@dataclass(frozen=True)
class Scale:
    """A figure, and the way back from its scale.

    Args:
        influence: From the counts at each threshold, right ones of shape (samples, thresholds) and
            all of that shape or, where every sample has the same, (thresholds,); none of all is 0.
        back: From the scale to the figure.
    """

    influence: Callable[[Floats, Floats], Influence]
    back: Callable[[float], float]


def _of_lift(right: Floats, rows: Floats) -> Influence:
    """Minus the logarithm of 1 - lift: of what chance leaves open, the share that stays open."""
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
    """The log-odds of the area."""
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
    """The sum of each value and all after it, along the thresholds."""
    return values[:, ::-1].cumsum(axis=1)[:, ::-1]
