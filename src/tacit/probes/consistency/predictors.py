"""Predictors of correct answers: logistic regressions on features, cross-validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tacit.findings.numbers import estimate
from tacit.probes.consistency import TABLES
from tacit.probes.consistency.features import (
    ANSWER,
    BACKGROUND,
    BASE_RATE,
    BOTH,
    FEATURES,
    MARGIN,
    PREDICTORS,
)
from tacit.statistics import Bootstrap, regression
from tacit.statistics.estimate import Estimate
from tacit.statistics.ranking import aurocs, divided, weighted_thresholds
from tacit.statistics.regression import Logistic

Floats: TypeAlias = NDArray[np.float64]

OPTIONAL = ("prior", "frequency")
"""Features that predictors use only if an anchor question of the run has a value for them."""

PAIRS = (
    *((BOTH, BASE_RATE), (BOTH, MARGIN), (BOTH, ANSWER)),
    *((BACKGROUND, BASE_RATE), (MARGIN, BASE_RATE)),
)
"""The pairs of predictors that are compared."""

MEASURES = ("auroc", "brier")
STORED = (MARGIN, BOTH)
"""The predictors that are stored with a run, to predict new questions."""


@dataclass(frozen=True)
class TrainingSet:
    """The anchor questions that have an answer and all features."""

    table: pl.DataFrame
    left_out: int

    @classmethod
    def of(cls, features: pl.DataFrame, anchors: pl.DataFrame) -> TrainingSet:
        answered = features.with_columns(anchors["anchor", "right", "cluster"]).drop_nulls("right")
        absent = [name for name in OPTIONAL if answered[name].is_null().all()]
        whole = answered.drop(absent).drop_nulls(set(FEATURES) - set(absent))
        return cls(whole, answered.height - whole.height)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        return self.table["right"].to_numpy().astype(bool)

    @cached_property
    def clusters(self) -> NDArray[np.str_]:
        return self.table["cluster"].to_numpy().astype(str)

    @cached_property
    def undefined(self) -> str | None:
        """Why no predictor can be fitted, as a clause; None if predictors can be fitted."""
        return regression.why_not(self.right, self.clusters)

    def names(self, predictor: str) -> list[str]:
        """Return the names of a predictor's features that have values in the run."""
        return [name for name in PREDICTORS[predictor] if name in self.table.columns]

    def matrix(self, predictor: str) -> Floats:
        """Return the values of a predictor's features, shape (rows, features)."""
        names = self.names(predictor)
        values = self.table.select(names).to_numpy(order="c")
        return values.reshape(self.table.height, len(names))

    @cached_property
    def fold(self) -> NDArray[np.intp]:
        return regression.folds(self.right, self.clusters)

    @cached_property
    def predicted(self) -> Mapping[str, Floats]:
        """The out-of-fold probabilities by predictor; empty if the predictors cannot be fitted."""
        return {
            name: regression.out_of_fold(self.right, self.matrix(name), self.clusters, self.fold)
            for name in (PREDICTORS if self.undefined is None else ())
        }


def tables(rows: TrainingSet, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    n, estimates = rows.table.height, _estimates(rows, bootstrap)
    none = dict.fromkeys(MEASURES, Estimate(None, None, None))
    pairs = PAIRS if estimates else ()
    return {
        "prediction": TABLES["prediction"].frame(
            {
                "predictor": name,
                "n": n,
                **estimates.get((name, ""), none),
                "undefined": rows.undefined,
            }
            for name in PREDICTORS
        ),
        "prediction_gains": TABLES["prediction_gains"].frame(
            {"predictor": one, "over": two, "n": n, **estimates[one, two]} for one, two in pairs
        ),
        "predictions": TABLES["predictions"].frame(
            rows.table.select("anchor", "right").to_dicts() if estimates else (),
            **({"fold": rows.fold, **rows.predicted} if estimates else {}),
        ),
    }


def _estimates(
    rows: TrainingSet, bootstrap: Bootstrap
) -> dict[tuple[str, str], dict[str, Estimate]]:
    """Estimate the measures of each predictor, and the differences between two predictors."""
    if rows.undefined is not None:
        return {}
    keys = [*((name, "") for name in PREDICTORS), *PAIRS]
    values = iter(bootstrap.weighted(rows.clusters, lambda weights: _measured(rows, weights)))
    return {key: {measure: next(values) for measure in MEASURES} for key in keys}


def _measured(rows: TrainingSet, weights: Floats) -> Floats:
    """Return the measures of each predictor, then their differences for each pair."""
    each = {}
    for name, probability in rows.predicted.items():
        ranked = np.zeros_like(probability) if name == BASE_RATE else probability
        area = aurocs(*weighted_thresholds(rows.right, ranked, weights))
        brier = divided(weights @ (probability - rows.right) ** 2, weights.sum(axis=-1))
        each[name] = np.stack([area, brier], axis=1)
    gains = [each[one] - each[two] for one, two in PAIRS]
    return np.concatenate([*each.values(), *gains], axis=1)


RIVALS = {
    BASE_RATE: "the base rate",
    MARGIN: "the answer margin alone",
    ANSWER: "the features of the answer alone",
}


def caution(gains: pl.DataFrame) -> str | None:
    """Return a sentence on the first rival that the predictor ``both`` does not exceed."""
    by_rival = {row["over"]: row for row in gains.filter(predictor=BOTH).iter_rows(named=True)}
    for rival, words in RIVALS.items():
        gain = by_rival[rival]
        # A gain without an interval is equal in all resamples.
        least = gain["auroc"] if gain["auroc_low"] is None else gain["auroc_low"]
        if (least or 0.0) <= 0:
            auroc = estimate(gain["auroc"], gain["auroc_low"], gain["auroc_high"], "signed")
            return (
                "In the run, there is no evidence that all features predict correct answers better "
                f"than {words} (AUROC {auroc})."
            )
    return None


@dataclass(frozen=True)
class Predictor:
    """A fitted predictor, as it is stored in the summary of a run."""

    features: list[str]
    lowest: list[float]
    highest: list[float]
    means: list[float]
    scales: list[float]
    coefficients: list[float]
    covariance: list[list[float]]

    def missing(self, values: Mapping[str, float | None]) -> list[str]:
        return [name for name in self.features if values[name] is None]

    def outside(self, values: Mapping[str, float]) -> list[str]:
        """Return the names of the features whose values no question of the run reaches."""
        ends = zip(self.features, self.lowest, self.highest, strict=True)
        return [name for name, low, high in ends if not low <= values[name] <= high]

    def probability(self, values: Mapping[str, float]) -> tuple[float, float, float]:
        """Return the predicted probability of a correct answer, and the ends of its interval."""
        parts = (self.means, self.scales, self.coefficients, self.covariance)
        p = Logistic(*map(np.array, parts)).interval([values[name] for name in self.features])
        return cast("tuple[float, float, float]", (p.value, p.low, p.high))


def summary(rows: TrainingSet) -> dict[str, Any]:
    """Return how the predictors were fitted, and those that predict new questions."""
    return {
        "left_out": rows.left_out,
        "folds": regression.FOLDS,
        "penalty": regression.PENALTY,
        "fitted": {
            name: asdict(_fitted(rows, name)) for name in (STORED if rows.undefined is None else ())
        },
    }


def _fitted(rows: TrainingSet, name: str) -> Predictor:
    matrix = rows.matrix(name)
    logistic = regression.fit(rows.right, matrix, rows.clusters)
    about = (matrix.min(axis=0), matrix.max(axis=0), logistic.means, logistic.scales)
    parts = (*about, logistic.coefficients, logistic.covariance)
    return Predictor(rows.names(name), *(part.tolist() for part in parts))


def stored(summary: Mapping[str, Any]) -> dict[str, Predictor]:
    """Return the predictors in the summary of a run; empty if none was fitted."""
    from pydantic import TypeAdapter

    fitted = summary["predictor"]["fitted"]
    return TypeAdapter(dict[str, Predictor]).validate_python(fitted)
