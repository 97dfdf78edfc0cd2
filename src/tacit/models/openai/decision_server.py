"""A server that decides between options: how it is asked, and the checks of what it answers."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tacit.errors import ScoringError
from tacit.models.openai import checks
from tacit.models.openai.checks import Finding
from tacit.models.openai.contracts import Contract, OpenAI, SGLang, SystemOne
from tacit.models.openai.schema import NamedJudgements, Reply
from tacit.models.openai.server import TEXTS, TRIES, Repeat, Server, first_accepted
from tacit.models.openai.tokens import Token
from tacit.requests import Decided, Decision
from tacit.requests.deciding import distance

CONTRACTS: Mapping[str, tuple[Contract, ...]] = {
    "decisions": (OpenAI(), SGLang()),
    "systemone": (SystemOne(),),
}
"""The contracts of each API, told apart in the preflight."""

OPTIONS = ("true", "false", "unclear", "meaningless")
"""What the preflight offers as answers to its texts, of which few have a sure answer."""

TOGETHER = tuple(Decision(text, options) for options in (OPTIONS, ("no", "yes")) for text in TEXTS)
"""The questions of the preflight that are asked in one request: choices, and statements."""

_LEAST = 0.01
"""Changes of less probable options are not compared: some servers round probabilities."""

OPTIONS_TRIED = (255, 52, 26, 10, 2)

_FAR, _NEAR = 0.02, 1e-3
_DIGITS, _EXACT = 7, 1e-12
_LONGEST = 16384
"""Longer windows are not tried out, because a server that reads such a text takes minutes."""


@dataclass
class DecisionsServer(Server):
    contracts: tuple[Contract, ...] = ()
    window: int | None = None
    contract: Contract = field(default_factory=OpenAI)
    questions: int = 1
    """The number of questions per request."""
    options: int = 2
    """The number of options per question."""
    version: int | None = None
    """The version of the server's wording, if it states one."""
    prompt_ids: tuple[int, ...] = ()
    """The first question of the preflight as the server words it, in tokens, if known."""
    masses: list[float] = field(default_factory=list)
    together: list[Decided] = field(default_factory=list)
    """The answers to ``TOGETHER``."""
    rounds: bool = False
    """Whether the server rounds probabilities."""
    trims: ClassVar[bool] = True

    def next_token(self, text: str, *, longer: bool = False) -> Token | None:
        """Return the decision about a text as if its options were tokens."""
        (found,) = self.decide([Decision(text, OPTIONS)], again=longer)
        if found.label_mass is not None:
            self.masses.append(found.label_mass)
        tokens = [Token(one.answer, None, one.logprob) for one in found.answers]
        tokens = [one for one in tokens if one.logprob is not None]
        tokens.sort(key=lambda one: -(one.logprob or 0.0))
        return replace(tokens[0], top=tuple(tokens)) if tokens else None

    def settle_top(self) -> None:
        self.top = len(OPTIONS)

    def ask_together(self, *, again: bool = False) -> list[Decided]:
        """Return the answers to as many of ``TOGETHER`` as fit in one request."""
        return self.decide(TOGETHER[: self.questions], again=again)

    def repeats(self) -> list[Repeat]:
        def again() -> list[float]:
            pairs = zip(self.together, self.ask_together(again=True), strict=True)
            return [each for then, now in pairs for each in changes(then, now)]

        # It shows what is wrong with batches or statements alone.
        batch = Repeat(TEXTS[0], again, "in one request with")
        return [*([batch] if self.together else []), *super().repeats()]

    def decide(self, asked: Sequence[Decision], *, again: bool = False) -> list[Decided]:
        """Ask in one request; with other names ``again``, so that no cache answers."""
        contract = self.contract
        named = {f"{'again' if again else 'q'}{at}": one for at, one in enumerate(asked, 1)}
        text = "\n".join(line for one in asked for line in (one.text, *one.options))
        body = self._body(text, contract.fields(named, self.version))

        def read(answer: Reply) -> list[Decided]:
            if isinstance(answer, NamedJudgements):
                self._learn_wording(answer)
            return contract.read(answer, named)

        found = self._checked(
            text,
            lambda: self.client.post(contract.path, body),
            contract.reply,
            read,
        )
        batch = digest([[one.text, one.options] for one in asked])[:16]
        return [replace(one, batch=batch, position=at) for at, one in enumerate(found)]

    def _learn_wording(self, answer: NamedJudgements) -> None:
        if self.version is None:
            self.version = answer.prompt_format_version
        for one in answer.answers.values():
            self.prompt_ids = self.prompt_ids or tuple(one.prompt_token_ids)

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:  # noqa: ARG002 - see Server
        return {"model": self.model, **more}


def changes(then: Decided, now: Decided) -> Iterator[float]:
    """Yield by how many nats the probabilities of options have changed, if these were likely."""
    for one in then.answers:
        after = now[one.answer].logprob
        if one.logprob is not None and one.logprob >= math.log(_LEAST):
            yield math.inf if after is None else abs(one.logprob - after)


def digest(content: object) -> str:
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


def offers_decisions(server: DecisionsServer) -> Iterator[Finding]:
    """OpenAI's and SGLang's decisions have the same address, and refuse each other's requests."""

    def ask(contract: Contract) -> None:
        server.contract, server.version = contract, None
        server.next_token(TEXTS[0])

    try:
        with server.client.limited(TRIES):
            first_accepted(server.contracts, ask)
    except ScoringError as error:
        names = " or ".join(contract.name for contract in server.contracts)
        yield Finding(f"it does not decide as {names} do ({error})", fatal=True)


def accepts_questions(server: DecisionsServer) -> Iterator[Finding]:
    """VLLM takes 64 questions of 26 options, OpenAI 400 of 255."""

    def ask(questions: int) -> int:
        texts = [f"{at} is an even number." for at in range(questions)]
        server.decide([Decision(text, ("yes", "no")) for text in texts])
        return questions

    def offer(options: int) -> int:
        numbers = tuple(map(str, range(1, options + 1)))
        server.decide([Decision("Which number is the largest?", numbers)])
        return options

    with server.client.limited(TRIES):
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
    for finding in checks.reads_whole_prompts(server):
        yield replace(finding, fatal=finding.fatal and not server.rounds)


def refuses_long_texts(server: DecisionsServer) -> Iterator[Finding]:
    """Some servers read a part of a text that is longer than their window."""
    if server.window is None or server.window > _LONGEST:
        return
    try:
        with server.client.limited(TRIES):
            server.decide([Decision("tree " * server.window + "is a word", OPTIONS)])
    except ScoringError:
        return
    yield Finding(
        f"it decides about a text of more than {server.window:,} tokens, which is its window: it "
        "reads long texts in part"
    )


CHECKS = (
    offers_decisions,
    accepts_questions,
    returns_probabilities,
    checks.names_its_model,
    keeps_questions_apart,
    rounds_probabilities,
    checks.keeps_requests_apart,
    checks.repeats_its_answers,
    reads_whole_questions,
    refuses_long_texts,
)
"""The checks before a server decides."""
