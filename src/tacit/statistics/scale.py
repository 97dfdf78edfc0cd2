"""How a figure changes with the size of models: the slope, and Page's trend test.

The slope is that of a least-squares line through one point per model: the figure against log10 of
the number of parameters. Its interval resamples clusters of questions, the same ones for all
models, so it shows how much the slope depends on the questions, and not on the choice of models.
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
            times the sum of its ranks within blocks. None if there is no test.
        p_value: One-sided, against no trend.
        blocks: The number of blocks in which the figure is defined for all models.
        reason: Why there is no test; None if there is one.
    """

    statistic: float | None
    p_value: float | None
    blocks: int
    reason: str | None = None


def slopes(parameters: Sequence[int], values: Floats) -> Floats:
    """Fit least-squares lines over log10 of the number of parameters, and return their slopes.

    Args:
        parameters: The number of parameters of each model, of at least two sizes.
        values: The figure of each model, shape (..., models).

    Returns:
        The change of the figure per tenfold number of parameters, shape (...); NaN where the figure
        is undefined for a model.
    """
    x = np.log10(np.asarray(parameters, dtype=np.float64))
    x -= x.mean()
    found: Floats = values @ (x / (x**2).sum())
    return found


def slope(
    parameters: Sequence[int], observed: Floats, resampled: Floats | None, how: Bootstrap
) -> tuple[Change, str | None]:
    """Estimate the slope of a figure.

    Args:
        parameters: The number of parameters of each model.
        observed: The figure of each model, shape (models,).
        resampled: The figure in each resample, shape (resamples, models); None if there are fewer
            than two clusters.
        how: The bootstrap that drew the resamples.

    Returns:
        The slope, and why it or its interval is undefined; None if neither is.
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
    """Test whether a figure rises with the size of models in Page's sense.

    Args:
        parameters: The number of parameters of each model.
        blocks: The figure of each model in each block, shape (blocks, models). Blocks in which it
            is undefined (NaN) for a model are ignored.
        falls: Whether to test that the figure falls.
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
