"""How a metric changes with model size: a least-squares slope and Page's trend test.

Each model is one point, and a least-squares line is fitted to the points. The horizontal coordinate
of a model's point is log10 of the number of parameters, and the vertical coordinate is the metric.
The interval of the slope is computed by resampling clusters of questions. The same resamples are
used for all models. The slope's confidence interval shows how much the slope depends on the
questions, but not how much it depends on the choice of models.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.intervals import Bootstrap, Change

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats: TypeAlias = NDArray[np.float64]

FEWEST_SIZES = 2
FEWEST_MODELS, FEWEST_BLOCKS = 3, 2

# Reasons why there is no slope, interval or trend.
ONE_SIZE = "fewer than 2 sizes"
UNDEFINED = "undefined for a model"
FEW_CLUSTERS = "no interval: fewer than 2 clusters"
FEW_MODELS = "no trend test: fewer than 3 models"
EQUAL_SIZES = "no trend test: models of equal size"
FEW_BLOCKS = "no trend test: fewer than 2 blocks"


@dataclass(frozen=True)
class Trend:
    """The result of Page's trend test.

    Args:
        statistic: The statistic L of Page's trend test. The models are ranked by the metric within
            each block of question clusters, and each model's ranks are summed over all blocks. The
            statistic L is a weighted sum of the models' rank sums. The weight of a model is its
            position in the order of size, counted from 1 for the smallest model. The statistic is
            None if Page's trend test is not possible, for example with fewer than 3 models.
        p_value: The one-sided p-value of the null hypothesis that there is no trend.
        blocks: The number of blocks (groups of question clusters) in which the metric of every
            model is defined.
        reason: The reason why no test is possible; None if the test was run.
    """

    statistic: float | None
    p_value: float | None
    blocks: int
    reason: str | None = None


def slopes(parameters: Sequence[int], values: Floats) -> Floats:
    """Return the slopes of least-squares lines over log10 of the number of parameters.

    Args:
        parameters: The number of parameters of each model. The models must have at least two
            different sizes.
        values: The metric of each model, shape (..., models).

    Returns:
        The slope of each line: the change of the metric when the number of parameters is multiplied
        by 10, shape (...). A slope is NaN if the metric of any model is undefined.
    """
    x = np.log10(np.asarray(parameters, dtype=np.float64))
    x -= x.mean()
    found: Floats = values @ (x / (x**2).sum())
    return found


def slope(
    parameters: Sequence[int], observed: Floats, resampled: Floats | None, how: Bootstrap
) -> tuple[Change, str | None]:
    """Estimate the slope of a metric over log10 of the number of model parameters.

    Args:
        parameters: The number of parameters of each model.
        observed: The metric of each model, shape (models,).
        resampled: The metric of each model in each resample, shape (resamples, models). None if
            there are fewer than two clusters.
        how: The bootstrap with which the resamples were drawn.

    Returns:
        The slope with its interval, and the reason why the slope or the interval is undefined. The
        reason is None if the slope and the interval are both defined.
    """
    if len(set(parameters)) < FEWEST_SIZES:
        return Change(None, None, None), ONE_SIZE
    value = float(slopes(parameters, observed))
    if np.isnan(value):
        return Change(None, None, None), UNDEFINED
    if resampled is None:
        return Change(value, None, None), FEW_CLUSTERS
    return how.change(value, slopes(parameters, resampled)), None


def trend(parameters: Sequence[int], blocks: Floats, *, falls: bool = False) -> Trend:
    """Test whether a metric rises with model size, by Page's trend test.

    Args:
        parameters: The number of parameters of each model.
        blocks: The metric of each model in each block (a group of question clusters), shape
            (blocks, models). If the metric of a model is undefined (NaN) in a block, the block is
            ignored.
        falls: Whether the test is for a metric that falls with model size (True) or rises with
            model size (False).
    """
    from scipy.stats import page_trend_test

    defined = blocks[~np.isnan(blocks).any(axis=1)]
    if len(parameters) < FEWEST_MODELS:
        return Trend(None, None, len(defined), FEW_MODELS)
    if len(set(parameters)) < len(parameters):
        return Trend(None, None, len(defined), EQUAL_SIZES)
    if len(defined) < FEWEST_BLOCKS:
        return Trend(None, None, len(defined), FEW_BLOCKS)
    ordered = defined[:, np.argsort(parameters)]
    # Ranks count equal values as equal, so remove differences that are rounding only.
    found = page_trend_test(np.round(-ordered if falls else ordered, 12))
    return Trend(float(found.statistic), float(found.pvalue), len(defined))
