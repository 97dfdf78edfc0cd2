"""Ranking metrics: how well a score ranks correct answers above incorrect answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def average_precision(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute average precision: the sum over thresholds of precision times gain in recall."""
    return _one(average_precisions(*at_thresholds(right, score)))


def auroc(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the AUROC of a score that should be higher for correct answers."""
    return _one(aurocs(*at_thresholds(right, score)))


def average_precisions(right: Floats, rows: Floats) -> Floats:
    """Compute average precision from counts of correct rows and of all rows per score."""
    precision = divided(right.cumsum(axis=-1), rows.cumsum(axis=-1))
    gained = np.where(right > 0, right * precision, 0.0)
    return divided(gained.sum(axis=-1), right.sum(axis=-1))


def least_average_precision(right: int, rows: int) -> float:
    """Compute the lowest possible average precision: all correct rows are ranked last."""
    places = np.arange(1, right + 1)
    return float((places / (rows - right + places)).mean())


def aurocs(right: Floats, rows: Floats) -> Floats:
    """Compute AUROC from counts of correct rows and of all rows per threshold."""
    wrong = rows - right
    all_wrong = wrong.sum(axis=-1)
    lower = all_wrong[..., None] - wrong.cumsum(axis=-1) + wrong / 2
    return divided((right * lower).sum(axis=-1), right.sum(axis=-1) * all_wrong)


def at_thresholds(right: ArrayLike, score: ArrayLike) -> tuple[Floats, Floats]:
    """For each distinct score in descending order, count the correct rows and all rows."""
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
    """Sum the weights of all rows, and of the correct rows, separately for each score."""
    labels, scores = np.asarray(right, dtype=np.float64), np.asarray(score, dtype=np.float64)
    _, level = np.unique(-scores, return_inverse=True)
    order = np.argsort(level, kind="stable")
    starts = np.flatnonzero(np.diff(level[order], prepend=-1))
    rows = np.add.reduceat(weights[:, order], starts, axis=1)
    return np.add.reduceat((weights * labels)[:, order], starts, axis=1), rows


def summed(labels: NDArray[np.bool_], rows: Floats) -> Floats:
    """For each distinct score, count the correct rows that have this score."""
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
