from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from tacit.errors import RequestError
from tacit.probes.consistency.answers import PRESETS, Answers, Method
from tacit.probes.consistency.prompt_variants import Inputs
from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import AnswerScore, Scores

if TYPE_CHECKING:
    from tacit.probes.consistency.prompt_variants import Floats

VARIANTS = prompt_variants(load_templates())
INPUTS = Inputs.of(VARIANTS)
YES_NO, TRUE_FALSE, ON_OFF = ("Yes", "No"), ("True", "False"), ("On", "Off")
NONE = math.nan

# Few values, so that many are equal; halves, so that sums are exact.
TABLES = arrays.arrays(
    np.float64,
    st.tuples(st.integers(1, 4), st.just(84)),
    elements=st.sampled_from([-2.0, -1.5, -1.0, NONE]),
    fill=st.sampled_from([-2.0, NONE]),
)


def column(meta: int, pair: tuple[str, str], word: str) -> int:
    """Where an input is, by walking through the variants."""
    at = -1
    for variant in VARIANTS:
        for answer in variant.answers:
            at += 1
            if variant.meta == meta and variant.pair in (None, pair) and answer == word:
                return at
    raise LookupError


def row(**values: float) -> Floats:
    """A question's scores: -9 but for some inputs, each named by meta-prompt and word."""
    scores = np.full((1, 84), -9.0)
    pairs = {word: pair for pair in INPUTS.pairs for word in pair}
    for name, value in values.items():
        word, meta = name.split("_")
        scores[0, column(int(meta), pairs[word], word)] = value
    return scores


def by_loop(scores: list[float], preset: str, cell: tuple[int, tuple[str, str]]) -> tuple[int, ...]:
    """Positive, missing, tied and winner of one question, one input after the other."""
    if preset == "count":
        votes, held = 0, 0
        for meta in INPUTS.metas:
            for pair in INPUTS.pairs:
                yes, no = (scores[column(meta, pair, word)] for word in pair)
                held += not (math.isnan(yes) or math.isnan(no))
                votes += (yes > no) - (yes < no)
        return int(votes > 0), int(not held), int(held > 0 and votes == 0), -1
    best: dict[bool, tuple[float, int]] = {}
    at = 0
    for variant in VARIANTS:
        for k, _ in enumerate(variant.answers):
            pair = variant.pair or INPUTS.pairs[k // 2]
            asked = preset != "single" or cell == (variant.meta, pair)
            side = k % 2 == 0
            if asked and scores[at] > best.get(side, (-math.inf, 0))[0]:
                best[side] = scores[at], at
            at += 1
    if len(best) < 2:
        return 0, 1, 0, -1
    (yes, yes_at), (no, no_at) = best[True], best[False]
    return int(yes > no), 0, int(yes == no), yes_at if yes > no else no_at


def shown(answers: Answers) -> list[tuple[int, ...]]:
    """The same four of an array's answers."""
    columns = (answers.positive, answers.missing, answers.tied, answers.winner)
    return [tuple(map(int, one)) for one in zip(*columns, strict=True)]


@pytest.mark.parametrize("preset", ["max", "single", "count"])
@given(scores=TABLES, meta=st.sampled_from(INPUTS.metas), pair=st.sampled_from(INPUTS.pairs))
def test_arrays_agree_with_loops(
    preset: str, scores: Floats, meta: int, pair: tuple[str, str]
) -> None:
    """With ties and missing scores, for every meta-prompt and pair."""
    method = Method("single", meta, pair) if preset == "single" else Method(preset)  # type: ignore[arg-type]
    answers = method.answers(scores, INPUTS)
    assert shown(answers) == [by_loop(one, preset, (meta, pair)) for one in scores.tolist()]
    assert (np.isnan(answers.margin) == answers.missing).all()
    assert ((answers.margin == 0) == answers.tied).all()


@given(scores=TABLES)
def test_calibration_agrees_with_loops(scores: Floats) -> None:
    """Each input's mean over the questions with a score is subtracted, then the best counts."""
    shifted = np.full_like(scores, NONE)
    for k in range(84):
        known = [value for value in scores[:, k].tolist() if not math.isnan(value)]
        for i, value in enumerate(scores[:, k].tolist()):
            if not math.isnan(value):
                shifted[i, k] = value - math.fsum(known) / len(known)
    expected = Method().answers(shifted, INPUTS)
    answers = Method("calibrated").answers(scores, INPUTS)
    np.testing.assert_array_equal(answers.missing, expected.missing)
    np.testing.assert_allclose(answers.margin, expected.margin, atol=1e-12)
    clear = np.abs(expected.margin) > 1e-9
    np.testing.assert_array_equal(answers.positive[clear], expected.positive[clear])


def test_the_inputs_of_a_question() -> None:
    """84, of 24 variants; those of a pair stand side by side."""
    assert len(INPUTS.words) == len(INPUTS.variants) == 84
    assert INPUTS.metas == (1, 2, 3, 4, 5, 6)
    for i, meta in enumerate(INPUTS.metas):
        for j, pair in enumerate(INPUTS.pairs):
            assert INPUTS.positive[i, j] == column(meta, pair, pair[0])
            assert INPUTS.negative[i, j] == column(meta, pair, pair[1])
            variant = VARIANTS[INPUTS.variants[INPUTS.positive[i, j]]]
            assert variant.meta == meta
            assert variant.pair in (None, pair)


def test_the_paper_s_answer_is_that_of_the_best_input() -> None:
    """Whatever the other 83 say."""
    answers = Method().answers(row(No_1=-2, No_2=-2, No_6=-2, On_4=-1.5), INPUTS)
    assert answers.positive.tolist() == [True]
    assert answers.winner.tolist() == [column(4, ON_OFF, "On")]
    assert answers.margin.tolist() == [0.5]


def test_a_tie_is_negative() -> None:
    """It is counted, and the negative input counts as the winner."""
    answers = Method().answers(row(Yes_1=-1, False_5=-1), INPUTS)
    assert (answers.positive[0], answers.tied[0], answers.margin[0]) == (False, True, 0)
    assert answers.winner[0] == column(5, TRUE_FALSE, "False")


def test_one_meta_prompt_and_pair() -> None:
    """Looks at no other input."""
    scores = row(Yes_1=-1, No_3=-2, Yes_3=-3)
    answers = Method("single", 3, YES_NO).answers(scores, INPUTS)
    assert shown(answers) == [(0, 0, 0, column(3, YES_NO, "No"))]
    assert answers.margin.tolist() == [-1]


def test_counting() -> None:
    """Two contests won and one lost; all the others end level."""
    scores = row(Yes_1=-8, On_4=-8, No_2=-1)
    assert Method("count").answers(scores, INPUTS).positive.tolist() == [True]
    assert Method("count").answers(scores, INPUTS).margin.tolist() == [1]
    assert Method().answers(scores, INPUTS).positive.tolist() == [False]
    level = Method("count").answers(row(Yes_1=-8, No_2=-1), INPUTS)
    assert shown(level) == [(0, 0, 1, -1)]


def test_a_constant_yes_is_calibrated_away() -> None:
    """A model that says the same of all questions is tied on all of them, whatever its scores."""
    scores = np.repeat(row(Yes_1=-0.1, No_1=-0.3, On_2=-1 / 3), 7, axis=0)
    assert Method().answers(scores, INPUTS).positive.all()
    assert Method("calibrated").answers(scores, INPUTS).tied.all()
    scores[3, column(1, YES_NO, "Yes")] += 0.7
    answers = Method("calibrated").answers(scores, INPUTS)
    assert answers.positive.tolist() == [i == 3 for i in range(7)]


def test_a_side_without_a_score_is_missing() -> None:
    """The answer is neither positive nor tied, and has no margin."""
    scores = np.full((3, 84), NONE)
    scores[1, INPUTS.positive] = -1
    scores[2, INPUTS.positive[0, 0]], scores[2, INPUTS.negative[1, 1]] = -1, -2
    for preset in ("max", "count", "calibrated"):
        answers = Method(preset).answers(scores, INPUTS)
        assert shown(answers)[:2] == [(0, 1, 0, -1)] * 2
        assert np.isnan(answers.margin[:2]).all()
    assert shown(Method().answers(scores, INPUTS))[2] == (1, 0, 0, INPUTS.positive[0, 0])


def test_no_questions() -> None:
    """Have no answers, in every preset."""
    for preset in PRESETS:
        method = Method("single", 1, YES_NO) if preset == "single" else Method(preset)
        assert shown(method.answers(np.empty((0, 84)), INPUTS)) == []


def test_scores_side_by_side() -> None:
    """A row for each question, its variants one after the other; no score is nan."""
    scored = [
        Scores(
            tuple(
                AnswerScore(word, None if (q, f, w) == (1, 2, 1) else -(100 * q + 10 * f + w), 1)
                for w, word in enumerate(variant.answers)
            )
        )
        for q in range(2)
        for f, variant in enumerate(VARIANTS)
    ]
    table = INPUTS.table(scored)
    assert table.shape == (2, 84)
    assert table[1, column(2, ON_OFF, "Off")] == -123
    assert table[0, column(3, YES_NO, "No")] == -21
    assert np.argwhere(np.isnan(table)).tolist() == [[1, column(3, YES_NO, "No")]]


def test_a_malformed_method_is_refused() -> None:
    """An unknown preset, a lacking or needless pair, a pair that there is not."""
    with pytest.raises(RequestError, match="max, single, count, calibrated"):
        Method("mean")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="single requires a meta-prompt"):
        Method("single", 3)
    with pytest.raises(RequestError, match="other methods accept neither"):
        Method("max", 3, YES_NO)
    with pytest.raises(RequestError, match="no meta-prompt 7; expected one of 1, 2"):
        Method("single", 7, YES_NO).answers(row(), INPUTS)
    with pytest.raises(RequestError, match="no label pair No/Yes; expected one of Yes/No"):
        Method("single", 1, ("No", "Yes")).answers(row(), INPUTS)
