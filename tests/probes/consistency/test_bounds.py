"""Whatever is concluded from the most probable answers alone is so when all are known."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pytest

from tacit.probes.consistency.answers import Method, choice_table, choose, verify, verify_table
from tacit.probes.consistency.prompt_variants import Inputs, at_most
from tacit.probes.consistency.questions import choice_variants, prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import OUTSIDE, OUTSIDE_FIRST, UNKNOWN, AnswerScore, Scores
from tests.probes.consistency.asking_by_hand import probe_of
from tests.probes.consistency.run_by_hand import CASES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.probes.consistency.answers import Answers, Chosen

VARIANTS = prompt_variants(load_templates())
CHOICE_FORMS = choice_variants(load_templates())
INPUTS = Inputs.of(VARIANTS)
NEGATIVE = {negative for _, negative in INPUTS.pairs}
METHODS = [
    Method(),
    Method("calibrated"),
    *(Method("single", meta, pair) for meta in (1, 4, 6) for pair in INPUTS.pairs[:3]),
]
SEEDS = range(40)


@dataclass(frozen=True)
class Server:
    """A model behind a server that returns the most probable tokens alone.

    Args:
        dice: Where its numbers come from. They are few, so that many are equal.
        shown: How probable it is that a token is among the most probable ones.
        unwritable: Answers that hold a token that it does not know.
        silent: How probable it is that it says nothing of an answer.
    """

    dice: np.random.Generator
    shown: float
    unwritable: frozenset[str] = frozenset()
    silent: float = 0.0

    def scores(self, answers: Sequence[str], most_tokens: int = 1) -> tuple[Scores, Scores]:
        """The scores of a prompt's answers, and as many of them as it tells."""
        cut = self._cut()
        asked = [self._score(answer, cut, most_tokens) for answer in answers]
        return Scores(tuple(all_ for all_, _ in asked)), Scores(tuple(told for _, told in asked))

    def _score(self, answer: str, cut: float, most_tokens: int) -> tuple[AnswerScore, AnswerScore]:
        if answer in self.unwritable:
            none = AnswerScore(answer, None, 1, missing=UNKNOWN)
            return none, none
        tokens = int(self.dice.integers(1, most_tokens + 1))
        first, *rest = (-float(self.dice.integers(1, 40)) / 4 for _ in range(tokens))
        score = AnswerScore(answer, first + sum(rest), tokens)
        if self.dice.random() < self.silent:
            return score, AnswerScore(answer, None, tokens, missing="it says nothing")
        if first < cut:
            return score, AnswerScore(answer, None, tokens, missing=OUTSIDE)
        if any(each < self._cut() for each in rest):
            return score, AnswerScore(answer, None, tokens, missing="a later token is outside")
        return score, score

    def _cut(self) -> float:
        return -10 * float(self.dice.random() < self.shown) - 9.9 * float(self.dice.random())


def server(seed: int) -> Server:
    """One of many."""
    dice = np.random.default_rng(seed)
    unwritable = frozenset(word for word in INPUTS.words if dice.random() < 0.03 * (seed % 3))
    silent = 0.01 * (seed % 4 == 3)
    return Server(dice, (0.5, 0.8, 0.95, 1.0)[seed % 4], unwritable, silent)


def check_answers(known: Answers, full: Answers) -> None:
    """Each is the same or missing, and so is each margin."""
    there = ~known.missing
    for name in ("positive", "missing", "tied", "winner"):
        np.testing.assert_array_equal(getattr(known, name)[there], getattr(full, name)[there])
    apart = ~np.isnan(known.margin)
    assert (apart <= there).all()
    np.testing.assert_array_equal(known.margin[apart], full.margin[apart])
    assert not known.positive[~there].any()
    assert (known.winner[~there] == -1).all()


def check_chosen(known: Chosen, full: Chosen) -> None:
    """Each is the same or missing."""
    there = ~known.missing
    for name in ("choice", "missing", "tied", "winner", "margin"):
        np.testing.assert_array_equal(getattr(known, name)[there], getattr(full, name)[there])
    assert (known.choice[~there] == -1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_answers_are_those_of_all_scores_or_missing(seed: int) -> None:
    """In every preset that compares scores."""
    one = server(seed)
    pairs = [one.scores(variant.answers) for _ in range(30) for variant in VARIANTS]
    full, told = ([pair[side] for pair in pairs] for side in (0, 1))
    most = INPUTS.table([at_most(each) for each in told])
    for method in METHODS:
        known = method.answers(INPUTS.table(told), INPUTS, most)
        check_answers(known, method.answers(INPUTS.table(full), INPUTS))


def test_answers_are_known_where_each_prompt_tells_one_word() -> None:
    """The best of all words is then among those that are told, and no variant is left open."""
    one = Server(np.random.default_rng(5), 0.9)
    pairs = [one.scores(variant.answers) for _ in range(200) for variant in VARIANTS]
    told = [pair[1] for pair in pairs]
    most = INPUTS.table([at_most(each) for each in told])
    answers = Method().answers(INPUTS.table(told), INPUTS, most)
    some = np.array([any(a.logprob is not None for a in each.answers) for each in told])
    open_at_most = np.nanmax(np.where(np.isinf(most), -math.inf, most), axis=1)
    assert (answers.missing == ~some.reshape(200, -1).all(axis=1)).all()
    assert 0 < answers.missing.sum() < 200
    assert (open_at_most[~answers.missing] < 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_verified_choices_are_those_of_all_scores_or_missing(seed: int) -> None:
    """By all inputs."""
    one = server(seed)
    pairs = [[[one.scores(f.answers) for f in VARIANTS] for _ in range(3)] for _ in range(8)]
    full, told = (
        [[[pair[side] for pair in choice] for choice in anchor] for anchor in pairs]
        for side in (0, 1)
    )
    most = verify_table([[list(map(at_most, c)) for c in anchor] for anchor in told], INPUTS)
    all_, some = verify_table(full, INPUTS), verify_table(told, INPUTS)
    sizes = np.full((8, 3), 4)
    check_chosen(verify(some, INPUTS, sizes, most), verify(all_, INPUTS, sizes))


@pytest.mark.parametrize("seed", SEEDS)
def test_choices_are_those_of_all_scores_or_missing(seed: int) -> None:
    """Of one token or several, and of different lengths."""
    one = server(seed)
    names = ("x", "café", "kennel")
    pairs = [[one.scores(names, 1 + seed % 2) for _ in CHOICE_FORMS] for _ in range(60)]
    full, told = ([[pair[side] for pair in anchor] for anchor in pairs] for side in (0, 1))
    most, _ = choice_table([list(map(at_most, anchor)) for anchor in told])
    (all_, sizes), (some, _) = choice_table(full), choice_table(told)
    check_chosen(choose(some, sizes, most), choose(all_, sizes))
    for variant in range(3):
        part = [variant, variant + 1]
        known = choose(some[:, part], sizes, most[:, part])
        check_chosen(known, choose(all_[:, part], sizes))


def test_some_choices_are_known_although_a_score_is_missing() -> None:
    """Where the choice is told in one variant, and can be no better in the other."""
    told = Scores((AnswerScore("a", -1.0, 1), AnswerScore("b", -2.0, 1)))
    cut = Scores((AnswerScore("a", -3.0, 1), AnswerScore("b", None, 1, missing=OUTSIDE)))
    for forms_, missing in (([told, cut], False), ([cut], True), ([cut, cut], True)):
        table, sizes = choice_table([forms_])
        most, _ = choice_table([[at_most(each) for each in forms_]])
        assert choose(table, sizes, most).missing.tolist() == [missing]


def test_nothing_missing_changes_nothing() -> None:
    """To the last bit, whether bounds are given or not."""
    scores = np.random.default_rng(1).normal(-9, 3, (200, 84))
    scores[:50] = np.round(scores[:50])
    for method in METHODS:
        one, two = (method.answers(scores, INPUTS, most) for most in (None, scores))
        assert one.margin.tobytes() == two.margin.tobytes()
        check_answers(two, one)
        assert not two.missing.any()


def score(logprob: float | None, missing: str | None = None, tokens: int = 1) -> AnswerScore:
    """Of some answer."""
    return AnswerScore("a", logprob, tokens, missing=missing)


@pytest.mark.parametrize(
    ("scores", "bounds"),
    [
        ([score(-1.0), score(-3.0), score(None, OUTSIDE)], [-1, -3, -3]),
        ([score(-1.0), score(None, OUTSIDE_FIRST, 0)], [-1, -1]),
        ([score(-1.0), score(-9.0, None, 2), score(None, OUTSIDE, 3)], [-1, -9, -1]),
        ([score(-9.0, None, 2), score(None, OUTSIDE)], [-9, math.inf]),
        ([AnswerScore("a", -9.0, 1, spanned=True), score(None, OUTSIDE)], [-9, math.inf]),
        ([score(-1.0), AnswerScore("a", None, 1, spanned=True, missing=OUTSIDE)], [-1, math.inf]),
        ([score(None, OUTSIDE), score(None, OUTSIDE)], [math.inf, math.inf]),
        (
            [score(-1.0), score(None, UNKNOWN), score(None), score(None, "?")],
            [-1, -math.inf] + [math.inf] * 2,
        ),
    ],
)
def test_what_a_missing_score_is_at_most(scores: list[AnswerScore], bounds: list[float]) -> None:
    """The least of the tokens that are told; nothing of what is missing otherwise."""
    assert [one.logprob for one in at_most(Scores(tuple(scores))).answers] == bounds


def test_the_losing_side_may_be_outside() -> None:
    """Who is ahead is known then, but not by how much; a prompt that tells nothing is open."""
    pair = VARIANTS[3].pair
    assert pair is not None
    method = Method("single", VARIANTS[3].meta, pair)
    column = INPUTS.positive[INPUTS.indexes(VARIANTS[3].meta, pair)]
    for told, missing in ((-2.0, False), (None, True)):
        row = [
            Scores(
                tuple(
                    AnswerScore(word, told if word == pair[0] else None, 1, missing=OUTSIDE)
                    for word in variant.answers
                )
            )
            for variant in VARIANTS
        ]
        most = INPUTS.table([at_most(one) for one in row])
        answers = method.answers(INPUTS.table(row), INPUTS, most)
        assert (answers.missing[0], answers.positive[0]) == (missing, not missing)
        assert answers.winner[0] == (-1 if missing else column)
        assert np.isnan(answers.margin[0])


def test_a_side_that_the_model_cannot_write_leaves_no_answer() -> None:
    """Nobody stands against the other side."""
    row = [
        Scores(
            tuple(
                AnswerScore(word, -1.0, 1)
                if at % 2
                else AnswerScore(word, None, 1, missing=UNKNOWN)
                for at, word in enumerate(variant.answers)
            )
        )
        for variant in VARIANTS
    ]
    most = INPUTS.table([at_most(one) for one in row])
    assert Method().answers(INPUTS.table(row), INPUTS, most).missing.tolist() == [True]


def test_a_run_tells_an_answer_without_a_margin() -> None:
    """The side that is ahead counts as the answer; the margin is null, and counted."""
    probe = probe_of(CASES)
    cut = [
        Scores(
            tuple(
                AnswerScore(one, None, 1, missing=OUTSIDE)
                if one in NEGATIVE
                else AnswerScore(one, -1.0 - len(one), 1)
                for one in prompt.answers
            )
        )
        for prompt in probe.prompts
    ]
    found = probe.measure_in_order(cut)
    facts = found.tables["facts"]
    assert facts["positive_right"].to_list() == [True] * facts.height
    assert facts["positive_word"].to_list() == ["On"] * facts.height
    assert facts["positive_margin"].null_count() == facts.height
    assert found.summary["missing_questions"] == 0
    assert found.summary["without_margin"] == found.summary["questions"]
    assert found.summary["without_answer"] == 0
