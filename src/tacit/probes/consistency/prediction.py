"""Predict whether each anchor is answered correctly: background, answer margin, both, base rate.

Each predictor is a ridge-penalised logistic regression, cross-validated with question concepts kept
together (METHODS section 4, "Prediction"). All predictors use the same anchors and folds. The
intervals resample question concepts; the fits are not repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.english import number_of, several
from tacit.findings.numbers import estimate, score, signed
from tacit.findings.spec import Column, Layout, TableSpec
from tacit.probes.consistency.features import (
    ANSWER,
    BACKGROUND,
    BASE_RATE,
    BOTH,
    FEATURES,
    MARGIN,
    PREDICTORS,
)
from tacit.statistics import logistic
from tacit.statistics.calibration import brier_scores, calibration_bins, calibration_errors
from tacit.statistics.intervals import Estimate
from tacit.statistics.ranking import aurocs, weighted_thresholds
from tacit.statistics.selective import risk_areas, risks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.findings.spec import Kind
    from tacit.probes.consistency.prompt_variants import Bools, Floats, Ints
    from tacit.statistics import Bootstrap

    Strings: TypeAlias = NDArray[np.str_]
    Figure: TypeAlias = Callable[["Rows", str, Floats], Floats]

OPTIONAL = ("prior", "frequency")
"""Features that no anchor has if choices are not scored as texts, or without concepts."""

COVERAGES = tuple(range(10, 101, 10))
"""The coverages in per cent at which the risk is tabulated."""

PAIRS = ((BOTH, MARGIN), (BOTH, ANSWER), (BACKGROUND, BASE_RATE), (MARGIN, BASE_RATE))
"""The predictors that are compared."""


@dataclass(frozen=True)
class Rows:
    """The anchors that have an answer and all features.

    Args:
        anchors: The index of each anchor, shape (rows,).
        right: Whether it is answered correctly.
        clusters: Its question concept.
        features: The features, by name; shape (rows,) each.
        left_out: The number of answered anchors without all features.
        predicted: The out-of-fold probability of each predictor, by name; empty if undefined.
        fold: The fold of each row; empty if undefined.
        undefined: Why there is no prediction, one of the constants of ``logistic``; else None.
    """

    anchors: Ints
    right: Bools
    clusters: Strings
    features: Mapping[str, Floats]
    left_out: int

    @classmethod
    def of(cls, features: pl.DataFrame, anchors: pl.DataFrame) -> Rows:
        """Select the anchors with an answer and all features.

        Args:
            features: The columns ``FEATURES``, one row per anchor.
            anchors: ``right`` and ``cluster``, one row per anchor.
        """
        import polars as pl

        answered = features.with_columns(
            anchors["right"], anchors["cluster"], anchor=pl.int_range(pl.len())
        ).drop_nulls("right")
        absent = [name for name in OPTIONAL if answered[name].is_null().all()]
        names = [name for name in FEATURES if name not in absent]
        whole = answered.drop_nulls(names)
        return cls(
            whole["anchor"].to_numpy(),
            whole["right"].to_numpy().astype(bool),
            whole["cluster"].to_numpy().astype(str),
            {name: whole[name].to_numpy() for name in names},
            answered.height - whole.height,
        )

    @cached_property
    def undefined(self) -> str | None:
        """Why there is no prediction, one of the constants of ``logistic``; else None."""
        return logistic.why_not(self.right, self.clusters)

    def matrix(self, predictor: str) -> Floats:
        """Return the features of a predictor that the anchors have, shape (rows, features)."""
        columns = [self.features[name] for name in self.names(predictor)]
        return np.stack(columns, axis=1) if columns else np.empty((len(self.right), 0))

    def names(self, predictor: str) -> list[str]:
        """Return the names of the features of a predictor that the anchors have."""
        return [name for name in PREDICTORS[predictor] if name in self.features]

    @cached_property
    def fold(self) -> Ints:
        """The fold of each row; empty if undefined."""
        if self.undefined is not None:
            return np.empty(0, dtype=np.intp)
        return logistic.folds(self.right, self.clusters)

    @cached_property
    def predicted(self) -> Mapping[str, Floats]:
        """The out-of-fold probability of each predictor, by name; empty if undefined."""
        if self.undefined is not None:
            return {}
        return {
            name: logistic.out_of_fold(self.right, self.matrix(name), self.clusters, self.fold)
            for name in PREDICTORS
        }

    def ranked(self, predictor: str) -> Floats:
        """Return the scores by which a predictor ranks anchors.

        The base rate gives all anchors one score; its probability differs by fold only because the
        other folds do.
        """
        found: Floats = np.zeros(len(self.right)) if predictor == BASE_RATE else self._of(predictor)
        return found

    def _of(self, predictor: str) -> Floats:
        return self.predicted[predictor]


def _auroc(rows: Rows, predictor: str, weights: Floats) -> Floats:
    return aurocs(*weighted_thresholds(rows.right, rows.ranked(predictor), weights))


def _brier(rows: Rows, predictor: str, weights: Floats) -> Floats:
    return brier_scores(rows.right, rows.predicted[predictor], weights)


def _ece(rows: Rows, predictor: str, weights: Floats) -> Floats:
    return calibration_errors(rows.right, rows.predicted[predictor], weights)


def _aurc(rows: Rows, predictor: str, weights: Floats) -> Floats:
    return risk_areas(*weighted_thresholds(rows.right, rows.ranked(predictor), weights))


MEASURES: Mapping[str, Figure] = {"auroc": _auroc, "brier": _brier, "ece": _ece, "aurc": _aurc}
_NONE = Estimate(None, None, None)


def measures(rows: Rows, bootstrap: Bootstrap) -> pl.DataFrame:
    """Return the table ``PREDICTION``: the measures of each predictor, with intervals."""
    return _table(PREDICTION, [_measured(rows, name, bootstrap) for name in PREDICTORS])


def _measured(rows: Rows, predictor: str, bootstrap: Bootstrap) -> dict[str, Any]:
    found = {"predictor": predictor, "n": len(rows.right), "undefined": rows.undefined}
    for name, figure in MEASURES.items():
        value = _NONE
        if rows.undefined is None:
            value = bootstrap.weighted(rows.clusters, partial(figure, rows, predictor))
        if predictor == BASE_RATE and name in {"auroc", "ece"}:
            # One half, and nearly 0, by construction: a resample's differ from it by chance alone.
            value = Estimate(value.value, None, None)
        found |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
    return found


def gains(rows: Rows, bootstrap: Bootstrap) -> pl.DataFrame:
    """Return the table ``GAINS``: the paired differences of predictors; no rows if undefined."""
    found = []
    for first, second in PAIRS if rows.undefined is None else ():
        row: dict[str, Any] = {"predictor": first, "over": second, "n": len(rows.right)}
        for name in ("auroc", "brier", "aurc"):
            less = partial(_difference, rows, MEASURES[name], (first, second))
            value = bootstrap.weighted(rows.clusters, less)
            row |= {name: value.value, f"{name}_low": value.low, f"{name}_high": value.high}
        found.append(row)
    return _table(GAINS, found)


def _difference(rows: Rows, figure: Figure, pair: tuple[str, str], weights: Floats) -> Floats:
    found: Floats = figure(rows, pair[0], weights) - figure(rows, pair[1], weights)
    return found


def predictions(rows: Rows, anchors: pl.DataFrame) -> pl.DataFrame:
    """Return the table ``PREDICTIONS``: each anchor's out-of-fold probabilities."""
    import polars as pl

    if rows.undefined is not None:
        return _table(PREDICTIONS, [])
    return pl.DataFrame(
        {
            "anchor": anchors["anchor"].gather(rows.anchors),
            "right": rows.right,
            "fold": rows.fold,
            **rows.predicted,
        },
        schema=PREDICTIONS.schema,
    )


def risk_coverage(rows: Rows) -> pl.DataFrame:
    """Return the table ``RISK_COVERAGE``: the risk of each predictor at some coverages."""
    found = []
    for name in PREDICTORS if rows.undefined is None else ():
        curve = risks(rows.right, rows.ranked(name))
        for coverage in COVERAGES:
            n = -(-coverage * len(curve) // 100)  # rounded up
            found.append(
                {"predictor": name, "coverage": coverage, "n": n, "risk": float(curve[n - 1])}
            )
    return _table(RISK_COVERAGE, found)


def calibration(rows: Rows, bootstrap: Bootstrap) -> pl.DataFrame:
    """Return the table ``CALIBRATION``: probabilities and shares of correct answers by bin."""
    found = []
    for name in PREDICTORS if rows.undefined is None else ():
        for each in calibration_bins(rows.predicted[name]):
            right = rows.right[each.rows].astype(float)
            share = bootstrap.ratio(rows.clusters[each.rows], right, np.ones_like(right))
            found.append(
                {
                    "predictor": name,
                    "bin": f"{100 * each.low:.0f} to {100 * each.high:.0f} %",
                    "n": len(right),
                    "predicted": each.predicted,
                    "accuracy": share.value,
                    "low": share.low,
                    "high": share.high,
                }
            )
    return _table(CALIBRATION, found)


def tables(rows: Rows, anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    """Return all tables of the prediction, by name."""
    return {
        PREDICTION.name: measures(rows, bootstrap),
        GAINS.name: gains(rows, bootstrap),
        PREDICTIONS.name: predictions(rows, anchors),
        RISK_COVERAGE.name: risk_coverage(rows),
        CALIBRATION.name: calibration(rows, bootstrap),
    }


def summary(rows: Rows, found: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the entries of the summary on the prediction."""
    by_name = {row["predictor"]: row for row in found[PREDICTION.name].iter_rows(named=True)}
    return {
        "prediction": {
            name: {measure: row[measure] for measure in MEASURES} for name, row in by_name.items()
        },
        GAINS.name: found[GAINS.name].to_dicts(),
        "prediction_rows": {
            "n": len(rows.right),
            "left_out": rows.left_out,
            "undefined": rows.undefined,
            "features": rows.names(BOTH),
            "folds": logistic.FOLDS,
            "penalty": logistic.PENALTY,
        },
    }


def _table(spec: TableSpec, rows: list[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=spec.schema)


_WHY = {
    logistic.NO_ROWS: "no anchor question has an answer and all features",
    logistic.ALL_RIGHT: "all anchor questions are answered correctly",
    logistic.ALL_WRONG: "all anchor questions are answered incorrectly",
    logistic.FEW_ROWS: (
        f"fewer than {logistic.FEWEST_ROWS} anchor questions are answered correctly, or incorrectly"
    ),
    logistic.FEW_CLUSTERS: (
        "the anchor questions answered correctly, or incorrectly, have too few question concepts"
    ),
}


def why(reason: str) -> str:
    """Return a reason why there is no prediction, as a clause."""
    return _WHY[reason]


def sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on whether the background adds to the answer margin.

    Args:
        summary: The summary of the probe's findings.
    """
    of = summary["prediction_rows"]
    if of["undefined"] is not None:
        yield f"Correct answers cannot be predicted: {why(of['undefined'])}."
        return
    n = several(of["n"], "anchor question")
    yield f"{adds(summary)} ({n}, cross-validated by question concept)."
    if of["left_out"]:
        lacking = several(of["left_out"], "anchor question lacks", "anchor questions lack")
        them = number_of(of["left_out"], "it", "them")
        yield f"{lacking} a feature, and the prediction leaves {them} out."


def adds(summary: Mapping[str, Any]) -> str:
    """Return a clause on whether the background adds to the answer margin, with the figures."""
    found = summary["prediction"]
    over = {row["over"]: row for row in summary[GAINS.name] if row["predictor"] == BOTH}
    margin, rest = (_gain(over[name]) for name in (MARGIN, ANSWER))
    figures = (
        f"AUROC {score(found[BOTH]['auroc'])} with all features, "
        f"{score(found[MARGIN]['auroc'])} with the margin alone, difference "
        f"{estimate(margin, 'value', signed)}; over all features but the background "
        f"{estimate(rest, 'value', signed)}"
    )
    return f"{_outcome(margin, rest)}: {figures}"


def background_adds(summary: Mapping[str, Any]) -> bool:
    """Return whether the background adds to the margin and to all other features."""
    rows = [row for row in summary[GAINS.name] if row["predictor"] == BOTH]
    return bool(rows) and all((row["auroc_low"] or 0.0) > 0 for row in rows)


def _gain(row: Mapping[str, Any]) -> dict[str, float | None]:
    return {"value": row["auroc"], "low": row["auroc_low"], "high": row["auroc_high"]}


def _outcome(margin: Mapping[str, float | None], rest: Mapping[str, float | None]) -> str:
    above = [(each["low"] or 0.0) > 0 for each in (margin, rest)]
    if all(above):
        return "Knowing the background facts adds to the answer margin"
    if above[0]:
        return (
            "Knowing the background facts adds nothing to the answer margin, entropy, prior and "
            "frequency, which together predict better than the margin alone"
        )
    return "Knowing the background facts adds nothing to the answer margin"


_PREDICTOR = Column(
    "predictor",
    "predictor",
    meaning="base_rate (the share of correct answers), margin (the answer margin alone), "
    "background (background score, its margin, number of facts), answer (margin, entropy, prior "
    "and frequency: all but the background), or both (all features).",
)
_N = Column("n", "n", "count", "Answered anchor questions that have all features.")


def _measure(name: str, heading: str, meaning: str, kind: Kind = "score") -> Column:
    return Column(name, heading, kind, meaning, ends=(f"{name}_low", f"{name}_high"))


PREDICTION = TableSpec(
    "prediction",
    "Prediction of correct answers",
    "Out-of-fold probabilities of a ridge-penalised logistic regression, cross-validated with "
    "question concepts kept together. The base rate ranks nothing, so its AUROC is 0.5 by "
    "construction. Lower is better for Brier score, calibration error and AURC.",
    columns=(
        _PREDICTOR,
        _N,
        _measure("auroc", "AUROC", "Area under the receiver operating characteristic."),
        _measure("brier", "Brier", "Mean squared error of the probabilities."),
        _measure("ece", "ECE", "Expected calibration error, over ten bins of equal width."),
        _measure("aurc", "AURC", "Area under the risk-coverage curve."),
        Column("undefined", "why undefined", meaning="Why there is no prediction; else null."),
    ),
    printed=Layout(columns=("predictor", "n", "auroc", "brier", "ece", "aurc")),
)
GAINS = TableSpec(
    "prediction_gains",
    "Gains in prediction",
    "The measure of one predictor minus that of another, on the same questions and folds, with a "
    "paired 95 % CI. A gain in AUROC is positive; a gain in Brier score or AURC is negative.",
    columns=(
        Column("predictor", "predictor", meaning="The predictor; see ``prediction``."),
        Column("over", "minus", meaning="The predictor whose measure is subtracted."),
        _N,
        _measure("auroc", "AUROC", "Difference of AUROC.", "signed"),
        _measure("brier", "Brier", "Difference of Brier scores.", "signed"),
        _measure("aurc", "AURC", "Difference of AURC.", "signed"),
    ),
    keys=2,
    printed=Layout(),
)
PREDICTIONS = TableSpec(
    "predictions",
    "Predicted probabilities",
    "Each anchor question's probability of a correct answer, predicted without its question "
    "concept's answers.",
    columns=(
        Column("anchor", "id", meaning="The question's id in the file."),
        Column("right", "correct", "truth", "Whether the answer is correct."),
        Column("fold", "fold", "count", "The fold that was left out of the fit, from 0."),
        *(
            Column(name, name.replace("_", " "), "percent", f"The probability by ``{name}``.")
            for name in PREDICTORS
        ),
    ),
    shown=False,
)
RISK_COVERAGE = TableSpec(
    "risk_coverage",
    "Risk by coverage",
    "The share of wrong answers among the questions that a predictor ranks highest. Among equal "
    "probabilities it is the expected share.",
    columns=(
        _PREDICTOR,
        Column("coverage", "coverage (%)", "count", "The share of the questions, in per cent."),
        Column("n", "n", "count", "The number of questions that are covered."),
        Column("risk", "risk", "percent", "The share of them that are answered incorrectly."),
    ),
    keys=2,
    shown=False,
)
CALIBRATION = TableSpec(
    "calibration",
    "Calibration of the prediction",
    "Ten bins of equal width; bins without questions are left out.",
    columns=(
        _PREDICTOR,
        Column("bin", "bin", meaning="The ends of the bin; it includes the upper end."),
        Column("n", "n", "count", "The number of questions with such a probability."),
        Column("predicted", "predicted", "percent", "The mean probability."),
        Column(
            "accuracy",
            "correct",
            "percent",
            "The share answered correctly; the 95 % CI resamples question concepts.",
            ends=("low", "high"),
        ),
    ),
    keys=2,
    shown=False,
)
PREDICTION_TABLES = (PREDICTION, GAINS, PREDICTIONS, RISK_COVERAGE, CALIBRATION)
