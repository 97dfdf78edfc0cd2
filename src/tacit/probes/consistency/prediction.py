"""Predict from features whether a model answers each anchor question correctly."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tacit.english import number_of, several
from tacit.findings.numbers import estimate, score, signed
from tacit.findings.spec import Column, TableSpec
from tacit.probes.consistency.features import (
    ANSWER,
    BACKGROUND,
    BASE_RATE,
    BOTH,
    FEATURES,
    MARGIN,
    PREDICTORS,
)
from tacit.probes.consistency.tables import TABLES
from tacit.statistics import logistic
from tacit.statistics.calibration import brier_scores, calibration_errors
from tacit.statistics.intervals import Estimate
from tacit.statistics.ranking import aurocs, weighted_thresholds
from tacit.statistics.selective import risk_areas

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.findings.spec import Kind
    from tacit.probes.consistency.prompt_variants import Bools, Floats, Ints
    from tacit.statistics import Bootstrap

    Strings: TypeAlias = NDArray[np.str_]

OPTIONAL = ("prior", "frequency")
"""Features that predictors use only if an anchor question of the run has a value for them."""

PAIRS = (
    *((BOTH, BASE_RATE), (BOTH, MARGIN), (BOTH, ANSWER)),
    *((BACKGROUND, BASE_RATE), (MARGIN, BASE_RATE)),
)
"""The pairs of predictors that are compared."""


@dataclass(frozen=True)
class Rows:
    """The anchor questions that have an answer and all features."""

    anchors: Ints
    right: Bools
    clusters: Strings
    features: Mapping[str, Floats]
    left_out: int

    @classmethod
    def of(cls, features: pl.DataFrame, anchors: pl.DataFrame) -> Rows:
        """Select the anchor questions that have an answer and all features."""
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
        """The reason (a constant of ``logistic``) why no predictor can be fitted, or None."""
        return logistic.why_not(self.right, self.clusters)

    def matrix(self, predictor: str) -> Floats:
        """Return the values of the features that a predictor uses, shape (rows, features)."""
        columns = [self.features[name] for name in self.names(predictor)]
        return np.stack(columns, axis=1) if columns else np.empty((len(self.right), 0))

    def names(self, predictor: str) -> list[str]:
        """Return the names of a predictor's features that have values in the run."""
        return [name for name in PREDICTORS[predictor] if name in self.features]

    @cached_property
    def fold(self) -> Ints:
        """The cross-validation fold of each row; empty if the predictors cannot be fitted."""
        if self.undefined is not None:
            return np.empty(0, dtype=np.intp)
        return logistic.folds(self.right, self.clusters)

    @cached_property
    def predicted(self) -> Mapping[str, Floats]:
        """The out-of-fold probabilities by predictor; empty if the predictors cannot be fitted."""
        if self.undefined is not None:
            return {}
        return {
            name: logistic.out_of_fold(self.right, self.matrix(name), self.clusters, self.fold)
            for name in PREDICTORS
        }

    def ranked(self, predictor: str) -> Floats:
        """Return the scores by which a predictor ranks anchor questions, shape (rows,)."""
        return np.zeros(len(self.right)) if predictor == BASE_RATE else self.predicted[predictor]


MEASURES = ("auroc", "brier", "ece", "aurc")
GAINED = ("auroc", "brier", "aurc")
_Estimates: TypeAlias = "Mapping[tuple[str, str], Mapping[str, Estimate]]"


def _figures(rows: Rows, weights: Floats) -> Floats:
    """Return each predictor's measures, and the differences between pairs of predictors."""
    found = {name: dict(_of_predictor(rows, name, weights)) for name in PREDICTORS}
    return np.stack(
        [found[name][measure] for name in PREDICTORS for measure in MEASURES]
        + [found[one][measure] - found[two][measure] for one, two in PAIRS for measure in GAINED],
        axis=1,
    )


def _of_predictor(rows: Rows, name: str, weights: Floats) -> Iterator[tuple[str, Floats]]:
    counts = weighted_thresholds(rows.right, rows.ranked(name), weights)
    yield "auroc", aurocs(*counts)
    yield "aurc", risk_areas(*counts)
    yield "brier", brier_scores(rows.right, rows.predicted[name], weights)
    yield "ece", calibration_errors(rows.right, rows.predicted[name], weights)


def estimates(rows: Rows, bootstrap: Bootstrap) -> _Estimates:
    """Estimate the measures of the predictors and the differences between predictors."""
    keys = [((name, ""), measure) for name in PREDICTORS for measure in MEASURES]
    keys += [(pair, measure) for pair in PAIRS for measure in GAINED]
    values = [Estimate(None, None, None)] * len(keys)
    if rows.undefined is None:
        values = bootstrap.weighted(rows.clusters, partial(_figures, rows))
    found: dict[tuple[str, str], dict[str, Estimate]] = {}
    for (pair, measure), value in zip(keys, values, strict=True):
        found.setdefault(pair, {})[measure] = value
    for measure in ("auroc", "ece"):
        # One half, and nearly 0, by construction: a resample's differ from it by chance alone.
        found[BASE_RATE, ""][measure] = replace(found[BASE_RATE, ""][measure], low=None, high=None)
    return found


def measures(rows: Rows, found: _Estimates) -> pl.DataFrame:
    """Return the table ``prediction``: the measures of each predictor, with intervals."""
    about = {"n": len(rows.right), "undefined": rows.undefined}
    return table_of(
        TABLES["prediction"],
        [{"predictor": name, **about, **_columns(found[name, ""])} for name in PREDICTORS],
    )


def gains(rows: Rows, found: _Estimates) -> pl.DataFrame:
    """Return the table ``prediction_gains``: the differences between two predictors."""
    pairs = PAIRS if rows.undefined is None else ()
    return table_of(
        TABLES["prediction_gains"],
        [
            {"predictor": one, "over": two, "n": len(rows.right), **_columns(found[one, two])}
            for one, two in pairs
        ],
    )


def _columns(found: Mapping[str, Estimate]) -> dict[str, float | None]:
    return {
        name: value
        for measure, each in found.items()
        for name, value in (
            (measure, each.value),
            (f"{measure}_low", each.low),
            (f"{measure}_high", each.high),
        )
    }


def predictions(rows: Rows, anchors: pl.DataFrame) -> pl.DataFrame:
    """Return the table ``predictions``: out-of-fold probabilities by anchor question."""
    import polars as pl

    if rows.undefined is not None:
        return table_of(TABLES["predictions"], [])
    return pl.DataFrame(
        {
            "anchor": anchors["anchor"].gather(rows.anchors),
            "right": rows.right,
            "fold": rows.fold,
            **rows.predicted,
        },
        schema=TABLES["predictions"].schema,
    )


def tables(rows: Rows, anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    """Return the tables on predicting whether answers are correct, by table name."""
    found = estimates(rows, bootstrap)
    return {
        "prediction": measures(rows, found),
        "prediction_gains": gains(rows, found),
        "predictions": predictions(rows, anchors),
    }


def summary(rows: Rows, found: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """Return the entries of the summary that describe the prediction of correct answers."""
    by_name = {row["predictor"]: row for row in found["prediction"].iter_rows(named=True)}
    return {
        "prediction": {
            name: {measure: row[measure] for measure in MEASURES} for name, row in by_name.items()
        },
        "prediction_gains": found["prediction_gains"].to_dicts(),
        "prediction_rows": {
            "n": len(rows.right),
            "left_out": rows.left_out,
            "undefined": rows.undefined,
            "features": rows.names(BOTH),
            "folds": logistic.FOLDS,
            "penalty": logistic.PENALTY,
        },
    }


def table_of(spec: TableSpec, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Convert rows to a table with the column types of ``spec``."""
    import polars as pl

    return pl.DataFrame(rows, schema=spec.schema)


_WHY = {
    logistic.NO_ROWS: "no anchor question has both an answer and a value for every feature",
    logistic.ALL_RIGHT: "all anchor questions are answered correctly",
    logistic.ALL_WRONG: "all anchor questions are answered incorrectly",
    logistic.FEW_ROWS: (
        f"fewer than {logistic.FEWEST_ROWS} anchor questions are answered correctly, or fewer than "
        f"{logistic.FEWEST_ROWS} incorrectly"
    ),
    logistic.FEW_CLUSTERS: (
        "the correctly answered anchor questions, or the incorrectly answered ones, are about too "
        "few question concepts"
    ),
}


def why(reason: str) -> str:
    """Return a clause on why the correctness of answers cannot be predicted."""
    return _WHY[reason]


def sentences(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield sentences on whether background scores help to predict correct answers."""
    of = summary["prediction_rows"]
    if of["undefined"] is not None:
        yield f"Correct answers cannot be predicted: {why(of['undefined'])}."
        return
    n = several(of["n"], "anchor question")
    yield f"{adds(summary)} ({n}, cross-validated by question concept)."
    if of["left_out"]:
        lacking = several(of["left_out"], "anchor question lacks", "anchor questions lack")
        verb = number_of(of["left_out"], "is", "are")
        yield f"{lacking} at least one feature and {verb} excluded from the prediction."


def adds(summary: Mapping[str, Any]) -> str:
    """Return sentences, without the last full stop, on whether background improves predictions."""
    found = summary["prediction"]
    over = {row["over"]: row for row in summary["prediction_gains"] if row["predictor"] == BOTH}
    chance, margin, rest = (_gain(over[name]) for name in (BASE_RATE, MARGIN, ANSWER))
    if not (chance["low"] or 0.0) > 0:
        area = {end: None if value is None else 0.5 + value for end, value in chance.items()}
        return (
            "There is no evidence that the features predict correct answers: their AUROC is "
            f"{estimate(area, 'value', score)} (chance level 0.5)"
        )
    figures = (
        f"The AUROC of the prediction is {score(found[BOTH]['auroc'])} with all features and "
        f"{score(found[MARGIN]['auroc'])} with the answer margin alone, a difference of "
        f"{estimate(margin, 'value', signed)}. The background features contribute "
        f"{estimate(rest, 'value', signed)} to the AUROC"
    )
    return f"{_outcome(margin, rest)}. {figures}"


def background_adds(summary: Mapping[str, Any]) -> bool:
    """Check whether predictor ``both`` has a higher AUROC than three simpler predictors."""
    rows = [row for row in summary["prediction_gains"] if row["predictor"] == BOTH]
    return bool(rows) and all((row["auroc_low"] or 0.0) > 0 for row in rows)


def _gain(row: Mapping[str, Any]) -> dict[str, float | None]:
    return {"value": row["auroc"], "low": row["auroc_low"], "high": row["auroc_high"]}


def _outcome(margin: Mapping[str, float | None], rest: Mapping[str, float | None]) -> str:
    above = [(each["low"] or 0.0) > 0 for each in (margin, rest)]
    if all(above):
        return "Knowing the background facts improves the prediction of correct answers"
    if above[0]:
        return (
            "All features together predict correct answers better than the answer margin alone, "
            "but there is no evidence that the features of the background facts contribute to "
            "the improvement"
        )
    return (
        "There is no evidence that knowing the background facts improves the prediction of "
        "correct answers over a prediction from the answer margin alone"
    )


PREDICTOR_COLUMN = Column(
    "predictor",
    "predictor",
    meaning="The name of the predictor. \u201cbase_rate\u201d has no features and predicts the "
    "share of correct answers. \u201cmargin\u201d uses only the answer margin. "
    "\u201cbackground\u201d uses the background score, the margin of the background answers and "
    "the number of facts. \u201canswer\u201d uses the answer margin, entropy, prior and frequency. "
    "\u201cboth\u201d uses the features of \u201cbackground\u201d and of \u201canswer\u201d.",
)
_N = Column(
    "n",
    "n",
    "count",
    "The number of anchor questions that have an answer and a value of every feature.",
)


def _measure(name: str, heading: str, meaning: str, kind: Kind = "score") -> Column:
    return Column(name, heading, kind, meaning, ends=(f"{name}_low", f"{name}_high"))
