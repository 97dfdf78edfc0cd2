"""How a server samples, beside the log-probabilities that it gives.

No single reply shows at which temperature it was drawn, that unlikely tokens were cut off, that it
was changed, or that it is one to another prompt. Where a server gives log-probabilities of first
tokens in a chat, some first tokens are drawn and compared with them in two ways. Among the tokens
listed, temperature T draws each as often as its probability to the power 1/T: T is estimated by
maximum likelihood, its interval by the likelihood ratio. And all draws, those of tokens that are
not listed as one category, are tested for goodness of fit.

The p-value of a look is the smaller one of the two, doubled (Bonferroni). One below 0.01 is not
taken at its word: more tokens are drawn, with other seeds, and tested by themselves. An honest
server is then reported at a p-value below 0.1, so one time in a thousand, and refused at one below
0.001, so one time in a hundred thousand, while few draws are enough as long as all is well.
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
"""First tokens are asked for behind these: most have a pair that differs in one place, and in one
any answer that is turned into its opposite shows."""

DRAWN_TEXTS = 3
"""First tokens are drawn of so many texts, those that together show most of what may go wrong."""

AT_ONCE, SINGLY = 24, 8
"""So many of each text: where one request brings several replies, and where it brings one."""

AGAIN = 2
"""So many times as many are drawn where the first ones do not agree with the log-probabilities."""

SEEDS = SINGLY**2 * (1 + AGAIN)
"""So many seeds, at most, are taken for one look."""

MOST_CALLS = len(TOPS) + len(TRIED) + 2 * DRAWN_TEXTS * SINGLY * (1 + AGAIN)
"""So many calls, at most, are made for it, at the beginning and at the end."""

LOOK_AGAIN, TELL, REFUSE = 0.01, 0.1, 0.001
"""P-values: below the first, more is drawn; below the others, warn and refuse."""

_FEWEST = 10
# Twice the difference in log-likelihood that 5 % of samples exceed by chance.
_FIVE = 3.841
_INVERSES = np.exp(np.linspace(math.log(0.1), math.log(20), 801))


@dataclass(frozen=True)
class Temperature:
    """At which temperature replies are drawn, as far as a few first tokens show.

    Args:
        draws: How many first tokens were drawn that are among the listed ones.
        value: The temperature.
        low: The lower end of its 95 % CI.
        high: The upper end.
        surprise: Twice the log-likelihood that a temperature of 1 has less.
    """

    draws: int
    value: float
    low: float
    high: float
    surprise: float

    @property
    def chance(self) -> float:
        """The p-value of a temperature of 1, by the likelihood ratio."""
        return math.erfc(math.sqrt(max(self.surprise, 0.0) / 2))

    def to_json(self) -> dict[str, Any]:
        """As the model's description has it."""
        return {"draws": self.draws, "value": self.value, "low": self.low, "high": self.high}

    @property
    def note(self) -> str:
        """What is said of it."""
        return (
            f"its replies are drawn as at a temperature of {self.value:.2f} (95 % CI "
            f"{self.low:.2f} to {self.high:.2f}), not 1, by {self.draws} first tokens beside the "
            "log-probabilities that it gives: shares of votes are off by as much"
        )


def estimate(drawn: Sequence[tuple[Sequence[float], Sequence[int]]]) -> Temperature | None:
    """The temperature of draws.

    Args:
        drawn: Of each text, the log-probabilities of the listed tokens, and how often each was
            drawn.

    Returns:
        None with fewer than ten draws.
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
    """The first tokens of the replies to a few texts; none where the server does not give them."""
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
    """First tokens that were drawn, beside the log-probabilities that a server gives.

    Args:
        counted: What was drawn, by text.
        first: The p-value of those drawn before, where these are a second look; else None.
    """

    counted: tuple[Counted, ...]
    first: float | None = None

    @cached_property
    def temperature(self) -> Temperature | None:
        """At which temperature they are drawn; None where too few are among the listed ones."""
        drawn = []
        for each in self.counted:
            listed = [word for word in each.probabilities if word != goodness_of_fit.OUTSIDE]
            values = [math.log(each.probabilities[word]) for word in listed]
            drawn.append((values, [each.counts[word] for word in listed]))
        return estimate(drawn)

    @cached_property
    def fit(self) -> float:
        """The p-value of goodness of fit."""
        return goodness_of_fit.chance(self.counted)

    @property
    def chance(self) -> float:
        """The p-value of both tests."""
        heat = self.temperature.chance if self.temperature else 1.0
        return min(1.0, 2 * min(self.fit, heat))

    @property
    def is_off(self) -> bool:
        """Whether an honest server would be told so once in a thousand times."""
        return self.first is not None and self.chance < TELL

    @property
    def is_far_off(self) -> bool:
        """Whether an honest server would be told so once in a hundred thousand times."""
        return self.first is not None and self.chance < REFUSE

    @property
    def note(self) -> str:
        """What is said of it."""
        if self.temperature is not None and self.temperature.chance < self.fit:
            return self.temperature.note
        draws = sum(each.draws for each in self.counted)
        worst = max(self.counted, key=lambda each: each.farthest_part)
        word, expected = worst.farthest
        name = "a word that is not listed" if word == goodness_of_fit.OUTSIDE else repr(word)
        return (
            f"{draws} first tokens that it drew are not distributed as the log-probabilities that "
            f"it gives say (p = {self.fit:.1g}): behind {worst.text[-40:]!r}, {name} was drawn "
            f"{worst.counts[word]} times of {worst.draws}, where {expected:.1f} were expected. Its "
            "replies are changed, are ones to other prompts, or are drawn from other probabilities"
        )


class Drawing:
    """Draws first tokens of a few texts, and compares them with the log-probabilities listed.

    Args:
        talk: How the server is asked.
        firsts: The first tokens of the replies to some texts, with log-probabilities.
        concurrency: How many requests are under way at once.
        several: Whether one request brings several replies.
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
        """Draws, and where that does not agree, draws again; None where the server refuses to.

        Args:
            seed: Where the seeds begin; ``SEEDS`` of them may be used.

        Raises:
            ScoringError: The server failed.
        """
        try:
            look = Inspection(self._drawn(seed, self._sizes))
            if look.chance >= LOOK_AGAIN:
                return look
            more = self._drawn(seed + SINGLY * len(self._sizes), self._sizes * AGAIN)
        except RefusalError:
            return None  # of a single token, or so many at once
        return Inspection(more, look.chance)

    def _drawn(self, seed: int, sizes: Sequence[int]) -> tuple[Counted, ...]:
        """First tokens of each text; what does not come at once is asked for singly."""
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
