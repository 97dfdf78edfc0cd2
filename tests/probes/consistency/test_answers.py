"""Answers of servers that do not return all scores, and choices by hand.

That answers are those of loops over single prompts is tested with whole runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest

from tacit.probes.base import Answered, Answers
from tacit.probes.consistency.answers import (
    anchor_answers,
    labelled,
    yes_or_no,
)
from tacit.probes.consistency.options import Method
from tacit.probes.consistency.results import scored
from tacit.requests import OUTSIDE, UNKNOWN, AnswerScore, Prompt, Scores
from tests.in_order import measured_in_order
from tests.probes.consistency.asking_by_hand import PAIRS, probe_of
from tests.probes.consistency.run_by_hand import CASES

METHODS = [
    Method(),
    Method("calibrated"),
    *(Method("single", meta, pair) for meta in (1, 4, 6) for pair in ("Yes/No", "True/False")),
]


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
    words = [word for pair in PAIRS for word in pair] * 6
    unwritable = frozenset(word for word in words if dice.random() < 0.003 * (seed % 3))
    return Server(dice, (0.5, 0.8, 0.95, 1.0)[seed % 4], unwritable, 0.01 * (seed % 4 == 3))


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
    """In every preset that compares scores, and for choices; of answers of one token or two."""
    of, probe = server(seed), probe_of(CASES, anchors="choice,verify")
    sides: tuple[dict[str, Answered], ...] = ({}, {})
    for name, group in probe.requests().items():
        pairs = [
            of.scores(prompt.answers, 1 + seed % 2)
            for prompt in group.requests
            if isinstance(prompt, Prompt)
        ]
        for side, each in zip(sides, zip(*pairs, strict=True), strict=True):
            side[name] = Answered(group.keys, each)
    full, some = (scored(probe, Answers(side)) for side in sides)
    for method in METHODS:
        known, every = (yes_or_no(each["background"], method) for each in (some, full))
        check(known, every, "yes")
    few = [{"few": each["choice"].filter(pair="Yes/No")} | each for each in (some, full)]
    for way in ("choice", "few", "verify"):
        known, every = (anchor_answers(each[way]) for each in few)
        check(known, every, "choice")


@pytest.mark.parametrize(
    ("yes", "no", "answer"),
    [(-2.0, OUTSIDE, True), (None, OUTSIDE, None), (-2.0, UNKNOWN, None)],
)
def test_the_losing_side_may_be_outside(yes: float | None, no: str, *, answer: bool | None) -> None:
    """Who is ahead is known then, but not by how much; what cannot be written stands for nobody."""
    told = AnswerScore("Yes", yes, 1, missing=None if yes else OUTSIDE)
    scores = Scores((told, AnswerScore("No", None, 1, missing=no)))
    keys = pl.DataFrame({"question": "q", "meta": 3, "pair": "Yes/No"})
    asked = Answers({"some": Answered(keys, [scores])}).frame("some")
    found = yes_or_no(labelled(asked, PAIRS), Method("single", 3, "Yes/No"))
    word = (3, "Yes/No", "Yes") if answer else (None, None, None)
    names = ("yes", "tied", "margin", "meta", "pair", "word")
    assert found.select(names).row(0) == (answer, False, None, *word)


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
