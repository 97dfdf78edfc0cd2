"""Compare a chat server's sampled replies with its reported log-probabilities."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError
from tacit.models.openai import goodness_of_fit
from tacit.models.openai.client import RefusalError
from tacit.models.openai.preflight import TEXTS
from tacit.models.openai.schema import WrongRepliesError
from tacit.models.openai.token_lists import TOPS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.models.openai.chat import Talk
    from tacit.models.openai.goodness_of_fit import Counted
    from tacit.models.openai.token_lists import Token

    Floats = NDArray[np.float64]

TRIED = (
    TEXTS[0],
    TEXTS[2],
    TEXTS[8],
    "Choose one of these words at random and say nothing else: True, False, Yes, No",
)
"""Prompts for which the log-probabilities of the reply's first token are requested.

One of the prompts offers the answers True, False, Yes and No, to detect a server that replaces an
answer with its opposite (see ``OPPOSITES``).
"""

DRAWN_TEXTS = 3
"""The maximum number of prompts to which replies are sampled.

Among the prompts with known first-token probabilities, Tacit selects those that best reveal
sampling faults.
"""

AT_ONCE, SINGLY = 24, 8
"""Replies sampled per prompt: 24 if a request can return several replies, otherwise 8."""

AGAIN = 2
"""The ratio of additional draws to first draws.

Replies are drawn again if the first draws fail the tests.
"""

SEEDS = SINGLY**2 * (1 + AGAIN)
"""The maximum number of seeds that one call of ``Drawing.inspect`` uses."""

MOST_CALLS = len(TOPS) + len(TRIED) + 2 * DRAWN_TEXTS * SINGLY * (1 + AGAIN)
"""The maximum total number of requests in the two checks at the start and end of a run."""

LOOK_AGAIN, TELL, REFUSE = 0.01, 0.1, 0.001
"""P-value limits: ``LOOK_AGAIN`` (more draws), ``TELL`` (a warning), ``REFUSE`` (an error)."""

_FEWEST = 10
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

    @property
    def chance(self) -> float:
        """The p-value of a likelihood-ratio test of the hypothesis that the temperature is 1."""
        return math.erfc(math.sqrt(max(self.surprise, 0.0) / 2))

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a dict, for the model's description."""
        return {"draws": self.draws, "value": self.value, "low": self.low, "high": self.high}

    @property
    def note(self) -> str:
        """The text of the warning about the temperature."""
        return (
            f"its replies are sampled at a temperature of {self.value:.2f} (95 % CI {self.low:.2f} "
            f"to {self.high:.2f}) instead of 1, according to {self.draws} first tokens and their "
            "log-probabilities: vote shares are biased accordingly"
        )


def estimate(drawn: Sequence[tuple[Sequence[float], Sequence[int]]]) -> Temperature | None:
    """Estimate the temperature at which tokens were sampled."""
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
    at_one = float(np.interp(1.0, _INVERSES, behind))
    return Temperature(
        draws,
        float(1 / _INVERSES[best]),
        float(1 / within[-1]),
        float(1 / within[0]),
        at_one,
    )


def first_tokens(talk: Talk, concurrency: int) -> dict[str, Token]:
    """Request the first token of the reply to each prompt in ``TRIED``."""
    first, *others = TRIED
    for top in TOPS[1:]:
        asked = talk.but(top=top)
        try:
            found: list[Token | None] = list(asked.first_token(first, attempts=1).tokens[:1])
            found += asked.first_tokens(others, concurrency) if found else []
        except WrongRepliesError:
            return {}
        except ScoringError:
            continue
        there = zip(TRIED, found, strict=False)
        return {text: token for text, token in there if token is not None and len(token.top) > 1}
    return {}


@dataclass(frozen=True)
class Inspection:
    """A comparison of sampled first tokens with a server's log-probabilities."""

    counted: tuple[Counted, ...]
    first: float | None = None

    @cached_property
    def temperature(self) -> Temperature | None:
        """The estimated temperature; None if the server lists fewer than ten sampled tokens."""
        drawn = []
        for each in self.counted:
            listed = [word for word in each.probabilities if word != goodness_of_fit.OUTSIDE]
            values = [math.log(each.probabilities[word]) for word in listed]
            drawn.append((values, [each.counts[word] for word in listed]))
        return estimate(drawn)

    @cached_property
    def fit(self) -> float:
        """The p-value of the goodness-of-fit test of sampled tokens against log-probabilities."""
        return goodness_of_fit.chance(self.counted)

    @property
    def chance(self) -> float:
        """The combined p-value of the temperature test and the goodness-of-fit test."""
        heat = self.temperature.chance if self.temperature else 1.0
        return min(1.0, 2 * min(self.fit, heat))

    @property
    def is_off(self) -> bool:
        """Whether sampled tokens and log-probabilities differ enough for a warning."""
        return self.first is not None and self.chance < TELL

    @property
    def is_far_off(self) -> bool:
        """Whether sampled tokens and log-probabilities differ enough to raise an error."""
        return self.first is not None and self.chance < REFUSE

    @property
    def note(self) -> str:
        """The text of the warning that sampled tokens do not match the log-probabilities."""
        if self.temperature is not None and self.temperature.chance < self.fit:
            return self.temperature.note
        draws = sum(each.draws for each in self.counted)
        worst = max(self.counted, key=lambda each: each.farthest_part)
        word, expected = worst.farthest
        name = "an unlisted word" if word == goodness_of_fit.OUTSIDE else repr(word)
        return (
            f"{draws} sampled first tokens do not follow the log-probabilities that it returns (p "
            f"= {self.fit:.1g}): after {worst.text[-40:]!r}, {name} was sampled "
            f"{worst.counts[word]} times in {worst.draws} draws, but {expected:.1f} were expected. "
            "Its replies are modified, belong to other prompts, or are sampled from other "
            "probabilities"
        )


class Drawing:
    """A repeatable comparison of sampled first tokens with a server's log-probabilities."""

    def __init__(
        self, talk: Talk, firsts: Mapping[str, Token], concurrency: int, *, several: bool
    ) -> None:
        self._talk, self._concurrency = talk.but(room=1, top=1), concurrency
        self._sizes = [AT_ONCE] if several else [1] * SINGLY
        shares = {text: goodness_of_fit.probabilities_of(one) for text, one in firsts.items()}
        listed = {text: some for text, some in shares.items() if len(some) > 1}
        self._firsts = {text: firsts[text] for text in goodness_of_fit.choose(listed, DRAWN_TEXTS)}

    def inspect(self, seed: int) -> Inspection | None:
        """Test whether sampled tokens fit the server's log-probabilities."""
        try:
            look = Inspection(self._drawn(seed, self._sizes))
            if look.chance >= LOOK_AGAIN:
                return look
            more = self._drawn(seed + SINGLY * len(self._sizes), self._sizes * AGAIN)
        except RefusalError:
            return None  # the server refuses one-token replies, or so many replies at once
        return Inspection(more, look.chance)

    def _drawn(self, seed: int, sizes: Sequence[int]) -> tuple[Counted, ...]:
        """Sample first tokens of replies to each prompt; request each missing reply separately."""
        each = [(seed + SINGLY * at, size) for at, size in enumerate(sizes)]
        pieces = [(text, first, size) for text in self._firsts for first, size in each]
        replies = self._talk.client.at_once(
            lambda piece: self._talk.replies(*piece), pieces, self._concurrency
        )
        lacking = [
            (text, first + at)
            for (text, first, size), some in zip(pieces, replies, strict=True)
            for at in range(len(some), min(size, SINGLY))
        ]
        replies += self._talk.client.at_once(
            lambda piece: self._talk.replies(*piece), lacking, self._concurrency
        )
        said: dict[str, list[str]] = {text: [] for text in self._firsts}
        texts = [text for text, *_ in pieces] + [text for text, *_ in lacking]
        for text, some in zip(texts, replies, strict=True):
            said[text] += [one.text for one in some]
        return tuple(
            goodness_of_fit.count(text, token, said[text]) for text, token in self._firsts.items()
        )
