"""Compare a chat server's sampled replies with its reported log-probabilities.

A server may sample at a temperature other than 1, truncate the distribution, change replies, or mix
up prompts. A single reply does not reveal whether a server samples incorrectly. If a server returns
the log-probabilities of a reply's first token, Tacit samples some first tokens and applies a
temperature test and a goodness-of-fit test to them. The temperature test estimates the temperature
T of the sampled tokens by maximum likelihood. At temperature T, each token that the server lists is
drawn with a probability proportional to p^(1/T), where p is the probability that the server reports
for the token. The confidence interval of the temperature T is computed from the likelihood ratio.
The goodness-of-fit test compares each token's share of the draws with the probability that the
server reports for the token. In the goodness-of-fit test, all tokens that the server does not list
are counted together as one category.

The combined p-value of the temperature test and the goodness-of-fit test is twice the smaller of
the two p-values (Bonferroni correction). If the combined p-value is below 0.01 for the first set of
drawn tokens, Tacit draws a second set with other seeds, and applies the temperature test and the
goodness-of-fit test to the second set alone. Tacit gives a warning if the combined p-value of the
two tests is below 0.01 for the first set of drawn tokens and below 0.1 for the second set. At the
end of a run, Tacit raises an error if the combined p-value of the two tests is below 0.01 for the
first set of drawn tokens and below 0.001 for the second set. If a server draws tokens according to
the log-probabilities that it reports, at most one in a hundred checks needs a second set of drawn
tokens, at most one in a thousand checks leads to a warning, and at most one in a hundred thousand
checks leads to an error.
"""

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
    """The temperature of a server's replies, estimated from sampled first tokens.

    Args:
        draws: The number of sampled first tokens that are in the server's list of most probable
            tokens.
        value: The estimated temperature.
        low: The lower end of the temperature's 95 % CI.
        high: The upper end of the temperature's 95 % CI.
        surprise: Twice the log-likelihood ratio between the estimated temperature and a temperature
            of 1.
    """

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
    """Estimate the temperature at which tokens were sampled.

    Args:
        drawn: For each prompt, the log-probability of each listed token, and the number of times
            that the token was drawn.

    Returns:
        The estimated temperature; None if fewer than ten tokens were sampled.
    """
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
    """Request the first token of the reply to each prompt in ``TRIED``.

    The result is an empty dictionary if the server returns no usable log-probabilities.
    """
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
    """A comparison of sampled first tokens with a server's log-probabilities.

    Args:
        counted: For each prompt, the number of times that each word was drawn as the first word of
            the reply. If the tests of the drawn words were repeated with newly drawn words,
            ``counted`` contains only the counts of the newly drawn words.
        first: The combined p-value of the temperature and goodness-of-fit tests on the first set of
            draws; None if the tests were not repeated with newly drawn words.
    """

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
        """Whether sampled tokens and log-probabilities differ enough for a warning.

        If a server's sampled tokens follow its log-probabilities, at most one check in 1,000 leads
        to a false warning.
        """
        return self.first is not None and self.chance < TELL

    @property
    def is_far_off(self) -> bool:
        """Whether sampled tokens and log-probabilities differ enough to raise an error.

        If a server's sampled tokens follow its log-probabilities, at most one check in 100,000
        leads to a false error.
        """
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
    """A repeatable comparison of sampled first tokens with a server's log-probabilities.

    Args:
        talk: The object that sends chat requests to the server.
        firsts: For each prompt, the first token of the reply, together with the most probable first
            tokens.
        concurrency: The number of concurrent requests.
        several: Whether the server can return several replies to one request.
    """

    def __init__(
        self, talk: Talk, firsts: Mapping[str, Token], concurrency: int, *, several: bool
    ) -> None:
        self._talk, self._concurrency = talk.but(room=1, top=1), concurrency
        self._sizes = [AT_ONCE] if several else [1] * SINGLY
        shares = {text: goodness_of_fit.probabilities_of(one) for text, one in firsts.items()}
        listed = {text: some for text, some in shares.items() if len(some) > 1}
        self._firsts = {text: firsts[text] for text in goodness_of_fit.choose(listed, DRAWN_TEXTS)}

    def inspect(self, seed: int) -> Inspection | None:
        """Test whether sampled tokens fit the server's log-probabilities.

        If the sampled tokens do not fit the log-probabilities, the test is repeated with newly
        sampled tokens.

        Args:
            seed: The first of up to ``SEEDS`` consecutive seeds.

        Returns:
            The comparison of the sampled tokens with the server's log-probabilities; None if the
            server refuses the requests for samples.

        Raises:
            ScoringError: If the server failed.
        """
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
