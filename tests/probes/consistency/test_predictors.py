"""The prediction of correct answers, where it is known what should be found."""

import json
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import brier_score_loss, roc_auc_score

from tacit.findings.spec import check_tables
from tacit.probes.consistency import TABLES, predictors
from tacit.probes.consistency.features import BOTH, FEATURES, PREDICTORS
from tacit.probes.consistency.predictors import TrainingSet
from tacit.statistics import Bootstrap, regression

BOOTSTRAP = Bootstrap(300)


@dataclass(frozen=True)
class Planted:
    """Anchors whose correct answers depend on the background and the margin as much as is said."""

    background: float
    margin: float
    n: int = 400
    seed: int = 0

    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        random = np.random.default_rng(self.seed)
        values = {name: random.normal(size=self.n) for name in FEATURES}
        odds = self.background * values["background_score"] + self.margin * values["answer_margin"]
        right = random.random(self.n) < 1 / (1 + np.exp(-odds))
        clusters = [f"concept {each}" for each in random.integers(0, self.n // 3, self.n)]
        anchors = {"anchor": [f"q{at}" for at in range(self.n)], "right": right}
        return pl.DataFrame(values), pl.DataFrame({**anchors, "cluster": clusters})

    def found(self) -> tuple[TrainingSet, dict[str, pl.DataFrame]]:
        rows = TrainingSet.of(*self.tables())
        return rows, predictors.tables(rows, BOOTSTRAP)


@pytest.mark.parametrize(
    ("planted", "instead", "rival"),
    [
        (Planted(background=2, margin=1), "answer_margin", None),
        (Planted(background=0, margin=0), "answer_margin", "than the base rate"),
        (Planted(background=0, margin=2), "answer_margin", "than the answer margin alone"),
        (Planted(background=0, margin=2), "entropy", "than the features of the answer alone"),
    ],
)
def test_background_adds_to_the_answer_if_it_decides(
    planted: Planted, instead: str, rival: str | None
) -> None:
    """Else the first rival that is as good is named, where the margin decides or the entropy."""
    features, anchors = planted.tables()
    renamed = features.rename({"answer_margin": instead, instead: "answer_margin"}, strict=False)
    gains = predictors.tables(TrainingSet.of(renamed, anchors), BOOTSTRAP)["prediction_gains"]
    caution = predictors.caution(gains)
    assert caution is None if rival is None else rival in str(caution)


def test_false_alarms_are_rare() -> None:
    """Background that says nothing is said to add in few of many samples."""
    every = (TrainingSet.of(*Planted(0, 1.5, 150, seed).tables()) for seed in range(12))
    several = (predictors.tables(rows, Bootstrap(100))["prediction_gains"] for rows in every)
    assert sum(predictors.caution(gains) is None for gains in several) <= 1


def test_the_measures_are_those_of_scikit_learn() -> None:
    """Of the out-of-fold probabilities; the base rate ranks nothing."""
    rows, tables = Planted(background=1, margin=1).found()
    check_tables(tables, {name: TABLES[name] for name in tables})
    found = {row["predictor"]: row for row in tables["prediction"].to_dicts()}
    assert list(found) == list(PREDICTORS)
    for name, each in found.items():
        assert each["brier"] == pytest.approx(brier_score_loss(rows.right, rows.predicted[name]))
        if name != "base_rate":
            assert each["auroc"] == pytest.approx(roc_auc_score(rows.right, rows.predicted[name]))
    base = found["base_rate"]
    assert (base["auroc"], base["auroc_low"]) == (0.5, None)
    gains = {(row["predictor"], row["over"]): row for row in tables["prediction_gains"].to_dicts()}
    row = gains["both", "margin"]
    assert row["brier"] == pytest.approx(found["both"]["brier"] - found["margin"]["brier"])
    assert row["brier_low"] < row["brier"] < row["brier_high"]
    assert tables["predictions"]["both"].to_list() == rows.predicted["both"].tolist()


def test_anchors_without_a_feature_are_left_out_and_counted() -> None:
    """Never filled in; a feature that no anchor has is left out of the predictors instead."""
    features, anchors = Planted(background=1, margin=1).tables()
    some = features.with_columns(
        background_score=pl.when(pl.int_range(pl.len()) >= 5).then("background_score"),
        prior=pl.lit(None, pl.Float64),
    )
    unanswered = anchors.with_columns(right=pl.when(pl.int_range(pl.len()) < 390).then("right"))
    rows = TrainingSet.of(some, unanswered)
    assert rows.table["anchor"].to_list() == [f"q{at}" for at in range(5, 390)]
    assert rows.left_out == predictors.summary(rows)["left_out"] == 5
    assert rows.names(BOTH) == [name for name in FEATURES if name != "prior"]


def test_a_stored_predictor_is_the_fitted_one() -> None:
    """Read back from the summary's JSON, it predicts the same, with the same interval."""
    rows, _ = Planted(background=1, margin=1).found()
    read = predictors.stored({"predictor": json.loads(json.dumps(predictors.summary(rows)))})
    assert list(read) == ["margin", "both"]
    for name, each in read.items():
        fitted = regression.fit(rows.right, rows.matrix(name), rows.clusters)
        values = {one: float(rows.table[one][7]) for one in each.features}
        expected = fitted.interval(rows.matrix(name)[7])
        assert each.probability(values) == (expected.value, expected.low, expected.high)
        assert each.missing(values) == each.outside(values) == []
    assert read[BOTH].outside({**values, "background_score": 99.0}) == ["background_score"]
    assert read[BOTH].missing({**values, "entropy": None}) == ["entropy"]
