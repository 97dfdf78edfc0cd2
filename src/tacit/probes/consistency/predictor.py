"""Fit predictors of correct answers, store them with a run, and load them from a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.features import BOTH, MARGIN
from tacit.probes.consistency.tables import TABLES
from tacit.statistics import logistic
from tacit.statistics.logistic import Logistic

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.consistency.prediction import Rows
    from tacit.statistics import Estimate

STORED = (MARGIN, BOTH)
"""The names of the predictors that are stored with a run."""

INTERCEPT = "intercept"


@dataclass(frozen=True)
class Predictor:
    """A fitted predictor of the probability that an anchor question is answered correctly."""

    name: str
    features: tuple[str, ...]
    ranges: tuple[tuple[float, float], ...]
    fitted: Logistic

    def missing(self, values: Mapping[str, float | None]) -> list[str]:
        """Return the names of the predictor's features that have no value in ``values``."""
        return [name for name in self.features if values[name] is None]

    def outside(self, values: Mapping[str, float | None]) -> list[str]:
        """Return the names of the features whose values are outside ``ranges``."""
        ends = zip(self.features, self.ranges, strict=True)
        return [name for name, (low, high) in ends if not low <= (values[name] or 0.0) <= high]

    def probability(self, values: Mapping[str, float | None]) -> Estimate:
        """Return the predicted probability of a correct answer, with a confidence interval."""
        return self.fitted.interval([float(values[name] or 0.0) for name in self.features])


def tables(rows: Rows) -> dict[str, pl.DataFrame]:
    """Fit the predictors to the anchor questions in ``rows``, and tabulate the results."""
    import polars as pl

    names = STORED if rows.undefined is None else ()
    fitted = {name: logistic.fit(rows.right, rows.matrix(name), rows.clusters) for name in names}
    coefficients, covariances = [], []
    for name, one in fitted.items():
        features = (INTERCEPT, *rows.names(name))
        matrix = rows.matrix(name)
        about = [one.means, one.scales, matrix.min(axis=0), matrix.max(axis=0)]
        scaling = [[None] * len(about), *np.stack(about, axis=1).tolist()]
        for at, feature in enumerate(features):
            error = float(np.sqrt(max(one.covariance[at, at], 0.0)))
            coefficients.append((name, feature, *scaling[at], float(one.coefficients[at]), error))
            covariances += [
                (name, feature, other, value)
                for other, value in zip(features, one.covariance[at].tolist(), strict=True)
            ]
    return {
        "predictor": pl.DataFrame(coefficients, TABLES["predictor"].schema, orient="row"),
        "predictor_covariance": pl.DataFrame(
            covariances, TABLES["predictor_covariance"].schema, orient="row"
        ),
    }


def stored(found: Mapping[str, pl.DataFrame]) -> dict[str, Predictor]:
    """Return the fitted predictors from a run's tables; empty if none was fitted."""
    covariances = found["predictor_covariance"]
    predictors = {}
    for (name,), part in found["predictor"].group_by("predictor", maintain_order=True):
        features = part.slice(1)
        covariance = covariances.filter(predictor=name)["covariance"].to_numpy()
        fitted = Logistic(
            features["mean"].to_numpy(),
            features["scale"].to_numpy(),
            part["coefficient"].to_numpy(),
            covariance.reshape(part.height, part.height),
        )
        ranges = tuple(features.select("lowest", "highest").rows())
        predictors[str(name)] = Predictor(str(name), tuple(features["feature"]), ranges, fitted)
    return predictors
