"""A chat server whose replies are sampled, and the temperature at which it samples them."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.models.openai.chat import ChatReply, ChatServer
from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import same_replies
from tacit.models.openai.server import first_accepted
from tacit.models.openai.streaming import at_once
from tacit.models.openai.tokens import Token, identifies_token
from tacit.requests.answer_parsing import ANSWER_TOKENS

OPEN_ENDED = "Write the first sentence of a story about an invented place."
"""A prompt for which two independent replies are almost never identical."""

DRAWN_TEXTS, AT_ONCE, SINGLY = 3, 24, 8
"""First tokens drawn per text: 24 if a request can return several replies, otherwise 8."""

AGAIN, LOOK_AGAIN, TELL, REFUSE = 2, 0.01, 0.1, 0.001
"""After a p-value below ``LOOK_AGAIN``, twice as many are drawn, and ``TELL`` warns of these."""

LIMITS = ("max_tokens", "max_completion_tokens")

UNCUT: tuple[dict[str, float], ...] = (
    {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "repetition_penalty": 1.0},
    {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    {},
)
"""Settings that make servers sample from the full distribution, without penalties.

Servers differ in the names of sampling settings (such as ``repetition_penalty``), and in the value
of ``top_k`` that allows all tokens (0 or -1).
"""


@dataclass
class VotesServer(ChatServer):
    several: bool = False
    """Whether one request can return several different replies."""
    begun: bool = False
    """Whether the template begins the reasoning, so that replies have a closing tag alone."""
    reasons: bool = False
    drawn: list[ChatReply] = field(default_factory=list)
    temperature: Temperature | None = None
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(1000, 1000))

    def accept_replies(self) -> ChatReply:
        """Find settings that the server accepts; return its first reply to ``OPEN_ENDED``."""

        def ask(request: tuple[bool, Any, Mapping[str, float]]) -> ChatReply:
            self.seeded, self.limit, self.uncut = request
            return self.brief(OPEN_ENDED, 0)

        return first_accepted(itertools.product((True, False), LIMITS, UNCUT), ask, RefusalError)

    @property
    def room(self) -> int | None:
        """The token limit of a reply; None if there is no limit."""
        return None if self.thinking == "all" else ANSWER_TOKENS + (self.thinking or 0)

    def brief(self, text: str, seed: int) -> ChatReply:
        """Return the beginning of a sampled reply, which may contain reasoning."""
        return self.replies(text, seed, room=ANSWER_TOKENS)[0]

    def likeliest(self, text: str) -> str:
        """Return the beginning of the reply at temperature 0, which may contain reasoning."""
        more = {self.limit: ANSWER_TOKENS, "temperature": 0.0}
        return self._replies(text, more, 1)[0].whole

    def same_greedy_replies(self, concurrency: int) -> bool:
        """Return whether the server still gives three in four of its replies at temperature 0."""
        now = self.greedy(list(self.greedy_replies), concurrency)
        return same_replies(self.greedy_replies, now)

    def greedy(self, texts: Sequence[str], concurrency: int) -> dict[str, str]:
        """Return the replies at temperature 0, without those that the server refuses."""

        def reply(text: str) -> str:
            try:
                return self.likeliest(text)
            except RefusalError:
                return ""

        replies = zip(texts, at_once(reply, texts, concurrency), strict=True)
        return {text: reply for text, reply in replies if reply.strip()}

    def estimate_temperature(self) -> Temperature | None:
        """Sample first tokens; sample again if a temperature of 1 is improbable."""
        try:
            first = self._drawn_tokens(1)
            if first is None or first.chance >= LOOK_AGAIN:
                return first
            return self._drawn_tokens(AGAIN)
        except RefusalError:
            return None  # the server refuses one-token replies, or so many replies at once

    def _drawn_tokens(self, times: int) -> Temperature | None:
        seed = next(self.seeds)
        size, requests = (AT_ONCE, times) if self.several else (1, SINGLY * times)
        words = {text: words_of(token) for text, token in self.nexts.items()}
        texts = [text for text in words if len(words[text]) > 1]
        texts = sorted(texts, key=lambda text: -sensitivity(words[text]))[:DRAWN_TEXTS]
        pieces = [(text, seed + at) for text in texts for at in range(requests)]
        replies = at_once(
            lambda piece: self.replies(*piece, n=size, room=1), pieces, self.concurrency
        )
        parsed: dict[str, list[str]] = {text: [] for text in texts}
        for (text, _), some in zip(pieces, replies, strict=True):
            parsed[text] += [one.text for one in some]
        drawn = [(list(words[text].values()), counted(words[text], parsed[text])) for text in texts]
        return estimate(drawn, second=times > 1)


Floats = NDArray[np.float64]

_FEWEST = 10
_LEAST_LISTED = -30.0  # nats; a less probable token counts as not listed
_SPACES = " \t\r\n\u2581\u0120\u010a"
# The 95 % quantile of chi-squared with one degree of freedom.
_FIVE = 3.841
_INVERSES = np.exp(np.linspace(math.log(0.1), math.log(20), 801))


@dataclass(frozen=True)
class Temperature:
    """The temperature of a server's replies, estimated from sampled first tokens."""

    draws: int
    value: float
    low: float
    high: float
    surprise: float
    second: bool = False
    """Whether these are second draws, made because the first ones were improbable."""

    @property
    def chance(self) -> float:
        """The p-value of a likelihood-ratio test of the hypothesis that the temperature is 1."""
        return math.erfc(math.sqrt(max(self.surprise, 0.0) / 2))

    def is_off(self, chance: float) -> bool:
        """Return whether two samples contradict a temperature of 1, the second one strongly."""
        return self.second and self.chance < chance

    def to_json(self) -> dict[str, Any]:
        return {"draws": self.draws, "value": self.value, "low": self.low, "high": self.high}

    @property
    def note(self) -> str:
        return (
            f"its replies are sampled at a temperature of {self.value:.2f} (95 % CI {self.low:.2f} "
            f"to {self.high:.2f}) instead of 1, according to {self.draws} first tokens and their "
            "log-probabilities: vote shares are biased accordingly"
        )


def estimate(
    drawn: Sequence[tuple[Sequence[float], Sequence[int]]], *, second: bool = False
) -> Temperature | None:
    """Estimate the temperature from log-probabilities of words and how often each was drawn."""
    draws = sum(sum(counts) for _, counts in drawn)
    if draws < _FEWEST:
        return None
    likelihood: Floats = np.zeros(len(_INVERSES))
    for logprobs, counts in drawn:
        scaled = np.outer(_INVERSES, np.asarray(logprobs, dtype=np.float64))
        likelihood += scaled @ np.asarray(counts, dtype=np.float64)
        likelihood -= sum(counts) * np.logaddexp.reduce(scaled, axis=1)
    best = int(likelihood.argmax())
    behind = 2 * (likelihood[best] - likelihood)
    within = _INVERSES[behind <= _FIVE]
    return Temperature(
        draws,
        float(1 / _INVERSES[best]),
        float(1 / within[-1]),
        float(1 / within[0]),
        float(np.interp(1.0, _INVERSES, behind)),
        second,
    )


def words_of(token: Token) -> dict[str, float]:
    """Return the log-probability of each word among the most probable tokens at a position."""
    shares: dict[str, float] = {}
    for one in token.top:
        word = (one.text or "").strip(_SPACES)
        if identifies_token(word) and one.logprob is not None and one.logprob > _LEAST_LISTED:
            shares[word] = shares.get(word, 0.0) + math.exp(one.logprob)
    return {word: math.log(share) for word, share in shares.items()}


def counted(words: Mapping[str, float], replies: Iterable[str]) -> list[int]:
    """Return how often each word is the whole of a one-token reply."""
    counts = Counter(reply.strip(_SPACES) for reply in replies)
    return [counts[word] for word in words]


def sensitivity(words: Mapping[str, float]) -> float:
    """Return the variance of the log-probabilities: how much a draw tells of the temperature."""
    values = np.array(list(words.values()))
    shares = np.exp(values - np.logaddexp.reduce(values))
    return float(shares @ (values - shares @ values) ** 2)
