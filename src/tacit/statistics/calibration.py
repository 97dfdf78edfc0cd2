"""Errors of predicted probabilities: Brier score and expected calibration error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.ranking import divided

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]

BINS = 10
"""The number of bins of predicted probabilities; all bins have the same width.

Each bin includes its upper end.
"""


def brier_score(right: ArrayLike, probability: ArrayLike) -> float | None:
    """Compute the Brier score (mean squared error); return None if there are no rows."""
    return _one(brier_scores(right, probability, _once(right)))


def brier_scores(right: ArrayLike, probability: ArrayLike, weights: Floats) -> Floats:
    """Compute the Brier score of each sample; NaN if a sample has no rows."""
    errors = (np.asarray(probability) - np.asarray(right, dtype=np.float64)) ** 2
    return divided(weights @ errors, weights.sum(axis=-1))


def calibration_error(right: ArrayLike, probability: ArrayLike) -> float | None:
    """Compute the expected calibration error; None if there are no rows."""
    return _one(calibration_errors(right, probability, _once(right)))


def calibration_errors(right: ArrayLike, probability: ArrayLike, weights: Floats) -> Floats:
    """Compute the expected calibration error of each sample; NaN if a sample has no rows."""
    excess = np.asarray(probability) - np.asarray(right, dtype=np.float64)
    in_bin = np.eye(BINS)[bin_of(probability)]
    gaps = np.abs((weights * excess) @ in_bin)
    return divided(gaps.sum(axis=-1), weights.sum(axis=-1))


def bin_of(probability: ArrayLike) -> Ints:
    """For each probability, return the index of its bin, counted from 0."""
    inner = np.linspace(0, 1, BINS + 1)[1:-1]
    bins: Ints = np.searchsorted(inner, np.asarray(probability, dtype=np.float64))
    return bins


@dataclass(frozen=True)
class Bin:
    """The rows whose probabilities lie in one bin."""

    low: float
    high: float
    rows: Ints
    predicted: float


def calibration_bins(probability: ArrayLike) -> list[Bin]:
    """Return the bins that contain at least one row, in ascending order."""
    values, bins = np.asarray(probability, dtype=np.float64), bin_of(probability)
    ends = np.linspace(0, 1, BINS + 1)
    found = [(at, np.flatnonzero(bins == at)) for at in range(BINS)]
    return [
        Bin(float(ends[at]), float(ends[at + 1]), rows, float(values[rows].mean()))
        for at, rows in found
        if len(rows)
    ]


def _once(right: ArrayLike) -> Floats:
    return np.ones((1, np.size(right)))


def _one(figures: Floats) -> float | None:
    return None if np.isnan(figures[0]) else float(figures[0])
