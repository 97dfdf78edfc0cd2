"""Servers that go wrong in some 200 ways, from the start or in the midst of a run.

No fault that can be seen from outside ends in wrong scores of which nothing is said. A part is run
here; ``TACIT_TEST_MATRIX=whole`` runs it all, and ``python -m tests.models.openai.matrix.table``
prints it. What cannot be seen stands beside each fault (``Hidden``), with the reason.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.models.openai.matrix.fault import ROADS, Fault, Road, Start
from tests.models.openai.matrix.faults import FAULTS
from tests.models.openai.matrix.language import prompts, texts, tokenizer
from tests.models.openai.matrix.outcomes import ACCEPTED, given, honest, outcome
from tests.models.openai.matrix.table import cases

if TYPE_CHECKING:
    from collections.abc import Iterator

WHOLE = os.environ.get("TACIT_TEST_MATRIX", "") == "whole"

REQUESTS: dict[Road, int] = {
    "echo": 362,
    "echo+tokenizer": 289,
    "next+tokenizer": 233,
    "chat": 169,
    "votes": 170,
}
"""How many requests an honest server had of a run before anything but its preflight was checked."""

MOST_MORE = 56
"""Of them 8 prompts that are asked again, each with two requests at most."""

PART: dict[str, tuple[Road, ...]] = {
    "trims trailing white space, counts as it was": ("echo+tokenizer", "chat"),
    "keeps the last 20 tokens": ("echo+tokenizer", "next+tokenizer"),
    "lower-cases": ("votes",),
    "cache by the first 64 characters": ("next+tokenizer", "chat"),
    "requests under way at once get each other's answers": ("echo", "next+tokenizer"),
    "other weights": ("echo+tokenizer", "chat", "votes"),
    "two replicas with other weights in turn": ("echo+tokenizer",),
    "log10": ("next+tokenizer", "chat"),
    "all zero": ("echo",),
    "top-k renormalised": ("next+tokenizer", "chat"),
    "NaN": ("echo+tokenizer",),
    "nulls at one request in five": ("chat",),
    "echo shifted behind 20 tokens": ("echo", "echo+tokenizer"),
    "finish_reason content_filter, of another text": ("chat", "votes"),
    "choices twice in one object": ("next+tokenizer",),
    "one answer in five is cut": ("votes",),
    "the same replies to a text each time": ("votes",),
    "replies to another text": ("votes",),
}
"""What is run each time: of each kind of fault some, where they differ most."""


HARMLESS = (
    "usage missing",
    "usage null",
    "model's name missing",
    "finish_reason missing",
    "top-k unsorted",
    "JSON called HTML",
    "gzip",
    "429 with Retry-After, then an answer",
    "a delay of 20 ms",
    "one request in 40 takes too long",
    "one connection in five is reset",
    "one answer in five is cut",
    "a connection that is closed though it was to be kept",
    "seeds ignored",
    "n ignored",
)
"""What real servers and networks do, and what no score depends on."""

_HARMLESS_PART = ("usage missing", "429 with Retry-After, then an answer")


def chosen() -> Iterator[tuple[Fault, Road, Start]]:
    """Those that are run now and can be seen from outside."""
    for fault, road, start in cases():
        if fault.hides(road, start) is None and (WHOLE or road in PART.get(fault.name, ())):
            yield fault, road, start


def _named(case: object) -> str:
    return case.name if isinstance(case, Fault) else str(case)


@pytest.mark.parametrize("road", ROADS)
def test_an_honest_server_gives_true_scores(road: Road) -> None:
    """And is asked for at most 56 more than the prompts and a plain preflight took."""
    found = honest(road)
    assert (found.kind, found.detail) == ("right", "")
    assert given(road) > 150
    assert found.requests[0] <= REQUESTS[road] + MOST_MORE


@pytest.mark.parametrize(("fault", "road", "start"), list(chosen()), ids=_named)
@pytest.mark.slow
def test_no_visible_fault_is_silently_wrong(fault: Fault, road: Road, start: Start) -> None:
    """What it brings is true, or missing for a reason, or told, or refused."""
    found = outcome(fault, road, start)
    assert found.kind in ACCEPTED, f"{found.kind}: {found.wrong} wrong, {found.detail}"


@pytest.mark.parametrize(
    ("fault", "road", "start"),
    [
        case
        for case in cases()
        if case[0].name in (HARMLESS if WHOLE else _HARMLESS_PART)
        and (WHOLE or case[1:] in {("echo+tokenizer", "first"), ("votes", "midway")})
    ],
    ids=_named,
)
def test_what_no_score_depends_on_is_taken(fault: Fault, road: Road, start: Start) -> None:
    """All scores are there, and true."""
    found = outcome(fault, road, start)
    assert (found.kind, found.detail) == ("right", "")


def test_faults_have_names_of_their_own() -> None:
    """By which the part is chosen."""
    names = [fault.name for fault in FAULTS]
    assert len(set(names)) == len(names) >= 60
    assert {*PART, *HARMLESS} <= set(names)


def test_prompts_differ_where_bad_servers_do_not_look() -> None:
    """At the end, in case, before the last 20 tokens, and behind the first 64 characters."""
    asked = [prompt.text for prompt in prompts()]
    assert len(set(asked)) == len(asked) >= 150
    assert len({text.rstrip() for text in texts()}) < len(texts()) - 10
    assert len({text.lower() for text in texts()}) < len(texts()) - 10
    lengths = {text: tokenizer().encode(text).ids for text in texts()}
    assert len({tuple(ids[-20:]) for ids in lengths.values()}) < len(texts()) - 10
    assert len({text[:64] for text in texts()}) < len(texts()) - 10
    assert sum(len(ids) > 40 for ids in lengths.values()) >= 15
