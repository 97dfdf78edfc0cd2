"""Checks of a server that decides: its contract, its limits, and whose answers it gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from tacit.errors import ScoringError
from tacit.models.openai.checks import (
    Finding,
    keeps_requests_apart,
    names_its_model,
    reads_whole_prompts,
    repeats_its_answers,
)
from tacit.models.openai.contracts import Contract
from tacit.models.openai.decision_server import OPTIONS, DecisionsServer
from tacit.models.openai.server import TEXTS, TRIES, first_accepted
from tacit.requests import Decision
from tacit.requests.deciding import distance

OPTIONS_TRIED = (255, 52, 26, 10, 2)

_FAR, _NEAR = 0.02, 1e-3
_DIGITS, _EXACT = 7, 1e-12
_LONGEST = 16384
"""Longer windows are not tried out, because a server that reads such a text takes minutes."""


def offers_decisions(server: DecisionsServer) -> Iterator[Finding]:
    """OpenAI's and SGLang's decisions have the same address, and refuse each other's requests."""

    def ask(contract: Contract) -> None:
        server.contract, server.version = contract, None
        server.next_token(TEXTS[0], attempts=TRIES)

    try:
        first_accepted(server.contracts, ask)
    except ScoringError as error:
        names = " or ".join(contract.name for contract in server.contracts)
        yield Finding(f"it does not decide as {names} do ({error})", fatal=True)


def accepts_questions(server: DecisionsServer) -> Iterator[Finding]:
    """VLLM takes 64 questions of 26 options, OpenAI 400 of 255."""

    def ask(questions: int) -> int:
        texts = [f"{at} is an even number." for at in range(questions)]
        server.decide([Decision(text, ("yes", "no")) for text in texts], attempts=TRIES)
        return questions

    def offer(options: int) -> int:
        numbers = tuple(map(str, range(1, options + 1)))
        server.decide([Decision("Which number is the largest?", numbers)], attempts=TRIES)
        return options

    server.questions = first_accepted(server.contract.questions, ask)
    server.options = first_accepted(OPTIONS_TRIED, offer)
    if server.questions == 1:
        yield Finding("it answers one question per request")


def returns_probabilities(server: DecisionsServer) -> Iterator[Finding]:
    """A server may refuse to decide about anything."""
    server.settle_top()
    server.learn(TEXTS, concurrency=1)
    answers = {token.top for token in server.nexts.values()}
    if not answers:
        yield Finding("it refuses to decide about all texts of the preflight", fatal=True)
    elif len(answers) == 1:
        yield Finding("it returns the same probabilities for all texts", fatal=True)


def keeps_questions_apart(server: DecisionsServer) -> Iterator[Finding]:
    """Answers in another order than the questions are those of other questions."""
    server.together = server.ask_together()
    choices = [
        (text, one)
        for text, one in zip(TEXTS, server.together, strict=False)
        if text in server.nexts
    ]
    alone = [
        {str(one.text): math.exp(one.logprob or 0.0) for one in server.nexts[text].top}
        for text, _ in choices
    ]
    exchanged = 0
    for at, (_, one) in enumerate(choices):
        distances = [distance(one.probabilities, other) for other in alone]
        exchanged += distances[at] > _FAR and min(distances) < _NEAR
    if exchanged > 1:
        yield Finding("asked several questions at once, it mixes up their answers", fatal=True)


def rounds_probabilities(server: DecisionsServer) -> Iterator[Finding]:
    """Rounding makes sure answers surer, and unlikely options impossible."""
    values = [p for one in server.together for p in one.probabilities.values()]
    digits = next(
        (n for n in range(2, _DIGITS) if all(abs(p - round(p, n)) < _EXACT for p in values)), None
    )
    server.rounds = bool(values) and digits is not None
    if server.rounds:
        yield Finding(f"it rounds probabilities to {digits} decimal digits")


def reads_whole_questions(server: DecisionsServer) -> Iterator[Finding]:
    """Where probabilities are rounded, texts may have the same ones although they are read."""
    for finding in reads_whole_prompts(server):
        yield replace(finding, fatal=finding.fatal and not server.rounds)


def refuses_long_texts(server: DecisionsServer) -> Iterator[Finding]:
    """Some servers read a part of a text that is longer than their window."""
    if server.window is None or server.window > _LONGEST:
        return
    try:
        server.decide([Decision("tree " * server.window + "is a word", OPTIONS)], attempts=TRIES)
    except ScoringError:
        return
    yield Finding(
        f"it decides about a text of more than {server.window:,} tokens, which is its window: it "
        "reads long texts in part"
    )


DECISIONS = (
    offers_decisions,
    accepts_questions,
    returns_probabilities,
    names_its_model,
    keeps_questions_apart,
    rounds_probabilities,
    keeps_requests_apart,
    repeats_its_answers,
    reads_whole_questions,
    refuses_long_texts,
)
"""The checks before a server decides."""
