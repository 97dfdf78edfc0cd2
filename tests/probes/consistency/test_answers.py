"""Answers to yes/no questions and to anchor questions, against loops over single prompts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.probes.base import Answered, Answers
from tacit.probes.consistency.answers import (
    anchor_answers,
    chosen,
    labelled,
    scores_of_choices,
    yes_or_no,
)
from tacit.probes.consistency.options import Method
from tacit.probes.consistency.questions import choice_variants, prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import OUTSIDE, UNKNOWN, AnswerScore, Scores
from tests.in_order import measured_in_order
from tests.probes.consistency import asking_by_hand as asking
from tests.probes.consistency.asking_by_hand import PAIRS, POSITIVE, probe_of
from tests.probes.consistency.run_by_hand import CASES

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TEMPLATES = load_templates()
VARIANTS = prompt_variants(TEMPLATES)
CHOICE_FORMS = choice_variants(TEMPLATES)
INPUTS = list(asking.inputs("Is it"))
METHODS = [
    Method(),
    Method("calibrated"),
    *(Method("single", meta, pair) for meta in (1, 4, 6) for pair in ("Yes/No", "True/False")),
]
# Few values, so that many are equal; halves, so that sums are exact.
VALUES = st.sampled_from([-2.0, -1.5, -1.0, None])
ROWS = st.lists(st.lists(VALUES, min_size=84, max_size=84), min_size=1, max_size=3)


def frame(rows: Sequence[Sequence[float | None]], **columns: object) -> pl.DataFrame:
    """The scores of questions, 84 each; what is missing is impossible."""
    cells = [
        {
            "question": f"q{at}",
            "meta": one.meta,
            "pair": one.pair,
            "word": one.word,
            "positive": one.word in POSITIVE,
            "score": score,
            "most": -math.inf if score is None else score,
        }
        for at, row in enumerate(rows)
        for one, score in zip(INPUTS, row, strict=True)
    ]
    kinds = {"score": pl.Float64, "most": pl.Float64}
    return pl.DataFrame(cells, schema_overrides=kinds).with_columns(**columns)  # type: ignore[arg-type]


def row(values: Mapping[tuple[int, str], float | None], rest: float | None = -9.0) -> list[Any]:
    """A question's scores, some given by meta-prompt and word."""
    return [values.get((one.meta, one.word), rest) for one in INPUTS]


def answers_of(found: pl.DataFrame) -> list[tuple[object, ...]]:
    return found.select("yes", "tied", "margin", "meta", "pair", "word").rows()


def expected(reply: asking.Reply) -> tuple[object, ...]:
    by: tuple[object, ...] = (None, None, None)
    if reply.winner is not None:
        by = (reply.winner.meta, reply.winner.pair, reply.winner.word)
    margin = None if reply.margin is None else float(reply.margin)
    return (reply.positive, reply.tied, margin, *by)


def by_single(scores: asking.Scored) -> asking.Reply:
    return asking.by_single(scores, 4, "On/Off")


@pytest.mark.parametrize(
    ("method", "hand"),
    [
        (Method(), asking.by_max),
        (Method("count"), asking.by_count),
        (Method("single", 4, "On/Off"), by_single),
    ],
    ids=["max", "count", "single"],
)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_answers_agree_with_loops(
    method: Method,
    hand: Callable[[asking.Scored], asking.Reply],
    rows: list[list[float | None]],
) -> None:
    """With ties and missing scores."""
    found = yes_or_no(frame(rows), method)
    assert answers_of(found) == [
        expected(hand(dict(zip(INPUTS, each, strict=True)))) for each in rows
    ]


@settings(max_examples=20, deadline=None)
@given(rows=ROWS)
def test_calibration_agrees_with_fractions(rows: list[list[float | None]]) -> None:
    """Each input's mean over the questions is subtracted; equal scores stay equal."""
    tables: dict[str, asking.Scored] = {
        f"q{at}": dict(zip(INPUTS, each, strict=True)) for at, each in enumerate(rows)
    }
    replies = [asking.by_max(scores) for scores in asking.calibrated(tables).values()]
    found = yes_or_no(frame(rows), Method("calibrated"))
    for known, reply in zip(found.to_dicts(), replies, strict=True):
        assert (known["yes"] is None) == (reply.positive is None)
        if reply.margin is not None:
            assert known["margin"] == pytest.approx(float(reply.margin), abs=1e-12)
            assert abs(float(reply.margin)) < 1e-9 or known["yes"] is reply.positive


@settings(max_examples=30, deadline=None)
@given(rows=st.lists(st.lists(st.integers(0, 3), min_size=84, max_size=84), max_size=2, min_size=1))
def test_votes_are_pooled(rows: list[list[int]]) -> None:
    """Without any reply the answer is missing, with as many of each it is tied."""
    found = yes_or_no(frame(rows, unparsed=0), Method().of_replies())
    for known, counts in zip(found.to_dicts(), rows, strict=True):
        yes = sum(n for one, n in zip(INPUTS, counts, strict=True) if one.word in POSITIVE)
        no = sum(counts) - yes
        assert known["yes"] is (yes > no if yes + no else None)
        assert known["tied"] == (yes == no > 0)
        assert known["margin"] == ((yes - no) / (yes + no) if yes + no else None)


def test_a_pair_that_no_reply_names_does_not_decide() -> None:
    """Alone it gives no answer, and no vote in a count."""
    votes = frame([row({(1, "No"): 2.0, (2, "On"): 1.0, (2, "Off"): 1.0}, 0.0)], unparsed=0)
    assert yes_or_no(votes, Method("single", 1, "True/False"))["yes"].to_list() == [None]
    assert answers_of(yes_or_no(votes, Method("count")))[0][:3] == (False, False, -1)


@dataclass(frozen=True)
class Server:
    """A model behind a server that returns the most probable tokens alone; many are equal."""

    dice: np.random.Generator
    shown: float  # how probable it is that a token is among the most probable ones
    unwritable: frozenset[str] = frozenset()  # answers that hold a token that it does not know
    silent: float = 0.0  # how probable it is that it says nothing of an answer

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
    dice = np.random.default_rng(seed)
    words = [one.word for one in INPUTS]
    unwritable = frozenset(word for word in words if dice.random() < 0.003 * (seed % 3))
    return Server(dice, (0.5, 0.8, 0.95, 1.0)[seed % 4], unwritable, 0.01 * (seed % 4 == 3))


def both(pairs: Mapping[tuple[Any, ...], tuple[Scores, Scores]], *key: str) -> list[pl.DataFrame]:
    """All scores by the key of their prompts, and those that are not missing."""
    keys = pl.DataFrame(list(pairs), [*key, "meta", "pair"], orient="row", infer_schema_length=None)
    sides = ([pair[side] for pair in pairs.values()] for side in (0, 1))
    return [Answers({"some": Answered(keys, each)}).frame("some") for each in sides]


def check(known: pl.DataFrame, full: pl.DataFrame, answer: str) -> None:
    for one, all_ in zip(known.to_dicts(), full.to_dicts(), strict=True):
        if one[answer] is None:
            assert one["margin"] is one["meta"] is None
            assert not one["tied"]
            continue
        assert one["margin"] in {None, all_["margin"]}
        ignored = {"margin"} if one["margin"] is not None else {"margin", "tied"}
        assert {k: v for k, v in one.items() if k not in ignored} == {
            k: v for k, v in all_.items() if k not in ignored
        }


@pytest.mark.parametrize("seed", range(12))
def test_answers_are_those_of_all_scores_or_missing(seed: int) -> None:
    """In every preset that compares scores, and for choices that are verified."""
    one = server(seed)
    asked = {
        (anchor, choice, v.meta, v.pair): one.scores(v.answers)
        for anchor in range(8)
        for choice in range(3)
        for v in VARIANTS
    }
    full, some = (labelled(each, PAIRS) for each in both(asked, "anchor", "choice"))
    for method in METHODS:
        key = ("anchor", "choice")
        check(yes_or_no(some, method, key), yes_or_no(full, method, key), "yes")
    check(anchor_answers(some), anchor_answers(full), "choice")


@pytest.mark.parametrize("seed", range(12))
def test_choices_are_those_of_all_scores_or_missing(seed: int) -> None:
    """Of one token or several, and of different lengths; all variants, or two of them."""
    one = server(seed)
    names = ("x", "café", "kennel")
    asked = {
        (anchor, v.meta, v.pair): one.scores(names, 1 + seed % 2)
        for anchor in range(40)
        for v in CHOICE_FORMS
    }
    full, some = (scores_of_choices(each) for each in both(asked, "anchor"))
    check(anchor_answers(some), anchor_answers(full), "choice")
    few = pl.col("pair") == "Yes/No"
    check(anchor_answers(some.filter(few)), anchor_answers(full.filter(few)), "choice")


def test_the_losing_side_may_be_outside() -> None:
    """Who is ahead is known then, but not by how much; a prompt that tells nothing is open."""
    method, variant = Method("single", 3, "Yes/No"), VARIANTS[2]
    for told_, missing in ((-2.0, False), (None, True)):
        yes = AnswerScore("Yes", told_, 1, missing=None if told_ else OUTSIDE)
        scores = Scores((yes, AnswerScore("No", None, 1, missing=OUTSIDE)))
        (asked, _) = both({("q", variant.meta, variant.pair): (scores, scores)}, "question")
        (found,) = answers_of(yes_or_no(labelled(asked, PAIRS), method))
        word = (None, None, None) if missing else (3, "Yes/No", "Yes")
        assert found == (None if missing else True, False, None, *word)


def test_a_side_that_the_model_cannot_write_leaves_no_answer() -> None:
    """Nobody stands against the other side."""
    rows = [[-1.0 if one.word in POSITIVE else None for one in INPUTS]]
    assert yes_or_no(frame(rows), Method())["yes"].to_list() == [None]


def choices(rows: Mapping[tuple[int, str], Mapping[str, float | None]]) -> pl.DataFrame:
    kinds = {"score": pl.Float64, "most": pl.Float64}
    cells = [
        {"anchor": 0, "meta": meta, "pair": pair, "answer": answer, "score": score, "most": -2.5}
        for (meta, pair), scores in rows.items()
        for answer, score in scores.items()
    ]
    return scores_of_choices(pl.DataFrame(cells, schema_overrides=kinds))


def test_a_choice_by_hand() -> None:
    """The longer choice is better per byte, though worse in all; a byte is one of UTF-8."""
    found = anchor_answers(choices({(1, "a"): {"ab": -4.0, "kennel": -6.0}}))
    assert found.to_dicts() == [
        {"anchor": 0, "choice": "kennel", "meta": 1, "pair": "a", "margin": 1.0, "tied": False}
    ]
    found = anchor_answers(choices({(1, "a"): {"café": -5.0, "cafe": -4.0}}))
    assert found.select("choice", "margin", "tied").row(0) == ("café", 0.0, True)


def test_of_tied_choices_the_first_is_taken_or_with_replies_none() -> None:
    """They are counted as tied in either case."""
    values = pl.DataFrame(
        {"anchor": 0, "choice": ["a", "b"], "value": [1.0, 1.0], "meta": 1, "pair": "p"}
    )
    assert chosen(values).select("choice", "margin", "tied").row(0) == ("a", 0.0, True)
    found = chosen(values, sampled=True)
    assert found.select("choice", "margin", "tied").row(0) == (None, None, True)


def test_a_run_tells_an_answer_without_a_margin() -> None:
    """The side that is ahead counts as the answer; the margin is null, and counted."""
    probe = probe_of(CASES)
    negative = {no for _, no in PAIRS}
    cut = [
        Scores(
            tuple(
                AnswerScore(one, None, 1, missing=OUTSIDE)
                if one in negative
                else AnswerScore(one, -1.0 - len(one), 1)
                for one in prompt.answers
            )
        )
        for prompt in probe.prompts
    ]
    found = measured_in_order(probe, cut)
    facts = found.tables["fact_answers"].filter(expected="yes")
    assert facts["right"].to_list() == [True] * facts.height
    assert facts["word"].to_list() == ["On"] * facts.height
    assert facts["margin"].null_count() == facts.height
    assert found.summary["missing_questions"] == 0
    assert found.summary["without_margin"] == found.summary["questions"]
    assert found.summary["without_answer"] == 0
