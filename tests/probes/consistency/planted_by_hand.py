"""Models that know a part of 80 questions' facts, and answer a part of the questions correctly."""

from __future__ import annotations

import random
from functools import cache

from tacit.findings.findings import Findings
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
