"""A whole run of the consistency probe against scikit-learn's figures of its anchors."""

from __future__ import annotations

import polars as pl
import pytest

from tests.probes.consistency.asking_by_hand import Dice
from tests.probes.consistency.run_by_hand import CASES, SILENT, Run

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


@pytest.mark.parametrize("seed", [3, 5])
def test_equal_to_scikit_learn(seed: int) -> None:
    """Over all anchors with an answer and a score, and over those of each relation."""
    tables = Run(CASES, Dice(seed, SILENT)).found.tables
    relations = tables["links"].join(tables["facts"], on="fact").select("anchor", "relation")
    anchors = tables["anchors"].select("anchor", "background_score", "right")
    of = {"all": anchors} | {
        name: anchors.filter(pl.col("anchor").is_in(part["anchor"].implode()))
        for (name,), part in relations.group_by("relation")
    }
    for row in [*tables["consistency"].to_dicts(), *tables["consistency_by_relation"].to_dicts()]:
        part = of[row["name"]].drop_nulls()
        assert row["n"] == part.height
        if part["right"].n_unique() > 1:
            pair = part["right"].to_numpy(), part["background_score"].to_numpy()
            assert row["consistency"] == pytest.approx(metrics.average_precision_score(*pair))
            assert row["auroc"] == pytest.approx(metrics.roc_auc_score(*pair))
