"""A server that decides between options, as it is asked."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tacit.models.openai.contracts import Contract, OpenAI, SGLang, SystemOne
from tacit.models.openai.schema import NamedJudgements, Reply
from tacit.models.openai.server import TEXTS, Repeat, Server
from tacit.models.openai.tokens import Token
from tacit.requests import Decided, Decision

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


@dataclass
class DecisionsServer(Server):
    """A server that decides."""

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

    def next_token(
        self, text: str, *, longer: bool = False, attempts: int | None = None
    ) -> Token | None:
        """Return the decision about a text as if its options were tokens."""
        (found,) = self.decide([Decision(text, OPTIONS)], again=longer, attempts=attempts)
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

    def decide(
        self, asked: Sequence[Decision], *, again: bool = False, attempts: int | None = None
    ) -> list[Decided]:
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
            lambda: self.client.post(contract.path, body, attempts=attempts),
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
    """Return the SHA-256 of what JSON can represent."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()
