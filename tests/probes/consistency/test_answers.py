"""Answers of servers that do not return all scores, and choices by hand.

That answers are those of loops over single prompts is tested with whole runs.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
import pytest

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.base import Answered, Answers
from tacit.probes.consistency.answers import anchor_answers, labelled, yes_or_no
from tacit.probes.consistency.options import Method
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.questions import PromptVariant, prompt_variants
from tacit.probes.consistency.results import scored
from tacit.probes.consistency.template import load_templates
from tacit.requests import OUTSIDE, UNKNOWN, AnswerScore, Prompt, Scores, Votes
from tests.in_order import measured_in_order
from tests.probes.consistency.asking_by_hand import PAIRS, POSITIVE, probe_of
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


def test_the_losing_side_may_be_outside() -> None:
    """Who is ahead is known then, but not by how much; what cannot be written stands for nobody."""
    keys = pl.DataFrame({"question": "q", "meta": 3, "pair": "Yes/No"})
    for yes, no, answer in ((-2.0, OUTSIDE, True), (None, OUTSIDE, None), (-2.0, UNKNOWN, None)):
        told = AnswerScore("Yes", yes, 1, missing=None if yes else OUTSIDE)
        scores = Scores((told, AnswerScore("No", None, 1, missing=no)))
        asked = Answers({"some": Answered(keys, [scores])}).frame("some")
        found = yes_or_no(labelled(asked, PAIRS), Method("single", 3, "Yes/No"))
        word = (3, "Yes/No", "Yes") if answer else (None, None, None)
        names = ("yes", "tied", "margin", "meta", "pair", "word")
        assert found.select(names).row(0) == (answer, False, None, *word)


def test_a_run_tells_an_answer_without_a_margin() -> None:
    """The side that is ahead counts as the answer; the margin is null, and counted."""
    probe = probe_of(CASES)

    def score(word: str) -> AnswerScore:
        if word in {no for _, no in PAIRS}:
            return AnswerScore(word, None, 1, missing=OUTSIDE)
        return AnswerScore(word, -1.0 - len(word), 1)

    cut = [Scores(tuple(map(score, prompt.answers))) for prompt in probe.prompts]
    found = measured_in_order(probe, cut)
    facts = found.tables["fact_answers"].filter(expected="yes")
    assert facts["right"].to_list() == [True] * facts.height
    assert facts["word"].to_list() == ["On"] * facts.height
    assert facts["margin"].null_count() == facts.height
    assert found.summary["missing_questions"] == 0
    assert found.summary["without_margin"] == found.summary["questions"]
    assert found.summary["without_answer"] == 0


VARIANTS = prompt_variants(load_templates())
COLUMNS = ("share", "unparsed", "truncated")


def replied(prompt: Prompt, samples: int = 9) -> Votes:
    """Votes drawn from the text: on one of its words, its opposite, or on nothing."""
    digest = hashlib.sha256(prompt.text.encode()).digest()
    if digest[0] < 20:
        return Votes(dict.fromkeys(prompt.answers, 0), unparsed=samples, truncated=digest[0] % 3)
    yes, no = digest[1] % (samples + 1), digest[2] % 3
    no = min(no, samples - yes)
    pair = 2 * (digest[3] % (len(prompt.answers) // 2))
    counts = dict.fromkeys(prompt.answers, 0)
    counts |= {prompt.answers[pair]: yes, prompt.answers[pair + 1]: no}
    unparsed = samples - yes - no
    return Votes(counts, unparsed, truncated=min(unparsed, digest[4] % 2))


def measured(**options: Any) -> Findings:  # noqa: ANN401 - of any type
    probe = probe_of(CASES, anchors="verify", **options)
    return measured_in_order(probe, [replied(prompt) for prompt in probe.prompts])


@pytest.mark.parametrize(
    ("options", "variants"),
    [
        ({}, VARIANTS),
        ({"answering": "count"}, VARIANTS),
        (
            {"answering": "single", "meta": 1, "pair": "On/Off"},
            [replace(VARIANTS[0], answers=("On", "Off"))],
        ),
    ],
)
def test_each_fact_as_by_hand(options: dict[str, Any], variants: list[PromptVariant]) -> None:
    """The share is over all replies, or those that name a pair; a count is by contests of words."""
    for row in measured(**options).tables["fact_answers"].to_dicts():
        votes = [replied(variant.prompt(row["question"])) for variant in variants]
        contests = [
            (each.counts[yes], each.counts[no])
            for variant, each in zip(variants, votes, strict=True)
            for yes, no in zip(variant.answers[::2], variant.answers[1::2], strict=True)
        ]
        yes, no = (sum(side) for side in zip(*contests, strict=True))
        share = yes / (yes + no) if yes + no else None
        unread = [sum(each.unparsed for each in votes), sum(each.truncated for each in votes)]
        assert [row[name] for name in COLUMNS] == [share, *unread]
        margin = None if share is None else (yes - no) / (yes + no)
        if options.get("answering") == "count":
            named = [(yes > no) - (no > yes) for yes, no in contests if yes or no]
            margin = sum(named) if named else None
        elif options:
            margin = None if share is None else yes - no
        right = None if margin is None else (margin > 0) is (row["expected"] == "yes")
        assert [row["margin"], row["tied"], row["right"]] == [margin, margin == 0, right]


def test_an_anchor_is_answered_by_the_choice_that_most_replies_verify() -> None:
    """By the share of positive replies to whether it is the answer."""
    found = measured()
    probe = probe_of(CASES, anchors="verify")
    verify = iter(probe.prompts[len(probe.asked.texts) * len(VARIANTS) :])
    for row, case in zip(found.tables["anchors"].to_dicts(), CASES, strict=True):
        margins = []
        for _ in case.anchor.choices:
            votes = [(replied(next(verify)), variant.answers) for variant in VARIANTS]
            yes = sum(of.counts[word] for of, words in votes for word in words if word in POSITIVE)
            total = sum(of.parsed for of, _ in votes)
            margins.append(2 * yes / total - 1)
        tied = margins.count(max(margins)) > 1
        assert row["choice"] == (None if tied else case.anchor.choices[int(np.argmax(margins))])
        assert (row["tied"], row["right"] is None) == (tied, tied)
    # Of tied choices none is, though all are denied by every reply.
    denied = [Votes({w: 3 * (w not in POSITIVE) for w in one.answers}) for one in probe.prompts]
    found = measured_in_order(probe, denied)
    assert found.tables["anchors"]["choice"].null_count() == len(CASES)
    assert found.summary["tied_anchors"] == found.summary["without_answer"] == len(CASES)


def test_replies_are_kept_as_votes_and_counted() -> None:
    """Null where no reply to a prompt could be read; there are no log-probabilities."""
    found = measured().check(ConsistencyProbe.tables.values())
    assert "logprob" not in found.questions.columns
    prompts = {
        (variant.meta, pair, word): variant
        for variant in VARIANTS
        for pair in map("/".join, PAIRS)
        for word in variant.answers
        if word in pair.split("/")
    }
    for row in found.questions.sample(200, seed=0).to_dicts():
        variant = prompts[row["meta"], row["pair"], row["word"]]
        votes = replied(variant.prompt(row["question"]))
        assert row["votes"] == (votes.counts[row["word"]] if votes.parsed else None)
        share = votes.counts[row["word"]] / votes.parsed if votes.parsed else None
        assert [row[name] for name in COLUMNS] == [share, votes.unparsed, votes.truncated]
    assert found.summary["votes"]["replies"] == 9 * found.summary["prompts"]
    assert "spanned" not in found.summary
    ways = found.tables["background_variants"]
    assert ways["preset"].unique(maintain_order=True).to_list() == ["votes", "count", "single"]
    asked = found.questions["question"].unique()
    for row in ways.filter(preset="single", meta=1).to_dicts():
        named = [replied(VARIANTS[0].prompt(one)).count(*row["pair"].split("/")) for one in asked]
        assert row["missing"] == named.count(0) > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "cannot score the choices"),
        ({"answering": "calibrated", "anchors": "verify"}, "subtracts mean log-probabilities"),
    ],
)
def test_what_replies_cannot_tell_is_refused(options: dict[str, Any], message: str) -> None:
    """Before anything is asked, and again when it is measured."""
    probe = probe_of(CASES, **options)
    with pytest.raises(RequestError, match=message):
        probe.check_replies(sampled=True)
    with pytest.raises(RequestError, match=message):
        measured_in_order(probe, [replied(prompt) for prompt in probe.prompts])
