from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.special import expit

from tacit.errors import RequestError
from tacit.probes.consistency import DETAILS, new_question
from tacit.probes.consistency.features import BOTH, MARGIN, PREDICTORS
from tacit.probes.consistency.new_question import AnswerPrediction, prediction
from tacit.probes.consistency.options import ConsistencyOptions
from tacit.probes.consistency.predictors import Predictor
from tacit.sources.questions import Anchor
from tests.probes.consistency.asking_by_hand import POSITIVE, Case, Fact, answers_of, probe_of

FACTS = (Fact("dog", "IsA", "animal", "carrot"), Fact("dog", "HasA", "tail", "wheel"))
CHOICES = ("kennel", "tree")


def says(text: str, answer: str) -> float:
    """Yes to the first fact, to nothing else; the kennel."""
    if answer in CHOICES:
        return -len(answer) * (1.0 if answer == "kennel" else 1.5)
    return -1.0 if (answer in POSITIVE) == ("animal" in text.lower()) else -3.0


def predicted(
    predictors: Mapping[str, Predictor], facts: tuple[Fact, ...] = FACTS, anchors: str = "choice"
) -> AnswerPrediction:
    anchor = Anchor("new", "Where does a dog sleep?", CHOICES, None)
    probe = probe_of([Case(anchor, facts)], anchors=anchors)
    return prediction(probe, answers_of(probe, says), predictors)


def predictors(**weights: float) -> dict[str, Predictor]:
    """Predictors whose log odds are the sum of weighted features."""
    return {
        name: Predictor(
            list(PREDICTORS[name]),
            lowest=[-99.0] * (k := len(PREDICTORS[name])),
            highest=[99.0] * k,
            means=[0.0] * k,
            scales=[1.0] * k,
            coefficients=[0.0, *(weights.get(one, 0.0) for one in PREDICTORS[name])],
            covariance=(np.eye(k + 1) / 100).tolist(),
        )
        for name in (MARGIN, BOTH)
    }


def test_effects_are_the_differences_to_the_opposite_answers() -> None:
    """By hand: the first fact is right (the score is 3/4), the second one wrong."""
    found = predicted(predictors(background_score=2))
    assert found.answer == "kennel"
    assert found.p_correct == pytest.approx(expit(2 * 0.75))
    assert found.facts["fact"].to_list() == ["dog IsA animal", "dog HasA tail"]
    assert found.facts["correct"].to_list() == [True, False]
    DETAILS["effects"].check(found.facts)
    assert found.facts["effect"].to_list() == pytest.approx(
        [expit(1.5) - expit(1.0), expit(1.5) - expit(2.0)]
    )
    assert (found.predictor, found.note) == (BOTH, None)
    low, high = found.interval
    assert low < found.p_correct < high


def test_a_flipped_fact_reverses_its_margin() -> None:
    """The number of facts stays; the margins are 2 and -2 of facts, and 2 of their negatives."""
    found = predicted(predictors(background_margin=1, log_facts=1))
    whole, other = expit(1 + np.log(2)), expit(0 + np.log(2))
    assert found.p_correct == pytest.approx(whole)
    assert found.facts.row(0, named=True)["effect"] == pytest.approx(whole - other)


def test_without_a_fact_the_margin_predicts() -> None:
    found = predicted(predictors(answer_margin=3, background_score=9), ())
    assert found.to_json() == {
        "p_correct": pytest.approx(expit(3 * 0.5)),
        "interval": [pytest.approx(each) for each in found.interval],
        "answer": "kennel",
        "facts": [],
        "predictor": "margin",
        "note": found.note,
    }
    assert "the question has no background facts" in str(found.note)


def test_a_fact_without_a_negative_has_no_effect() -> None:
    """The background score is undefined, so the margin predicts; the fact is shown as right."""
    found = predicted(predictors(answer_margin=3), (Fact("dog", "IsA", "animal"),))
    assert found.facts.select("correct", "effect").rows() == [(True, None)]
    assert "no background score, background margin" in str(found.note)


def test_a_question_beyond_those_of_the_run_is_noted() -> None:
    some = predictors()
    found = predicted({**some, BOTH: replace(some[BOTH], lowest=[50.0] * 7)})
    assert "outside the range of the run's questions" in str(found.note)
    assert "answer margin" in str(found.note)


def test_verified_questions_are_predicted_too() -> None:
    """The margin is then that of the verification; a tie of choices takes the first."""
    for anchors, predictor in (("verify", MARGIN), ("verify,choice", BOTH)):
        found = predicted(predictors(answer_margin=1), anchors=anchors)
        assert (found.answer, found.predictor) == ("kennel", predictor)


@pytest.mark.parametrize(
    ("asked", "choices", "expected"),
    [
        ("", ["a", "b"], "empty"),
        ("What?", ["a", " "], "empty"),
        ("What?", ["a"], "has 1 choice: give two or more"),
        ("What?", ["a", "b", "a "], "'a' is given twice"),
    ],
)
def test_what_cannot_be_asked_is_refused(asked: str, choices: list[str], expected: str) -> None:
    """Before the knowledge base is read."""
    options = ConsistencyOptions(Path("none.jsonl"), Path("none.kb"))
    with pytest.raises(RequestError, match=expected):
        new_question.probe_of(options, asked, choices)
