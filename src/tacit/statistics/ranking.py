"""Ranking metrics and their chance levels, from counts of rows per distinct score."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
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


def chance_level(right: ArrayLike, score: ArrayLike) -> float | None:
    """Compute the exact mean of average precision over all permutations of ``right``."""
    at, rows = at_thresholds(right, score)
    return _one(chance_levels(at.sum(), rows))


def chance_levels(right: ArrayLike, rows: Floats) -> Floats:
    """Compute the chance level of average precision from counts of rows per threshold.

    The mean over all permutations of n labels, of which a share p is right, is
    p + (1 - p) (sum over thresholds of rows / rows above or at it - 1) / (n - 1).
    """
    all_right, n = np.asarray(right, dtype=np.float64), rows.sum(axis=-1)
    parts = divided(rows, rows.cumsum(axis=-1))
    more = np.where(rows > 0, parts, 0.0).sum(axis=-1) - 1
    share = divided(np.where(all_right > 0, all_right, np.nan), n)
    return share + (1 - share) * np.where(n > 1, divided(more, n - 1), 0.0)


def chance_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the expected average precision if the correct rows are random within each stratum."""
    n, top = rows.sum(axis=-2), rows.cumsum(axis=-2)
    share = np.divide(right, n, out=np.zeros_like(n), where=n > 0)
    both = np.divide(share * (right - 1), n - 1, out=share**2, where=n > 1)
    expected = _by_stratum(rows, share) * _by_stratum(top, share)
    expected += _by_stratum(rows * top, both - share**2) + _by_stratum(rows, share - both)
    above = top.sum(axis=-1)
    precision = np.divide(expected, above, out=np.zeros_like(expected), where=above > 0)
    return divided(precision.sum(axis=-1), right.sum(axis=-1))


def _by_stratum(values: Floats, factors: Floats) -> Floats:
    """Multiply the values of each stratum by the stratum's factor, and sum over the strata."""
    sums: Floats = np.einsum("...ts,...s->...t", values, factors)
    return sums


def lift(average_precision: float | None, chance: float | None) -> float | None:
    """Return the lift (average precision - chance)/(1 - chance); None if it is undefined."""
    if average_precision is None or chance is None or chance >= 1:
        return None
    return (average_precision - chance) / (1 - chance)


def lifts_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the lift of each sample from counts of rows per threshold and stratum."""
    chance = chance_within_strata(right.sum(axis=-2), rows)
    over = average_precisions(right.sum(axis=-1), rows.sum(axis=-1)) - chance
    return np.divide(over, 1 - chance, out=np.full_like(over, np.nan), where=chance < 1)


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
