"""Tabulate the reliability of predicted probabilities: risk by coverage, and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.spec import Column, TableSpec
from tacit.probes.consistency.features import PREDICTORS
from tacit.probes.consistency.prediction import PREDICTOR_COLUMN, table_of
from tacit.statistics.calibration import calibration_bins
from tacit.statistics.selective import risks

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.prediction import Rows
    from tacit.statistics import Bootstrap

COVERAGES = tuple(range(10, 101, 10))
"""The coverages (shares of questions, in per cent) for which the risk is computed."""


def tables(rows: Rows, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    """Return the tables ``RISK_COVERAGE`` and ``CALIBRATION``."""
    return {
        RISK_COVERAGE.name: risk_coverage(rows),
        CALIBRATION.name: calibration(rows, bootstrap),
    }


def risk_coverage(rows: Rows) -> pl.DataFrame:
    """Return the table ``RISK_COVERAGE``: the risk of each predictor at each coverage."""
    found = []
    for name in PREDICTORS if rows.undefined is None else ():
        curve = risks(rows.right, rows.ranked(name))
        for coverage in COVERAGES:
            n = -(-coverage * len(curve) // 100)  # rounded up
            found.append(
                {"predictor": name, "coverage": coverage, "n": n, "risk": float(curve[n - 1])}
            )
    return table_of(RISK_COVERAGE, found)


def calibration(rows: Rows, bootstrap: Bootstrap) -> pl.DataFrame:
    """Return the table ``CALIBRATION``: mean prediction and accuracy by probability bin."""
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
    return table_of(CALIBRATION, found)


RISK_COVERAGE = TableSpec(
    "risk_coverage",
    "Risk by coverage",
    "A predictor assigns each question a probability of a correct answer. The risk at a coverage "
    "of 10 % is the share of wrong answers among the 10 % of questions with the highest "
    "probabilities. If several questions have the same probability, the risk is the mean over "
    "all orders of these questions.",
    columns=(
        PREDICTOR_COLUMN,
        Column(
            "coverage",
            "coverage (%)",
            "count",
            "The coverage: the share of questions that are covered, in per cent. The covered "
            "questions are those with the highest predicted probability of a correct answer.",
        ),
        Column(
            "n",
            "n",
            "count",
            "The number of covered questions.",
        ),
        Column(
            "risk",
            "risk",
            "percent",
            "The share of the covered questions that are answered incorrectly.",
        ),
    ),
    keys=2,
    shown=False,
)
CALIBRATION = TableSpec(
    "calibration",
    "Calibration of the prediction",
    "Questions are sorted into ten bins of equal width by their predicted probability; bins "
    "without questions are omitted.",
    columns=(
        PREDICTOR_COLUMN,
        Column("bin", "bin", meaning="The two ends of the bin. The upper end belongs to the bin."),
        Column(
            "n", "n", "count", "The number of questions whose predicted probability is in the bin."
        ),
        Column("predicted", "predicted", "percent", "The mean probability."),
        Column(
            "accuracy",
            "correct",
            "percent",
            "The share of questions in the bin that are answered correctly, with a 95 % CI that is "
            "computed by resampling question concepts.",
            ends=("low", "high"),
        ),
    ),
    keys=2,
    shown=False,
)
RELIABILITY_TABLES = (RISK_COVERAGE, CALIBRATION)
