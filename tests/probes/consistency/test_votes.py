"""What the consistency probe makes of sampled replies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.findings.findings import Findings
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.questions import PromptVariant, prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import Prompt, Votes
from tests.in_order import measured_in_order
from tests.probes.consistency.asking_by_hand import PAIRS, POSITIVE, probe_of
from tests.probes.consistency.run_by_hand import CASES

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
    """The share is over all replies, or those that name a pair; a count is by contests of words.

    What could not be read is counted.
    """
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


def test_of_tied_choices_none_is_the_answer() -> None:
    """Though all are denied by every reply; of scores the first is taken, as whole runs test."""
    probe = probe_of(CASES, anchors="verify")
    denied = [Votes({w: 3 * (w not in POSITIVE) for w in one.answers}) for one in probe.prompts]
    found = measured_in_order(probe, denied)
    assert found.tables["anchors"]["choice"].null_count() == len(CASES)
    assert found.summary["tied_anchors"] == found.summary["without_answer"] == len(CASES)


def test_replies_are_kept_as_votes_and_counted() -> None:
    """Null where no reply to a prompt could be read; there are no log-probabilities."""
    found = measured()
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
    json.dumps(found.summary)


def test_the_ways_of_votes_are_those_that_votes_have() -> None:
    """All together, by contests, and each meta-prompt and pair, which none may have named."""
    found = measured()
    found.check(ConsistencyProbe.tables.values())
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
