"""A model on a server: how it is asked, and what its first answers were."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain, product
from typing import Any, ClassVar, TypeVar

from tacit.errors import ScoringError
from tacit.models.openai.client import Client
from tacit.models.openai.habits import Habits
from tacit.models.openai.schema import (
    Answer,
    Completion,
    ReplyError,
    ReplyT,
    WrongRepliesError,
    validated,
)
from tacit.models.openai.streaming import at_once
from tacit.models.openai.tokenizer import Echoed, TokenizerFile
from tacit.models.openai.tokens import (
    TOPS,
    UNKNOWN_NOISE,
    Token,
    agree,
    differences,
    find,
    identifies_token,
    likeliest,
    read_tokens,
    returned,
)

TEXTS = (
    "The sun rises in the",
    "Question: Is ice colder than steam?\nAnswer:",
    "One, two, three, four,",
    "A bird has wings, a beak and",
    "True or false? A stone can swim.",
    "In the morning she drank a cup of",
    "Paris is the capital of",
    "She said: \"I don't know",
)
"""The first prompts of every preflight.

Tacit stores a server's answers to ``TEXTS`` as canaries, which show in later runs whether the
server's model has changed.
"""

COMPARED = 5
"""The number of most probable tokens that are compared between two answers."""

TRIES = 3
"""How often a request is sent that the server may not accept."""

AFTER = "after"

Request = TypeVar("Request")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Repeat:
    """A request of the preflight that can be repeated.

    ``changes`` sends it again and returns the differences from the first answer, in nats.
    """

    text: str
    changes: Callable[[], list[float]]
    where: str = AFTER
    """Where the log-probabilities are, in words that precede the text."""


@dataclass
class Server(ABC):
    """One model on a server, as it is asked in completions or in a chat."""

    client: Client
    model: str
    concurrency: int = 1
    tokenizer: TokenizerFile | None = None
    by_id: bool = False
    """Whether the server is asked to write tokens by their ids."""
    requested: int = 1
    top: int = 0
    noise: float = UNKNOWN_NOISE
    habits: Habits = field(default_factory=Habits)
    nexts: dict[str, Token] = field(default_factory=dict)
    """The token after each text of the preflight, with the most probable tokens there."""
    echoes: dict[str, Echoed] = field(default_factory=dict)
    """The echoes of the preflight, by text; empty if the server has no correct echo."""
    greedy_replies: dict[str, str] = field(default_factory=dict)
    """The replies at temperature 0, by text, if no log-probabilities tell models apart."""
    spaced: bool = True
    """Whether the server writes the space before a token."""
    trims: ClassVar[bool] = False
    """Whether white space around a prompt may be lost, as in many chat templates."""

    @property
    def name(self) -> str:
        return f"{self.model} at {self.client.address}"

    @property
    def listed(self) -> str:
        return f"the {self.top:,} most probable" if self.top > 1 else "the most probable"

    def accept(self, tops: Sequence[int] = TOPS, attempts: int = TRIES) -> None:
        """Find out how many log-probabilities the server returns, and if it names token ids."""

        def ask(request: tuple[bool, int]) -> Token | None:
            self.by_id, self.requested = request
            with self.client.limited(attempts):
                return self.next_token(TEXTS[0])

        first_accepted(product((True, False) if self.tokenizer else (False,), tops), ask)

    @abstractmethod
    def next_token(self, text: str, *, longer: bool = False) -> Token | None:
        """Request one token after a text, or two, so that no cache of whole requests answers."""

    def learn(self, texts: Iterable[str], concurrency: int | None = None) -> None:
        """Request and remember the next token after each text that is not remembered yet."""
        new = [text for text in dict.fromkeys(texts) if text not in self.nexts]
        tokens = at_once(self.next_token, new, concurrency or self.concurrency)
        answers = zip(new, tokens, strict=True)
        self.nexts |= {text: self._of_interest(token) for text, token in answers if token}

    def settle_top(self) -> None:
        """Determine from the remembered answers how many tokens the server lists."""
        self.top = returned(list(self.nexts.values()))
        self.nexts = {text: self._of_interest(token) for text, token in self.nexts.items()}
        written = [one.text or "" for token in self.nexts.values() for one in token.top]
        self.spaced = any(text.startswith(" ") for text in written)

    def changes(self, text: str, now: Token | None) -> list[float]:
        """Return the differences (nats) between a remembered answer and a new one."""
        if now is None:
            return [float("nan")]
        then = self.nexts[text]
        listed = then.top or (then,)
        distinct = [one for one in listed[:COMPARED] if self._is_distinct(one, listed)]
        return differences(distinct, now)

    def repeats(self) -> list[Repeat]:
        """Return the requests to repeat during a run: first those that faulty servers change."""

        def again(text: str) -> list[float]:
            return self.changes(text, self.next_token(text))

        return [Repeat(text, partial(again, text)) for text in reversed(self.nexts) if self.top]

    @cached_property
    def spread(self) -> tuple[list[float], list[float]]:
        """Differences of repeated answers: all at once and, if these disagree, one at a time."""
        together = self._repeated(self.concurrency)
        alone = [] if not together or agree(together) else self._repeated(1)
        return together, alone

    def _repeated(self, concurrency: int) -> list[float]:
        """Ask ``TEXTS`` again in another order; return the differences from the first answers."""
        texts = sorted(
            (text for text in TEXTS if text in self.nexts),
            key=lambda text: hashlib.sha256(text.encode()).digest(),
        )

        def again(text: str) -> list[float]:
            return self.changes(text, self.next_token(text, longer=True))

        return list(chain.from_iterable(at_once(again, texts, concurrency)))

    def _of_interest(self, token: Token) -> Token:
        """Drop a sampled token that the server adds to the most probable ones."""
        return likeliest(token, self.top) if self.top else token

    def _is_distinct(self, token: Token, listed: Sequence[Token]) -> bool:
        """Return whether no other token is written like this one."""
        if find(listed, token.text, token.number) is None:
            return False
        if self.tokenizer is None:
            return identifies_token(token.text)
        return self.tokenizer.number_of(token, spaced=self.spaced) is not None

    @abstractmethod
    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        """Return a request about a text."""

    def _tokens(self, text: str, more: Mapping[str, Any]) -> tuple[Token, ...]:
        body = self._body(text, more)
        return self._checked(
            text,
            lambda: self._send(body),
            Answer[Completion],
            lambda answer: read_tokens(answer, self.noise),
        )

    def _send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.client.complete(body)

    def _checked(
        self,
        text: str,
        send: Callable[[], Mapping[str, Any]],
        model: type[ReplyT],
        read: Callable[[ReplyT], Result],
    ) -> Result:
        """Send a request and return what is read of the answer."""

        def ask() -> Result:
            answer = validated(send(), model)
            self.habits.check(text, answer)
            return read(answer)

        return twice(self.name, ask)


def twice(name: str, ask: Callable[[], Result]) -> Result:
    """Return what a server's reply tells; ask again if the reply is invalid."""
    try:
        return ask()
    except ReplyError:
        pass
    try:
        return ask()
    except ReplyError as error:
        raise WrongRepliesError(
            f"{name}: the server's reply is invalid, twice in a row: {error}"
        ) from error


def first_accepted(
    requests: Iterable[Request],
    ask: Callable[[Request], Result],
    refused: type[ScoringError] = ScoringError,
) -> Result:
    """Return the answer to the first request that a server accepts; raise the last refusal."""
    refusal = ScoringError("there is no request")
    for request in requests:
        try:
            return ask(request)
        except WrongRepliesError:
            raise
        except refused as error:
            refusal = error
    raise refusal
