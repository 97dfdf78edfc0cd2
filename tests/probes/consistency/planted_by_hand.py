"""Models that know a part of 80 questions, and models that read a context or ignore it."""

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from tacit.findings.findings import Findings
from tacit.probes.consistency.probe import ConsistencyProbe
from tacit.sources.questions import Anchor
from tests.probes.consistency.asking_by_hand import POSITIVE, Case, Fact, Says, measured, probe_of

QUESTIONS = [
    Case(
        Anchor(f"q{at}", f"What is thing {at} for?", ("this", "that"), at % 2, f"c{at // 2}"),
        tuple(Fact(f"thing {at}", "IsA", f"kind {k}", f"sky {k}") for k in range(1 + at % 3)),
    )
    for at in range(80)
]


def _drawn(*of: str) -> float:
    return random.Random("".join(of)).random()  # noqa: S311 - nothing is secret


def model(known: int, right: int, yes: float = 0.5) -> Says:
    """A model that knows a part of 80 questions' facts, and answers a part of the questions.

    ``yes`` is the share of the other background questions that it answers with yes.
    """

    def says(text: str, answer: str) -> float:
        at = int(text.partition("thing ")[2].partition(" ")[0] or 0)
        noise = _drawn(text, answer)
        if answer in {"this", "that"}:
            correct = ("this", "that")[at % 2]
            return -noise - float((answer == correct) != (at < right))
        asked = (text.partition("Question: ")[2] or text).partition("?")[0]
        said = "sky" not in text if at < known else _drawn(asked) < yes
        return -noise / 8 - float((answer in POSITIVE) != said)

    return says


@cache
def planted(known: int, right: int, yes: float = 0.5) -> Findings:
    return measured(probe_of(QUESTIONS), model(known, right, yes))


COUNTS = (3, 1, 2, 3, 2, 4, 1, 3, 2, 3, 2, 4)
"""The number of facts of each anchor. Even anchors have their correct choice as a fact's tail."""


def _tail(at: int, k: int) -> str:
    return f"answer{at}" if at % 2 == 0 and k == 0 else f"tail{at}x{k}"


# Three of one question concept, and one of each other.
IN_CONTEXT = [
    Case(
        Anchor(
            f"q{at}",
            f"What is alpha{at} for?",
            (f"wrong{at}", f"answer{at}", f"other{at}"),
            1,
            f"concept{max(0, at - 2)}",
        ),
        tuple(Fact(f"alpha{at}", "HasA", _tail(at, k), f"false{at}x{k}") for k in range(count)),
    )
    for at, count in enumerate(COUNTS)
]


def probe_in_context(
    cases: Sequence[Case] = IN_CONTEXT,
    **options: Any,  # noqa: ANN401 - of any type
) -> ConsistencyProbe:
    """The probe that asks the anchors in contexts too, with two pairs of answer words."""
    probe = probe_of(cases, **{"intervene": True, **options})
    return replace(probe, templates=replace(probe.templates, pairs=probe.templates.pairs[:2]))


def copies(text: str, answer: str) -> float:
    """A model that takes the choice that its context names, else the first, which is wrong."""
    if answer in POSITIVE or answer in {"No", "False"}:  # a choice named twice is in the context
        named = next((w for w in text.split("'") if w.startswith(("answer", "wrong"))), None)
        twice = named is not None and text.count(named) > 1
        wrong = named is not None and named.startswith("wrong")
        return 0.0 if (answer in POSITIVE) == (twice or wrong) else -2.0 - twice
    words = text.replace(".", " ").split()
    return 0.0 if answer in words else -1.0 if answer.startswith("wrong") else -50.0


def hurt(text: str, answer: str) -> float:
    """A model that is right, except behind a false fact."""
    return 0.0 if answer.startswith("wrong" if "false" in text else "answer") else -50.0
