"""How well a score ranks what is right above what is wrong.

Rows with the same score stand at one threshold. All there is to know of a ranking is how many rows
stand at each threshold, highest score first, and how many of them are right; the functions in the
plural take these counts, for many samples at once. Scores are tied when they are equal as floating
point numbers, so what is equal on paper has to be computed alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]


def average_precision(right: ArrayLike, score: ArrayLike) -> float | None:
    """The precision at each threshold, weighted by the recall it gains (equation 3 of Sahu 2022).

    Args:
        right: Whether each row is right, shape (rows,).
        score: What is to predict it, shape (rows,).

    Returns:
        The average precision; None when no row is right.

    Raises:
        ValueError: The shapes differ, or a score is not a number.
    """
    return _one(average_precisions(*at_thresholds(right, score)))


def auroc(right: ArrayLike, score: ArrayLike) -> float | None:
    """The share of pairs of a right and a wrong row in which the right one scores higher.

    Args:
        right: Whether each row is right, shape (rows,).
        score: What is to predict it, shape (rows,); a tie counts half.

    Returns:
        The area under the receiver operating characteristic; None when all rows are right, or none.

    Raises:
        ValueError: The shapes differ, or a score is not a number.
    """
    return _one(aurocs(*at_thresholds(right, score)))


def average_precisions(right: Floats, rows: Floats) -> Floats:
    """Average precision by the counts at each threshold, shape (..., thresholds).

    Args:
        right: How many right rows stand at each threshold, highest first.
        rows: How many rows; may be 0, as in a resample.

    Returns:
        Shape (...); nan where no row is right.
    """
    precision = divided(right.cumsum(axis=-1), rows.cumsum(axis=-1))
    gained = np.where(right > 0, right * precision, 0.0)
    return divided(gained.sum(axis=-1), right.sum(axis=-1))


def least_average_precision(right: int, rows: int) -> float:
    """The lowest possible average precision: all right rows at the bottom, without ties.

    The i-th right row from the top then has the precision i/(rows - right + i) (Boyd et al. 2012).

    Args:
        right: How many rows are right; at least 1.
        rows: How many rows there are.
    """
    places = np.arange(1, right + 1)
    return float((places / (rows - right + places)).mean())


def aurocs(right: Floats, rows: Floats) -> Floats:
    """AUROC by the counts at each threshold, as `average_precisions` takes them.

    Returns:
        Shape (...); nan where all rows are right, or none.
    """
    wrong = rows - right
    all_wrong = wrong.sum(axis=-1)
    lower = all_wrong[..., None] - wrong.cumsum(axis=-1) + wrong / 2
    return divided((right * lower).sum(axis=-1), right.sum(axis=-1) * all_wrong)


def at_thresholds(right: ArrayLike, score: ArrayLike) -> tuple[Floats, Floats]:
    """How many rows are right at each threshold, highest score first, and how many there are.

    Args:
        right: Whether each row is right, shape (..., rows): many labellings of the same rows.
        score: Shape (rows,).

    Returns:
        Shapes (..., thresholds) and (thresholds,).

    Raises:
        ValueError: The shapes differ, or a score is not a number.
    """
    labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
    if scores.ndim != 1 or labels.shape[-1:] != scores.shape:
        raise ValueError(f"right has shape {labels.shape} and score {scores.shape}")
    if np.isnan(scores).any():
        raise ValueError("a score is not a number; leave out the rows that have none")
    _, level, rows = np.unique(-scores, return_inverse=True, return_counts=True)
    counts = rows.astype(np.float64)
    return summed(labels[..., np.argsort(level, kind="stable")], counts), counts


def summed(labels: NDArray[np.bool_], rows: Floats) -> Floats:
    """How many of consecutive rows are right: the first ``rows[0]`` rows, the next, and so on.

    Args:
        labels: Shape (..., rows), in the order of the thresholds.
        rows: How many rows each threshold has, none of them 0; shape (thresholds,).
    """
    if not len(rows):
        return np.zeros(labels.shape, dtype=np.float64)
    starts = np.concatenate([[0], rows.cumsum()[:-1]]).astype(np.intp)
    sums: Floats = np.add.reduceat(labels.astype(np.float64), starts, axis=-1)
    return sums


def divided(over: Floats, under: Floats) -> Floats:
    """Element by element; nan where there is nothing below."""
    shape = np.broadcast_shapes(over.shape, under.shape)
    ratios: Floats = np.divide(over, under, out=np.full(shape, np.nan), where=under != 0)
    return ratios


def _one(figure: Floats) -> float | None:
    return None if np.isnan(figure) else float(figure)
