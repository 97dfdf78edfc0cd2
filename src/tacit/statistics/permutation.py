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
    """Compute the exact mean of average precision over all permutations of ``right``.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,).

    Returns:
        The chance level: the mean of average precision over all permutations of the labels. None if
        no row is correct. If all scores are tied, the chance level equals the share of correct
        rows. If some scores differ and some rows are incorrect, the chance level is larger than the
        share of correct rows. The difference between the chance level and the share of correct rows
        is larger if there are fewer rows.
    """
    at, rows = at_thresholds(right, score)
    level = float(chance_levels(at.sum(), rows))
    return None if np.isnan(level) else level


def chance_levels(right: ArrayLike, rows: Floats) -> Floats:
    """Compute the chance level of average precision from counts of rows.

    For n rows, of which a share p is correct, the chance level is E[AP] = p + (1-p)·(S-1)/(n-1),
    where S is a sum over the thresholds (distinct scores). Each threshold adds the ratio g/N to S:
    the number g of rows with exactly the threshold's score, divided by the number N of rows with at
    least the threshold's score.

    The formula for E[AP] follows from the definition of average precision (AP) as a sum over the
    thresholds, AP = Σ H·T/(N·P), in which H, T, N and P are numbers of rows. In the formula for AP,
    P is the number of all correct rows. At each threshold, H is the number of correct rows with
    exactly the threshold's score, and T is the number of correct rows with at least the threshold's
    score. If the labels (correct or incorrect) of all n rows are permuted at random, the number T
    of correct rows among N rows has a hypergeometric distribution, with E[T²] =
    N·p·(1-p)·(n-N)/(n-1) + N²·p². Given T, each of the N rows is correct with probability T/N, so
    the g rows with exactly the threshold's score contain E[H | T] = g·T/N correct rows on average.
    Therefore, E[H·T] = (g/N)·E[T²].

    Args:
        right: Number of correct rows in each sample, shape (...).
        rows: For each distinct score (threshold), the number of rows with that score, shape (...,
            thresholds). The thresholds (distinct scores) are in decreasing order.

    Returns:
        The chance level of each sample, shape (...). The chance level is nan if no row is correct.
    """
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
    """Draw random labels; in each sample, the number of true labels is ``right``.

    Args:
        right: The number of rows with the label True in each sample. At least one label must be
            true.
        keys: Random numbers from the uniform distribution on [0, 1), shape (samples, rows).
        weights: The logarithm of each row's weight, shape (rows,). The rows that receive the label
            True are drawn one after another, without replacement. In each draw, the probability of
            a row that has not yet been drawn is proportional to the row's weight. If ``weights`` is
            None, all rows have the same weight.

    Returns:
        The labels of each sample, shape (samples, rows).
    """
    if weights is not None:
        keys = weights - np.log(-np.log(np.maximum(keys, np.finfo(float).tiny)))
    last = keys.shape[1] - right
    labels: NDArray[np.bool_] = keys >= np.partition(keys, last, axis=1)[:, last, None]
    return labels


def laid(sizes: Ints, samples: int, random: np.random.Generator) -> Ints:
    """Put clusters in random orders; return the new index of each cluster's first row.

    Args:
        sizes: Number of rows in each cluster, shape (clusters,).
        samples: Number of random orders.
        random: The random generator.

    Returns:
        The new index of each cluster's first row in each random order, shape (samples, clusters).
    """
    order = random.permuted(np.tile(np.arange(len(sizes)), (samples, 1)), axis=1)
    lengths = sizes[order]
    starts = np.empty_like(order)
    np.put_along_axis(starts, order, lengths.cumsum(axis=1) - lengths, axis=1)
    return starts


def p_value(observed: float, permuted: Floats) -> float:
    """Return (1 + k)/(1 + n), where k of the n permuted values are at least ``observed``.

    Args:
        observed: The observed statistic. Large values are evidence against the null hypothesis.
        permuted: The value of the statistic for each permutation, shape (permutations,).
    """
    reached = int((permuted >= observed - _EQUAL).sum())
    return (1 + reached) / (1 + len(permuted))


def critical_value(permuted: Floats, level: float = 0.05) -> float | None:
    """Return the value above which a statistic has a p-value of at most ``level``.

    Returns:
        The critical value: one of the values in ``permuted``, plus a small tolerance for rounding.
        None if there are too few permutations for any p-value to be at most ``level``.
    """
    allowed = int(level * (1 + len(permuted)) + _EQUAL) - 1
    if allowed < 0:
        return None
    return float(np.sort(permuted)[::-1][allowed]) + _EQUAL


@dataclass(frozen=True)
class Influence:
    """A metric in several samples, and the influence of each row on the metric.

    Args:
        value: The metric of each sample, converted to an unbounded scale such as the log-odds,
            shape (samples,).
        right: The influence of a correct row on the metric, for each sample and each score of the
            row, shape (samples, thresholds). Each distinct score is a threshold.
        wrong: The influence of an incorrect row on the metric, for each sample and each score of
            the row, shape (samples, thresholds). Each distinct score is a threshold.
    """

    value: Floats
    right: Floats
    wrong: Floats


@dataclass(frozen=True)
class Scale:
    """The conversion of a metric to an unbounded scale, and back to the metric.

    Args:
        influence: A function that converts the metric to an unbounded scale, and returns an
            ``Influence``: the converted metric, and the influence of each row on it. The first
            argument of ``influence`` contains the number of correct rows at each threshold, and the
            second argument contains the number of all rows at each threshold. Both arguments of
            ``influence`` have the shape (samples, thresholds). A row is at a threshold if its score
            equals the threshold. If the number of rows at each threshold is the same in all
            samples, the second argument of ``influence`` may have the shape (thresholds,). Every
            threshold must have at least one row.
        back: A function that converts a value on the unbounded scale back to the metric, for
            example a value of -log(1 - lift) to the lift.
    """

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
