"""The figures of a ranking on scales without ends, and what each row moves them by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.permutation import chance_levels
from tacit.statistics.ranking import aurocs, average_precisions

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]


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
