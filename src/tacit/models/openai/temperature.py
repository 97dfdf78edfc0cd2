"""Estimate the temperature at which a server samples its replies."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.models.openai.tokens import Token, identifies_token

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
