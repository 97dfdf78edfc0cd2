"""What the consistency probe makes of sampled replies."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tacit.errors import RequestError
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.probes.consistency.questions import prompt_variants
from tacit.probes.consistency.template import load_templates
from tacit.requests import Prompt, Votes
from tests.in_order import measured_in_order
from tests.probes.consistency.asking_by_hand import POSITIVE, probe_of
from tests.probes.consistency.run_by_hand import CASES

if TYPE_CHECKING:
    from tacit.findings.findings import Findings

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


def test_the_share_of_each_fact_is_over_all_replies() -> None:
    """Of all variants, or of one; what could not be read is counted."""
    single = {"answering": "single", "meta": 1, "pair": "On/Off"}
    of_one = [replace(VARIANTS[0], answers=("On", "Off"))]
    for options, variants in (({}, VARIANTS), ({"answering": "count"}, VARIANTS), (single, of_one)):
        for row in measured(**options).tables["fact_answers"].to_dicts():
            votes = [replied(variant.prompt(row["question"])) for variant in variants]
            yes, parsed = (
                sum(each.count(*(words & set(each.counts))) for each in votes)
                for words in (POSITIVE, {w for variant in variants for w in variant.answers})
            )
            assert [row[name] for name in COLUMNS] == [
                yes / parsed if parsed else None,
                sum(each.unparsed for each in votes),
                sum(each.truncated for each in votes),
            ]
            if "answering" not in options or parsed == 0:
                margin = (2 * yes - parsed) / parsed if parsed else None
                assert (row["margin"], row["tied"]) == (margin, margin == 0)
                right = None if margin is None else (margin > 0) is (row["expected"] == "yes")
                assert row["right"] is right


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


def test_replies_are_kept_as_votes_and_counted() -> None:
    """Null where no reply to a prompt could be read; there are no log-probabilities."""
    found = measured()
    assert "logprob" not in found.questions.columns
    for row in found.questions.sample(200, seed=0).to_dicts():
        variant = next(
            variant
            for variant in VARIANTS
            if variant.meta == row["meta"]
            and row["word"] in variant.answers
            and variant.pair in {None, row["pair"]}
        )
        votes = replied(variant.prompt(row["question"]))
        assert row["votes"] == (votes.counts[row["word"]] if votes.parsed else None)
        share = votes.counts[row["word"]] / votes.parsed if votes.parsed else None
        assert [row[name] for name in COLUMNS] == [share, votes.unparsed, votes.truncated]
    assert found.summary["votes"]["replies"] == 9 * found.summary["prompts"]
    assert "spanned" not in found.summary
    json.dumps(found.summary)


def test_the_ways_of_votes_are_those_that_votes_have() -> None:
    """All together, by contests, and each meta-prompt and pair."""
    found = measured()
    found.check(ConsistencyProbe.tables.values())
    ways = found.tables["background_variants"]
    assert ways["preset"].unique(maintain_order=True).to_list() == ["votes", "count", "single"]


def test_a_count_of_votes_is_by_contests_between_words() -> None:
    """A pair that nobody named is no contest."""
    for row in measured(answering="count").tables["fact_answers"].filter(expected="yes").to_dicts():
        contests = [
            (votes.counts[yes] > votes.counts[no]) - (votes.counts[yes] < votes.counts[no])
            for variant in VARIANTS
            for votes in [replied(variant.prompt(row["question"]))]
            for yes, no in zip(variant.answers[::2], variant.answers[1::2], strict=True)
        ]
        assert row["right"] is (sum(contests) > 0)


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
