"""The prediction of correct answers, where it is known what should be found."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from sklearn.metrics import brier_score_loss, roc_auc_score

from tacit.findings.spec import check_tables
from tacit.probes.consistency import prediction, predictor, reliability
from tacit.probes.consistency.features import BOTH, FEATURES, PREDICTORS
from tacit.probes.consistency.prediction import MEASURES, Rows, sentences
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.tables import TABLES
from tacit.sources.anchors import Anchor
from tacit.statistics import Bootstrap, logistic
from tests.probes.consistency.asking_by_hand import POSITIVE, Case, Fact, measured, probe_of

if TYPE_CHECKING:
    from tests.probes.consistency.asking_by_hand import Says

BOOTSTRAP = Bootstrap(300)


@dataclass(frozen=True)
class Planted:
    """Anchors whose correct answers depend on the background and the margin as much as is said."""

    background: float
    margin: float
    n: int = 400
    seed: int = 0

    def tables(self) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The features, and the anchors."""
        random = np.random.default_rng(self.seed)
        values = {name: random.normal(size=self.n) for name in FEATURES}
        odds = self.background * values["background_score"] + self.margin * values["answer_margin"]
        right = random.random(self.n) < 1 / (1 + np.exp(-odds))
        clusters = [f"concept {each}" for each in random.integers(0, self.n // 3, self.n)]
        anchors = {"anchor": [f"q{at}" for at in range(self.n)], "right": right}
        return pl.DataFrame(values), pl.DataFrame({**anchors, "cluster": clusters})

    def found(self) -> tuple[Rows, dict[str, Any]]:
        """The rows, and the summary."""
        features, anchors = self.tables()
        rows = Rows.of(features, anchors)
        return rows, prediction.summary(rows, prediction.tables(rows, anchors, BOOTSTRAP))


def all_tables(rows: Rows, anchors: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """All tables on the prediction."""
    found = prediction.tables(rows, anchors, BOOTSTRAP)
    return found | reliability.tables(rows, BOOTSTRAP) | predictor.tables(rows)


def test_background_that_decides_adds_to_the_margin() -> None:
    """The sentence says so, and the paired interval excludes 0."""
    _, summary = Planted(background=2, margin=1).found()
    assert prediction.background_adds(summary)
    (sentence,) = sentences(summary)
    told = "Knowing the background facts improves the prediction of correct answers. The AUROC of "
    assert sentence.startswith(told)
    assert "(400 anchor questions, cross-validated by question concept)." in sentence


def test_background_that_says_nothing_adds_nothing() -> None:
    """The margin alone is as good."""
    _, summary = Planted(background=0, margin=2).found()
    assert not prediction.background_adds(summary)
    (sentence,) = sentences(summary)
    assert sentence.startswith("There is no evidence that knowing the background facts improves ")


def test_a_gain_that_is_not_the_backgrounds_is_not_credited_to_it() -> None:
    """Where entropy decides, the comparison with all features but the background shows it."""
    features, anchors = Planted(background=0, margin=2).tables()
    renamed = features.rename({"answer_margin": "entropy", "entropy": "answer_margin"})
    rows = Rows.of(renamed.select(FEATURES), anchors)
    summary = prediction.summary(rows, prediction.tables(rows, anchors, BOOTSTRAP))
    (sentence,) = sentences(summary)
    assert (
        "but there is no evidence that the features of the background facts contribute" in sentence
    )


def test_false_alarms_are_rare() -> None:
    """Background that says nothing is said to add in few of many samples."""
    alarms = [
        prediction.background_adds(Planted(0, 1.5, 150, seed).found()[1]) for seed in range(20)
    ]
    assert sum(alarms) <= 2


def test_the_measures_are_those_of_scikit_learn() -> None:
    """Of the out-of-fold probabilities; the base rate ranks nothing."""
    rows, summary = Planted(background=1, margin=1).found()
    found = summary["prediction"]
    assert list(found) == list(PREDICTORS)
    assert all(list(each) == list(MEASURES) for each in found.values())
    for name, each in found.items():
        assert each["brier"] == pytest.approx(brier_score_loss(rows.right, rows.predicted[name]))
        if name != "base_rate":
            assert each["auroc"] == pytest.approx(roc_auc_score(rows.right, rows.predicted[name]))
    assert found["base_rate"]["auroc"] == 0.5
    assert found["base_rate"]["aurc"] == pytest.approx(1 - rows.right.mean())
    gains = {(row["predictor"], row["over"]): row for row in summary["prediction_gains"]}
    difference = found["both"]["brier"] - found["margin"]["brier"]
    assert gains["both", "margin"]["brier"] == pytest.approx(difference)
    row = gains["both", "margin"]
    assert row["brier_low"] < row["brier"] < row["brier_high"]


def test_the_tables_are_as_declared_and_agree() -> None:
    """The risk at full coverage is the share of wrong answers; each question is in one bin."""
    features, anchors = Planted(background=1, margin=1).tables()
    rows = Rows.of(features, anchors)
    found = all_tables(rows, anchors)
    specs = [TABLES[name] for name in found]
    check_tables(found, {spec.name: spec for spec in specs})
    whole = found["risk_coverage"].filter(coverage=100)
    assert whole["risk"].to_list() == pytest.approx([1 - rows.right.mean()] * len(PREDICTORS))
    assert set(found["calibration"].group_by("predictor").agg(pl.col("n").sum())["n"]) == {400}
    assert found["predictions"]["anchor"].to_list() == anchors["anchor"].to_list()


def test_the_order_of_the_anchors_has_no_effect() -> None:
    """On any table; predictions follow their anchors."""
    features, anchors = Planted(background=1, margin=1, n=150).tables()
    order = np.random.default_rng(3).permutation(150)
    first, second = (Rows.of(features[at], anchors[at]) for at in (list(range(150)), order))
    one, other = (
        all_tables(rows, anchors[at]) for rows, at in ((first, list(range(150))), (second, order))
    )
    for name in set(one) - {"predictions", "prediction", "prediction_gains", "calibration"}:
        assert one[name].equals(other[name]), name
    assert one["predictions"].equals(
        other["predictions"].sort(pl.col("anchor").str.slice(1).cast(int))
    )
    for name in ("prediction", "prediction_gains", "calibration"):
        assert_frame_equal(one[name], other[name], abs_tol=1e-12)


def test_anchors_without_a_feature_are_left_out_and_counted() -> None:
    """Never filled in; a feature that no anchor has is left out of the predictors instead."""
    features, anchors = Planted(background=1, margin=1).tables()
    some = features.with_columns(
        background_score=pl.when(pl.int_range(pl.len()) >= 5).then("background_score"),
        prior=pl.lit(None, pl.Float64),
    )
    unanswered = anchors.with_columns(right=pl.when(pl.int_range(pl.len()) < 390).then("right"))
    rows = Rows.of(some, unanswered)
    assert rows.anchors.tolist() == list(range(5, 390))
    assert rows.left_out == 5
    assert rows.names(BOTH) == [name for name in FEATURES if name != "prior"]
    summary = prediction.summary(rows, prediction.tables(rows, unanswered, BOOTSTRAP))
    assert list(sentences(summary))[1] == (
        "5 anchor questions lack at least one feature and are excluded from the prediction."
    )


def test_a_stored_predictor_is_the_fitted_one() -> None:
    """Read back from its tables, it predicts the same, with the same interval."""
    rows, _ = Planted(background=1, margin=1).found()
    read = predictor.stored(predictor.tables(rows))
    assert list(read) == ["margin", "both"]
    for name, each in read.items():
        fitted = logistic.fit(rows.right, rows.matrix(name), rows.clusters)
        values = {one: float(rows.features[one][7]) for one in each.features}
        assert each.probability(values) == fitted.interval(rows.matrix(name)[7])
        assert each.missing(values) == each.outside(values) == []
    beyond = values | {"background_score": 99.0, "entropy": None}
    assert read[BOTH].outside(beyond)[0] == "background_score"
    assert read[BOTH].missing(beyond) == ["entropy"]


def model_that(knows: set[int], right: set[int], *, yes: bool = False) -> Says:
    """A model that knows some anchors' facts and answers some anchors correctly."""

    def says(text: str, answer: str) -> float:
        named = [int(number) for number in re.findall(r"(?i)thing(\d+)", text)]
        if not named:
            return -1.0
        if answer in {"apple", "stone"}:
            return 0.0 if (answer == "apple") == (named[0] in right) else -5.0
        true = yes or (named[0] in knows) == ("animal" in text)
        return 0.0 if (answer in POSITIVE) == true else -2.0 - named[0] / 100

    return says


CASES = [
    Case(
        Anchor(f"q{at}", f"What has thing{at}?", ("apple", "stone"), 0, f"concept {at}"),
        (Fact(f"thing{at}", "IsA", "animal", "carrot"),),
    )
    for at in range(40)
]


def test_a_model_that_knows_everything_cannot_be_predicted() -> None:
    """All answers are correct; the reason is given, and no figure is."""
    found = measured(probe_of(CASES), model_that(set(range(40)), set(range(40))))
    found.check(ConsistencyProbe.tables.values())
    assert "Correct answers cannot be predicted: all anchor questions are answered correctly." in (
        list(prediction.sentences(found.summary))
    )
    assert set(found.summary["prediction"]["both"].values()) == {None}
    assert found.tables["predictor"].is_empty()
    assert found.tables["predictions"].is_empty()


def test_a_model_that_always_says_yes_has_a_constant_background_score() -> None:
    """The background adds nothing to the margin."""
    found = measured(probe_of(CASES), model_that(set(), set(range(0, 40, 2)), yes=True))
    assert found.tables["accuracy_by_score"]["n"].to_list() == [40]
    (sentence, *_) = prediction.sentences(found.summary)
    assert "There is no evidence that the features predict correct answers" in sentence


def test_a_model_whose_answers_follow_its_facts_is_predicted_by_them() -> None:
    """The background ranks all anchors; the margin none, because it is always the same."""
    half = set(range(0, 40, 2))
    found = measured(probe_of(CASES), model_that(half, half))
    assert found.summary["prediction"]["background"]["auroc"] == 1
    assert found.summary["prediction"]["background"]["aurc"] == pytest.approx(
        np.mean([max(0, k - 20) / k for k in range(1, 41)])
    )
    assert prediction.background_adds(found.summary)
    table = found.tables["accuracy_by_score"]
    assert table["background_score"].to_list() == [0, 1]
    assert table["accuracy"].to_list() == [0, 1]
    assert table["n"].to_list() == [20, 20]
