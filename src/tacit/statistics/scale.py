"""How a metric changes with model size: a least-squares slope and Page's trend test."""

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
    """The result of Page's trend test."""

    statistic: float | None
    p_value: float | None
    blocks: int
    reason: str | None = None


def slopes(parameters: Sequence[int], values: Floats) -> Floats:
    """Return the slopes of least-squares lines over log10 of the number of parameters."""
    x = np.log10(np.asarray(parameters, dtype=np.float64))
    x -= x.mean()
    found: Floats = values @ (x / (x**2).sum())
    return found


def slope(
    parameters: Sequence[int], observed: Floats, resampled: Floats | None, how: Bootstrap
) -> tuple[Change, str | None]:
    """Estimate the slope of a metric over log10 of the number of model parameters."""
    if len(set(parameters)) < FEWEST_SIZES:
        return Change(None, None, None), ONE_SIZE
    value = float(slopes(parameters, observed))
    if np.isnan(value):
        return Change(None, None, None), UNDEFINED
    if resampled is None:
        return Change(value, None, None), FEW_CLUSTERS
    return how.change(value, slopes(parameters, resampled)), None


def trend(parameters: Sequence[int], blocks: Floats, *, falls: bool = False) -> Trend:
    """Test whether a metric rises with model size, by Page's trend test."""
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
