"""Ranking metrics: how well a score ranks correct answers above incorrect answers.

In this module, a row is one answer with its score and a label (correct or incorrect). Each distinct
score is a threshold. For each distinct score, the functions of this module count the rows with this
score, and the correct rows among them. A ranking metric depends only on the order of the distinct
scores, and on the numbers of correct rows and of all rows with each score. A function with a plural
name, such as ``aurocs``, computes its metric for many samples at once, from the numbers of rows
with each score. Two scores are tied if they are equal as floating-point numbers. Scores that should
be tied must be computed in exactly the same way, because rounding errors could make them unequal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def average_precision(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute average precision: the sum over thresholds of precision times gain in recall.

    Average precision is defined in equation 3 of Sahu et al. (2022).

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,).

    Returns:
        The average precision; None if no row is correct.

    Raises:
        ValueError: If the shapes of the arguments do not match, or a score is nan.
    """
    return _one(average_precisions(*at_thresholds(right, score)))


def auroc(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the AUROC of a score that should be higher for correct answers.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,). If a correct row and an incorrect row have
            equal scores, their pair counts as one half.

    Returns:
        Among all pairs of a correct row and an incorrect row, the share of pairs in which the
        correct row has the higher score. None if all rows are correct, or if no row is correct.

    Raises:
        ValueError: If the shapes of ``right`` and ``score`` do not match, or a score is nan.
    """
    return _one(aurocs(*at_thresholds(right, score)))


def average_precisions(right: Floats, rows: Floats) -> Floats:
    """Compute average precision from counts of correct rows and of all rows per score.

    Args:
        right: For each distinct score (threshold), the number of correct rows with that score,
            shape (..., thresholds). The thresholds (distinct scores) are in decreasing order.
        rows: For each distinct score (threshold), the number of rows with that score, shape (...,
            thresholds). Counts may be 0: a resample may contain no row with a given score.

    Returns:
        The average precision of each sample, shape (...). The average precision is nan if no row is
        correct.
    """
    precision = divided(right.cumsum(axis=-1), rows.cumsum(axis=-1))
    gained = np.where(right > 0, right * precision, 0.0)
    return divided(gained.sum(axis=-1), right.sum(axis=-1))


def least_average_precision(right: int, rows: int) -> float:
    """Compute the lowest possible average precision: all correct rows are ranked last.

    If all correct rows are ranked last, the precision at the i-th correct row from the top is
    i/(rows-right+i) (Boyd et al. 2012).

    Args:
        right: The number of correct rows. The number of correct rows must be at least 1.
        rows: Number of rows.
    """
    places = np.arange(1, right + 1)
    return float((places / (rows - right + places)).mean())


def aurocs(right: Floats, rows: Floats) -> Floats:
    """Compute AUROC from counts of correct rows and of all rows per threshold.

    The arguments ``right`` and ``rows`` are as for `average_precisions`.

    Returns:
        The AUROC of each sample, shape (...). AUROC is nan if all rows are correct, or if no row is
        correct.
    """
    wrong = rows - right
    all_wrong = wrong.sum(axis=-1)
    lower = all_wrong[..., None] - wrong.cumsum(axis=-1) + wrong / 2
    return divided((right * lower).sum(axis=-1), right.sum(axis=-1) * all_wrong)


def at_thresholds(right: ArrayLike, score: ArrayLike) -> tuple[Floats, Floats]:
    """For each distinct score in descending order, count the correct rows and all rows.

    Args:
        right: For each row, whether its answer is correct, shape (..., rows). An array with more
            than one dimension contains several assignments of labels (correct or incorrect) to the
            rows, for example permutations.
        score: The score of each row, shape (rows,).

    Returns:
        Two arrays: the number of correct rows with each distinct score, shape (..., thresholds),
        and the number of all rows with each distinct score, shape (thresholds,).

    Raises:
        ValueError: If the shapes of ``right`` and ``score`` do not match, or a score is nan.
    """
    labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
    if scores.ndim != 1 or labels.shape[-1:] != scores.shape:
        raise ValueError(f"right has shape {labels.shape} and score {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("a score is NaN; remove rows without a score")
    _, level, rows = np.unique(-scores, return_inverse=True, return_counts=True)
    counts = rows.astype(np.float64)
    return summed(labels[..., np.argsort(level, kind="stable")], counts), counts


def weighted_thresholds(
    right: ArrayLike, score: ArrayLike, weights: Floats
) -> tuple[Floats, Floats]:
    """Sum the weights of all rows, and of the correct rows, separately for each score.

    Args:
        right: For each row, whether its answer is correct, shape (rows,).
        score: The score of each row, shape (rows,). There must be at least one row.
        weights: The weight of each row, shape (samples, rows). For example, the weight of a row is
            the number of times that a resample draws the row.

    Returns:
        Two arrays of shape (samples, thresholds): for each sample and threshold (distinct score),
        the total weight of the correct rows with this score, and the total weight of all rows with
        this score.
    """
    labels, scores = np.asarray(right, dtype=np.float64), np.asarray(score, dtype=np.float64)
    _, level = np.unique(-scores, return_inverse=True)
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    rows = np.add.reduceat(weights[:, order], starts, axis=1)
    return np.add.reduceat((weights * labels)[:, order], starts, axis=1), rows


def summed(labels: NDArray[np.bool_], rows: Floats) -> Floats:
    """For each distinct score, count the correct rows that have this score.

    Args:
        labels: For each row, whether its answer is correct, shape (..., rows). The rows must be
            sorted by score, in the same direction as the counts in ``rows`` (for example, from the
            highest score to the lowest).
        rows: For each distinct score (threshold), the number of rows with that score, shape
            (thresholds,). Each number in ``rows`` must be at least 1.
    """
    if not len(rows):
        return np.zeros(labels.shape, dtype=np.float64)
    starts = np.concatenate([[0], rows.cumsum()[:-1]]).astype(np.intp)
    sums: Floats = np.add.reduceat(labels.astype(np.float64), starts, axis=-1)
    return sums


def divided(over: Floats, under: Floats) -> Floats:
    """Divide two arrays element by element; the result is nan where the denominator is 0."""
    shape = np.broadcast_shapes(over.shape, under.shape)
    ratios: Floats = np.divide(over, under, out=np.full(shape, np.nan), where=under != 0)
    return ratios


def _one(figure: Floats) -> float | None:
    return None if np.isnan(figure) else float(figure)
