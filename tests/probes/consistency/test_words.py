from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from tacit.probes.consistency import consistency
from tacit.probes.consistency.sentences import verdict
from tacit.statistics.studentised import Permutations

if TYPE_CHECKING:
    from collections.abc import Sequence

FALLING = np.linspace(1, 0, 40).tolist()


def words_of(
    right: Sequence[bool],
    score: Sequence[float],
    clusters: Sequence[int] | None = None,
    accuracies: tuple[float, float] = (0.8, 0.6),
) -> str:
    """The sentence about anchors that are right or not and have a background score."""
    anchors = pl.DataFrame(
        {
            "right": pl.Series(right, dtype=pl.Boolean),
            "background_score": pl.Series(score, dtype=pl.Float64),
            "cluster": [str(one) for one in clusters or range(len(right))],
        }
    )
    found = consistency.overall(anchors, Permutations(199)).to_dicts()[0]
    positive, negative = accuracies
    # As if all questions had equally many facts.
    names = {
        "lift_adjusted": "lift",
        "lift_adjusted_low": "lift_low",
        "lift_adjusted_high": "lift_high",
    }
    adjusted = {name: found[of] for name, of in names.items()}
    return verdict(
        {
            "consistency": found,
            "positive_accuracy": positive,
            "negative_accuracy": negative,
            "no_adjusted_interval": found["no_interval"],
            **adjusted,
        }
    )


def test_no_question() -> None:
    """Nothing to compute."""
    assert words_of([], []).startswith("No anchor question has both a background score and")


@pytest.mark.parametrize(("right", "side"), [(True, "correctly"), (False, "incorrectly")])
def test_all_questions_right_or_all_wrong(right: bool, side: str) -> None:  # noqa: FBT001
    """There is nothing to predict; it does not speak of too few questions."""
    expected = "so there is nothing to predict and the lift is undefined."
    assert words_of([right] * 40, FALLING) == (
        f"All 40 anchor questions are answered {side}, {expected}"
    )
    assert words_of([right], [0.5]) == f"The only anchor question is answered {side}, {expected}"


@pytest.mark.parametrize(
    ("accuracies", "alike"),
    [
        ((1.0, 0.0), ", because the model answers every background question with \u201cyes\u201d."),
        ((0.0, 1.0), ", because the model answers every background question with \u201cno\u201d."),
        ((0.5, 0.5), ". A constant background score cannot predict"),
    ],
)
def test_a_background_score_that_is_always_the_same(
    accuracies: tuple[float, float], alike: str
) -> None:
    """It says so, and when the model gives one answer to everything."""
    sentence = words_of([True, False] * 20, [0.5] * 40, accuracies=accuracies)
    assert sentence.startswith("All 40 anchor questions have the same background score, 0.500")
    assert alike in sentence
    assert sentence.endswith("the share of correct answers: 0.500.")


def test_a_perfect_ranking() -> None:
    """It is not too few questions: the sentence has the p-value of 40 independent ones."""
    sentence = words_of([True] * 15 + [False] * 25, FALLING)
    assert sentence.startswith("Every question that is answered correctly has a higher background")
    assert (
        "a lift of 1.000, computed from 40 anchor questions, 15 of which are answered correctly"
        in sentence
    )
    assert sentence.endswith("exceeds the chance level gives p = 0.005.")


def test_one_question_concept() -> None:
    """It does not show how concepts differ."""
    right = [True, False, True, True] * 10
    sentence = words_of(right, FALLING, [1] * 40)
    assert "because all 40 anchor questions are about the same concept" in sentence
    assert "interval" not in sentence


def test_few_question_concepts() -> None:
    """Nine of them have no interval, ten have one."""
    right = [number % 3 > 0 for number in range(40)]
    few, enough = (words_of(right, FALLING, [at % n for at in range(40)]) for n in (9, 10))
    assert few.startswith("There are too few question concepts to test")
    assert few.endswith("fewer than 10 concepts, the lift has no confidence interval.")
    assert "95" not in few
    assert "95\N{NO-BREAK SPACE}% CI" in enough
    assert "too few" not in enough


def test_too_few_questions_have_no_interval() -> None:
    """Three wrong answers of 28 bound the lift by no more than -1.1 and 0.8."""
    right = [number not in {9, 14, 26} for number in range(28)]
    sentence = words_of(right, FALLING[:28])
    assert sentence.startswith("There are too few anchor questions to test")
    assert (
        "a lift of 0.371, computed from 28 anchor questions, 25 of which are answered correctly."
        in sentence
    )
    assert "95" not in sentence


def test_what_an_interval_shows() -> None:
    """It lies above 0, below 0, or includes it."""
    random = np.random.default_rng(0)
    uniform = random.random(40)
    for right, start in (
        (uniform < np.array(FALLING), "Higher background scores predict correct answers: "),
        (uniform > np.array(FALLING), "Higher background scores predict incorrect answers: "),
        (uniform < 0.4, "There is no evidence that background scores predict correct"),
    ):
        sentence = words_of(right.tolist(), FALLING)
        assert sentence.startswith(start)
        assert "95\N{NO-BREAK SPACE}% CI" in sentence
