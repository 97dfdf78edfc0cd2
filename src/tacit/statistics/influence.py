"""The influence of each row on a ranking metric, which gives the metric's standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.statistics.ranking import aurocs, average_precisions

Floats: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Influence:
    """A metric in several samples, and the influence of each row on the metric."""

    value: Floats
    right: Floats
    wrong: Floats


def of_average_precision(right: Floats, rows: Floats) -> Influence:
    """Compute -log(1 - average precision) of each sample, and the influence of each row."""
    all_right, above = right.sum(axis=1, keepdims=True), rows.cumsum(axis=-1)
    average = average_precisions(right, rows)[:, None]
    precision = right.cumsum(axis=1) / above
    raised = precision + onward(right / above) - average
    lowered = onward(right * precision / above)
    rest = (1 - average) * all_right
    with np.errstate(divide="ignore", invalid="ignore"):
        return Influence(-np.log(1 - average[:, 0]), (raised - lowered) / rest, -lowered / rest)


def of_auroc(right: Floats, rows: Floats) -> Influence:
    """Compute each sample's log-odds of AUROC, and each row's influence on the log-odds."""
    wrong = rows - right
    all_right, all_wrong = right.sum(axis=1, keepdims=True), wrong.sum(axis=1, keepdims=True)
    area = aurocs(right, rows)[:, None]
    lower = (onward(wrong) - wrong / 2) / all_wrong
    higher = (right.cumsum(axis=1) - right / 2) / all_right
    slope = area * (1 - area)
    with np.errstate(divide="ignore", invalid="ignore"):
        return Influence(
            np.log(area[:, 0]) - np.log(1 - area[:, 0]),
            (lower - area) / all_right / slope,
            (higher - area) / all_wrong / slope,
        )


def onward(values: Floats) -> Floats:
    """For each value, return the sum of that value and all later values."""
    onward: Floats = values[..., ::-1].cumsum(axis=-1)[..., ::-1]
    return onward
