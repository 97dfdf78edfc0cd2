"""Log-probabilities of named tokens: each token of an answer is asked for by its id.

A server returns the log-probability of any token that is named, so no answer is missing because it
is improbable. Prompts are sent as tokens, so that no server tokenizes a text differently.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tacit.english import several
from tacit.models.huggingface.alignment import Filled, Tokens
from tacit.models.openai.client import Client
from tacit.models.openai.habits import Habits
from tacit.models.openai.named_routes import Ids, Position, Route, Values
from tacit.models.openai.schema import Reply, ReplyError
from tacit.models.openai.server import Repeat, twice
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.models.openai.tokens import Token, check_logprobs

Wanted = Mapping[Ids, Iterable[int]]
"""The tokens that are asked for, by the tokens that precede them."""


@dataclass
class NamedTokens:
    """A server's verified route for named tokens, and what it answered in the preflight."""

    client: Client
    model: str
    habits: Habits
    noise: float
    tokenizer: TokenizerFile
    route: Route
    start: Ids = ()
    """The special tokens before a text."""
    known: dict[str, Position] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    """The answers of the preflight, by text."""

    def cut(self, filled: Sequence[Filled]) -> list[Tokens | None]:
        """Return the tokens of texts with an answer each, with the special tokens before them."""
        found, start = self.tokenizer.locate(filled), len(self.start)
        return [
            one and Tokens((*self.start, *one.ids), one.begin + start, one.end + start, one.spanned)
            for one in found
        ]

    def position(self, text: str, ids: Sequence[int]) -> Position:
        """Return the position behind a text."""
        cut = self.tokenizer.backend.encode(text, add_special_tokens=False)
        return Position((*self.start, *cut.ids), tuple(ids))

    def ask(
        self,
        groups: Iterable[Sequence[Position]],
        temperature: float = 1.0,
        *,
        longer: bool = False,
        attempts: int | None = None,
    ) -> dict[Ids, dict[int, float | None]]:
        """Send a request for each group of positions; return the values by the tokens before."""
        found: dict[Ids, dict[int, float | None]] = {}
        for group in groups:
            body = self.route.body(group, temperature, longer=longer)
            name, answered = f"{self.model} at {self.client.address}", self._answered
            values = twice(name, partial(answered, group, body, attempts))
            for position, some in zip(group, values, strict=True):
                found.setdefault(position.before, {}).update(some)
        return found

    def requests(self, wanted: Wanted) -> list[list[Position]]:
        """Return the positions of each request, in which prompts that begin alike are together."""
        befores = sorted(filter(None, wanted))
        positions = [Position(before, tuple(dict.fromkeys(wanted[before]))) for before in befores]
        return list(self.route.requests(positions))

    def cost(self, wanted: Wanted) -> int:
        """Return the number of tokens that are sent to learn the values of tokens."""
        return sum(len(position.before) for group in self.requests(wanted) for position in group)

    def repeats(self) -> list[Repeat]:
        """Return the requests to repeat during a run: first those that faulty servers change."""

        def again(text: str) -> list[float]:
            position = self.known[text]
            now = self.ask(self.route.requests([position]), longer=True)
            return differences(self.values[text], now[position.before])

        where = "of named tokens after"
        return [Repeat(text, partial(again, text), where) for text in reversed(self.known)]

    def send(
        self, path: str, body: Mapping[str, Any], attempts: int | None = None
    ) -> dict[str, Any]:
        """Send a body with the model's name."""
        return self.client.post(path, {"model": self.model, **body}, attempts=attempts)

    def _answered(
        self, group: Sequence[Position], body: Mapping[str, Any], attempts: int | None
    ) -> list[Values]:
        reply, values = self.route.read(self.send(self.route.path, body, attempts), group)
        self.habits.check_source(reply)
        _check_count(reply, group)
        listed = [tuple(Token(None, *pair) for pair in one.items()) for one in values]
        check_logprobs([Token(None, None, None, top) for top in listed], self.noise)
        return values


def wanted_of(answers: Iterable[Tokens | None]) -> dict[Ids, list[int]]:
    """Return the tokens that score answers, by the tokens before each of them."""
    wanted: dict[Ids, list[int]] = {}
    for one in filter(None, answers):
        for at in range(one.begin, one.end):
            wanted.setdefault(one.ids[:at], []).append(one.ids[at])
    return wanted


def total(tokens: Tokens, found: Mapping[Ids, Values]) -> float | None:
    """Return the summed log-probability of an answer's tokens; None if one is unknown."""
    steps = [found[tokens.ids[:at]][tokens.ids[at]] for at in range(tokens.begin, tokens.end)]
    known = [one for one in steps if one is not None]
    return sum(known) if len(known) == len(steps) else None


def differences(then: Values, now: Values) -> list[float]:
    """Return the differences (nats) of the values of the same tokens; NaN if one is unknown."""
    pairs = [(value, now[number]) for number, value in then.items()]
    return [_apart(one, other) for one, other in pairs if (one, other) != (None, None)]


def _apart(one: float | None, other: float | None) -> float:
    return math.nan if one is None or other is None else abs(one - other)


def _check_count(reply: Reply, group: Sequence[Position]) -> None:
    """A server that cuts prompts off counts fewer tokens."""
    counted, sent = reply.usage.prompt_tokens, sum(len(position.before) for position in group)
    if counted is not None and counted != sent:
        raise ReplyError(f"it counts {several(counted, 'token')} in prompts of {sent:,}")
