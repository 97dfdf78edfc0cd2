"""Tabulate the reliability of predicted probabilities: risk by coverage, and calibration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.features import PREDICTORS
from tacit.probes.consistency.prediction import table_of
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.calibration import calibration_bins
from tacit.statistics.selective import risks

if TYPE_CHECKING:
    import polars as pl

    from tacit.probes.consistency.prediction import Rows
    from tacit.statistics import Bootstrap

COVERAGES = tuple(range(10, 101, 10))
"""The coverages (shares of questions, in per cent) for which the risk is computed."""


def tables(rows: Rows, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    """Return the tables ``risk_coverage`` and ``calibration``."""
    return {
        "risk_coverage": risk_coverage(rows),
        "calibration": calibration(rows, bootstrap),
    }


def risk_coverage(rows: Rows) -> pl.DataFrame:
    """Return the table ``risk_coverage``: the risk of each predictor at each coverage."""
    found = []
    for name in PREDICTORS if rows.undefined is None else ():
        curve = risks(rows.right, rows.ranked(name))
        for coverage in COVERAGES:
            n = -(-coverage * len(curve) // 100)  # rounded up
            found.append(
                {"predictor": name, "coverage": coverage, "n": n, "risk": float(curve[n - 1])}
            )
    return table_of(TABLES["risk_coverage"], found)


def calibration(rows: Rows, bootstrap: Bootstrap) -> pl.DataFrame:
    """Return the table ``calibration``: mean prediction and accuracy by probability bin."""
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
    return table_of(TABLES["calibration"], found)
