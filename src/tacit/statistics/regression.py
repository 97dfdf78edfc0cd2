"""Adjusted odds ratios by logistic regression, with cluster-robust standard errors."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.statistics.intervals import Change, Estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

# Reasons why there is no odds ratio.
NO_ROWS = "no rows"
UNDEFINED = "all right or all wrong"
CONSTANT = "a constant predictor"
SEPARATED = "predictors that separate right from wrong"
FEW_CLUSTERS = "too few clusters"
FEW_ROWS = "too few rows"
FEWEST_CLUSTERS = 10
_ROWS_PER_PREDICTOR = 10
# A larger log odds ratio or standard error shows that the estimate diverges.
_DIVERGED = 50.0


@dataclass(frozen=True)
class OddsRatio:
    """The odds ratio of one predictor, with all other predictors held fixed."""

    n: int
    ratio: Estimate
    log_error: float | None
    p_value: float | None
    undefined: str | None
    influence: Floats | None = field(default=None, compare=False, repr=False)

    @property
    def logarithm(self) -> float | None:
        """The natural logarithm of the odds ratio; None if the odds ratio is undefined."""
        return None if self.ratio.value is None else float(np.log(self.ratio.value))


def odds_ratio(
    right: ArrayLike, predictors: Mapping[str, ArrayLike], clusters: ArrayLike, level: float = 0.95
) -> OddsRatio:
    """Estimate the odds ratio of the first predictor, adjusted for the other predictors."""
    labels = np.asarray(right, dtype=np.float64)
    if not len(labels):
        return OddsRatio(0, Estimate(None, None, None), None, None, NO_ROWS)
    first, *rest = (np.asarray(each, dtype=np.float64) for each in predictors.values())
    columns = [first, *(each for each in rest if np.ptp(each) > 0)]
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    reason = _why_not(labels, columns, groups)
    if reason is None:
        fitted = _fitted(labels, np.column_stack(columns), groups)
        if fitted is not None:
            return _estimated(len(labels), *fitted, level)
        reason = SEPARATED
    return OddsRatio(len(labels), Estimate(None, None, None), None, None, reason)


def _why_not(labels: Floats, columns: list[Floats], groups: NDArray[np.intp]) -> str | None:
    right = int(labels.sum())
    if right in {0, len(labels)}:
        return UNDEFINED
    if not np.ptp(columns[0]) > 0:
        return CONSTANT
    if groups.max() + 1 < FEWEST_CLUSTERS:
        return FEW_CLUSTERS
    few = min(right, len(labels) - right) < _ROWS_PER_PREDICTOR * len(columns)
    return FEW_ROWS if few else None


def difference(first: OddsRatio, second: OddsRatio, level: float = 0.95) -> Change:
    """Return log(second odds ratio) - log(first odds ratio)."""
    from scipy.special import ndtr, ndtri

    one, other = first.logarithm, second.logarithm
    if one is None or other is None or first.influence is None or second.influence is None:
        return Change(None, None, None)
    value = other - one
    error = float(np.sqrt(((second.influence - first.influence) ** 2).sum()))
    if not error > 0:
        return Change(value, None, None)
    reach = float(ndtri((1 + level) / 2)) * error
    return Change(value, value - reach, value + reach, float(2 * ndtr(-abs(value / error))))


def _fitted(
    labels: Floats, columns: Floats, groups: NDArray[np.intp]
) -> tuple[float, float, Floats] | None:
    """Return the first predictor's coefficient, its standard error, and cluster influences."""
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import ModelWarning, PerfectSeparationError

    # Standardised, so that the fit converges whatever the units are.
    scale = columns.std(axis=0)
    design = np.column_stack([np.ones(len(labels)), (columns - columns.mean(axis=0)) / scale])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", ModelWarning)
            warnings.simplefilter("error", RuntimeWarning)
            found = Logit(labels, design).fit(
                disp=False, method="newton", cov_type="cluster", cov_kwds={"groups": groups}
            )
    except (ModelWarning, RuntimeWarning, PerfectSeparationError, np.linalg.LinAlgError):
        return None
    value, error = float(found.params[1]), float(found.bse[1])
    if not np.isfinite([value, error]).all() or max(abs(value), error) > _DIVERGED:
        return None
    scores = np.zeros((int(groups.max()) + 1, design.shape[1]))
    np.add.at(scores, groups, design * (labels - found.predict())[:, None])
    moved = scores @ np.linalg.inv(-found.model.hessian(found.params))[1]
    # statsmodels multiplies the error by a factor for small samples.
    moved *= error / float(np.sqrt((moved**2).sum()))
    unit = float(scale[0])
    return value / unit, error / unit, moved / unit


def _estimated(n: int, value: float, error: float, influence: Floats, level: float) -> OddsRatio:
    from scipy.special import ndtr, ndtri

    reach = float(ndtri((1 + level) / 2)) * error
    ratio, low, high = (float(np.exp(each)) for each in (value, value - reach, value + reach))
    p_value = float(2 * ndtr(-abs(value / error))) if error > 0 else None
    return OddsRatio(n, Estimate(ratio, low, high), error, p_value, None, influence)
