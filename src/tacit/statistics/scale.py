"""How a metric changes with model size: the slope, and Page's trend test.

The slope belongs to a least-squares line of the metric over log10 of the number of parameters, with
one point per model. The interval of the slope is computed from resampled clusters of questions,
with the same resamples for all models. The interval shows how much the slope depends on the
questions, but not how much the slope depends on the choice of models.
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
    """The result of Page's test.

    Args:
        statistic: Page's L: the sum over models of the model's number, counted from the smallest,
            times the sum of the model's ranks within blocks. The statistic is None if no test is
            possible.
        p_value: The one-sided p-value against no trend.
        blocks: The number of blocks in which the metric is defined for all models.
        reason: The reason why no test is possible; None if the test was run.
    """

    statistic: float | None
    p_value: float | None
    blocks: int
    reason: str | None = None


def slopes(parameters: Sequence[int], values: Floats) -> Floats:
    """Return the slopes of least-squares lines over log10 of the number of parameters.

    Args:
        parameters: The number of parameters of each model; the models must have at least two
            different sizes.
        values: The metric of each model, shape (..., models).

    Returns:
        The change of the metric per tenfold increase in the number of parameters, shape (...); NaN
        where the metric is undefined for a model.
    """
    x = np.log10(np.asarray(parameters, dtype=np.float64))
    x -= x.mean()
    found: Floats = values @ (x / (x**2).sum())
    return found


def slope(
    parameters: Sequence[int], observed: Floats, resampled: Floats | None, how: Bootstrap
) -> tuple[Change, str | None]:
    """Estimate the slope of a metric over log10 of the number of parameters.

    Args:
        parameters: The number of parameters of each model.
        observed: The metric of each model, shape (models,).
        resampled: The metric of each model in each resample, shape (resamples, models); None if
            there are fewer than two clusters.
        how: The bootstrap that drew the resamples.

    Returns:
        The slope, and the reason why the slope or its interval is undefined; None if both are
        defined.
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
    """Test by Page's trend test whether a metric rises with model size.

    Args:
        parameters: The number of parameters of each model.
        blocks: The metric of each model in each block, shape (blocks, models). Blocks in which the
            metric of a model is undefined (NaN) are ignored.
        falls: Whether to test that the metric falls with model size.
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
