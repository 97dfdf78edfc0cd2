"""Scores and rankings of named tokens: each token of an answer is asked for by its id.

A server returns the log-probability of any token that is named, so no answer is missing because it
is improbable. Prompts are sent as tokens, so that no server tokenizes a text differently.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tacit.english import several
from tacit.models.huggingface.alignment import Filled, Tokens
from tacit.models.huggingface.encoding import fill
from tacit.models.huggingface.vocabulary import Candidates, CandidateTokens
from tacit.models.openai.named_routes import Ids, Position, Route, Values
from tacit.models.openai.schema import ReplyError
from tacit.models.openai.server import Repeat, Server, twice
from tacit.models.openai.tokenizer import TokenizerFile
from tacit.models.openai.tokens import Token, apart, check_logprobs
from tacit.requests import Prompt, Ranking, RankingPrompt, rank

Wanted = Mapping[Ids, Iterable[int]]
"""The tokens that are asked for, by the tokens that precede them."""


@dataclass
class NamedTokens:
    """A server's verified route for named tokens, and what it answered in the preflight."""

    server: Server
    tokenizer: TokenizerFile
    route: Route
    start: Ids = ()
    """The special tokens before a text."""
    known: dict[str, Position] = field(default_factory=dict)
    values: dict[str, Values] = field(default_factory=dict)
    """The answers of the preflight, by text."""

    def cut(self, filled: Sequence[Filled]) -> list[Tokens | None]:
        found, start = self.tokenizer.locate(filled), len(self.start)
        return [
            one and Tokens((*self.start, *one.ids), one.begin + start, one.end + start, one.spanned)
            for one in found
        ]

    def position(self, text: str, ids: Sequence[int]) -> Position:
        cut = self.tokenizer.backend.encode(text, add_special_tokens=False)
        return Position((*self.start, *cut.ids), tuple(ids))

    def ask(
        self,
        groups: Iterable[Sequence[Position]],
        temperature: float = 1.0,
        *,
        longer: bool = False,
    ) -> dict[Ids, dict[int, float | None]]:
        """Send a request for each group of positions; return the values by the tokens before."""
        found: dict[Ids, dict[int, float | None]] = {}
        for group in groups:
            body = self.route.body(group, temperature, longer=longer)
            values = twice(self.server.name, partial(self._answered, group, body))
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

    def send(self, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        return self.server.client.post(path, {"model": self.server.model, **body})

    def _answered(self, group: Sequence[Position], body: Mapping[str, Any]) -> list[Values]:
        reply, values = self.route.read(self.send(self.route.path, body), group)
        self.server.habits.check_source(reply)
        counted, sent = reply.usage.prompt_tokens, sum(len(position.before) for position in group)
        if counted not in {None, sent}:
            raise ReplyError(f"it counts {several(counted, 'token')} in prompts of {sent:,}")
        listed = [tuple(Token(None, *pair) for pair in one.items()) for one in values]
        check_logprobs([Token(None, None, None, top) for top in listed], self.server.noise)
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
    return [apart(one, other) for one, other in pairs if (one, other) != (None, None)]


@dataclass(frozen=True, slots=True)
class AskedCandidates:
    """A prompt's candidates, and the tokens of those that are not a single token."""

    candidates: Candidates
    before: Ids | None
    """The tokens before the candidates that are a single token; None if none is."""
    whole: tuple[Tokens | None, ...]

    @property
    def wanted(self) -> Wanted:
        """Every token whose log-probability is needed, by the tokens before it."""
        wanted = wanted_of(self.whole)
        if self.before:
            wanted.setdefault(self.before, []).extend(self.candidates.ids.tolist())
        return wanted


class Rankings:
    """Ranks candidates as a model in this process does: in one pass where they are one token."""

    def __init__(self, named: NamedTokens) -> None:
        self._named, self._lock = named, threading.Lock()
        self._words = CandidateTokens(
            named.tokenizer.backend, partial(_is_writable, named.tokenizer.unknown), in_order=True
        )

    def rank(self, prompt: RankingPrompt) -> Ranking:
        """Rank a prompt's candidates; those without a log-probability are missing."""
        (asked,) = self.asked([prompt])
        candidates = asked.candidates
        found = self._named.ask(self._named.requests(asked.wanted))
        values = np.full(len(prompt.vocabulary), np.nan)
        for at, one in zip(candidates.whole, asked.whole, strict=True):
            if one and one.begin:
                value = total(one, found)
                values[at] = np.nan if value is None else value
        if asked.before:
            single = found[asked.before]
            read = np.array([single[one] for one in candidates.ids.tolist()], float)
            if candidates.lead:
                read = read + (values[candidates.single[0]] - read[0])
            values[candidates.single] = read
        return rank(prompt, values, candidates.tokens)

    def asked(self, prompts: Sequence[RankingPrompt]) -> list[AskedCandidates]:
        first = [fill(prompt.asking(prompt.vocabulary.words[:1]))[0] for prompt in prompts]
        with self._lock:  # the words of a vocabulary are tokenized once
            placed = self._words.locate(prompts, first, self._written)
        found = []
        for prompt, one in zip(prompts, placed, strict=True):
            others = [prompt.vocabulary.words[at] for at in one.candidates.whole]
            whole = self._named.cut(fill(prompt.asking(others))) if others else []
            found.append(AskedCandidates(one.candidates, one.frame and one.frame[0], tuple(whole)))
        return found

    def _written(self, prompts: Sequence[Prompt]) -> list[list[Tokens | None]]:
        return [self._named.cut(fill(prompt)) for prompt in prompts]


def _is_writable(unknown: int | None, tokens: Tokens) -> bool:
    return unknown is None or unknown not in tokens.ids[tokens.begin : tokens.end]
