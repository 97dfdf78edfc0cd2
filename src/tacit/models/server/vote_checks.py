"""How a server samples, beside the log-probabilities that it gives.

No single reply shows at which temperature it was drawn, or that unlikely tokens were cut off. Where
a server gives log-probabilities of first tokens in a chat, some first tokens are drawn and compared
with them: among the tokens listed, temperature T draws each as often as its probability to the
power 1/T. T is estimated by maximum likelihood, its interval by the likelihood ratio.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.errors import ScoringError
from tacit.models.server.client import RefusalError
from tacit.models.server.preflight import TEXTS
from tacit.models.server.replies import TOPS
from tacit.models.server.reply_checks import WrongRepliesError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.models.server.replies import Token
    from tacit.models.server.talking import Talk

    Floats = NDArray[np.float64]

TRIED = (TEXTS[0], TEXTS[1], TEXTS[2], TEXTS[8])
"""First tokens are asked for behind these, of which most have a pair that differs in one place."""

UNCERTAIN = 2
"""First tokens are drawn of so many texts, those whose replies are the least certain."""

AT_ONCE, SINGLY = 24, 12
"""So many of each text: where one request brings several replies, and where it brings one."""

MOST_CALLS = len(TOPS) + len(TRIED) + UNCERTAIN * SINGLY
"""So many calls, at most, are made for it."""

_FEWEST = 10
_LEAST_ENTROPY = 0.2
# Twice the difference in log-likelihood that 5 %, 1 % and 0.001 % of samples exceed by chance.
_FIVE, _ONE, _FAR = 3.841, 6.635, 19.51
_INVERSES = np.exp(np.linspace(math.log(0.1), math.log(20), 801))


@dataclass(frozen=True)
class Temperature:
    """At which temperature replies are drawn, as far as a few first tokens show.

    Args:
        draws: How many first tokens were drawn that are among the listed ones.
        value: The temperature.
        low: The lower end of its 95 % interval.
        high: The upper end.
        surprise: Twice the log-likelihood that a temperature of 1 has less.
    """

    draws: int
    value: float
    low: float
    high: float
    surprise: float

    @property
    def is_off(self) -> bool:
        """Whether a temperature of 1 is beyond the 99 % interval."""
        return self.surprise > _ONE

    @property
    def is_far_off(self) -> bool:
        """Whether an honest server would be told so once in a hundred thousand times."""
        return self.surprise > _FAR

    def to_json(self) -> dict[str, Any]:
        """As the model's description has it."""
        return {"draws": self.draws, "value": self.value, "low": self.low, "high": self.high}

    @property
    def note(self) -> str:
        """What is said of it."""
        return (
            f"its replies are drawn as at a temperature of {self.value:.2f} (95 % interval "
            f"{self.low:.2f} to {self.high:.2f}), not 1, by {self.draws} first tokens beside the "
            "log-probabilities that it gives: shares of votes are off by as much"
        )


def estimate(drawn: Sequence[tuple[Sequence[float], int]]) -> Temperature | None:
    """The temperature of draws.

    Args:
        drawn: Of each draw, the log-probabilities of the listed tokens, and which one it was.

    Returns:
        None with fewer than ten draws.
    """
    if len(drawn) < _FEWEST:
        return None
    likelihood: Floats = np.zeros(len(_INVERSES))
    for logprobs, which in drawn:
        scaled = np.outer(_INVERSES, np.asarray(logprobs, dtype=np.float64))
        likelihood += scaled[:, which] - np.logaddexp.reduce(scaled, axis=1)
    best = int(likelihood.argmax())
    behind = 2 * (likelihood[best] - likelihood)
    within = _INVERSES[behind <= _FIVE]
    at_one = float(np.interp(1.0, _INVERSES, behind))
    return Temperature(
        len(drawn),
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


def temperature_of(
    talk: Talk, firsts: dict[str, Token], concurrency: int, *, several: bool, seed: int = 1000
) -> Temperature | None:
    """At which temperature a server draws; None where that cannot be seen.

    Args:
        talk: How it is asked.
        firsts: The first tokens of the replies to some texts, with log-probabilities.
        concurrency: How many requests are under way at once.
        several: Whether one request brings several replies.
        seed: Where the seeds begin.

    Raises:
        ScoringError: The server failed.
    """
    entropies = {text: _entropy(token) for text, token in firsts.items()}
    texts = sorted(entropies, key=lambda text: -entropies[text])[:UNCERTAIN]
    texts = [text for text in texts if entropies[text] > _LEAST_ENTROPY]
    brief = talk.but(room=1, top=1)
    sizes = [AT_ONCE] if several else [1] * SINGLY
    pieces = [(text, seed + at, size) for text in texts for at, size in enumerate(sizes)]
    try:
        replies = talk.client.at_once(lambda piece: brief.replies(*piece), pieces, concurrency)
    except RefusalError:
        return None  # of a single token, or so many at once
    drawn: list[tuple[Sequence[float], int]] = []
    for (text, _, _), some in zip(pieces, replies, strict=True):
        listed = {
            (one.text or "").strip(): one.logprob
            for one in firsts[text].top
            if one.logprob is not None
        }
        names, values = list(listed), list(listed.values())
        known = [name for said in some if (name := said.text.strip()) in listed]
        drawn += [(values, names.index(name)) for name in known]
    return estimate(drawn)


def _entropy(token: Token) -> float:
    values = [one.logprob for one in token.top if one.logprob is not None]
    return -sum(math.exp(value) * value for value in values)
