"""Exact multinomial test of whether sampled tokens match a server's log-probabilities."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from tacit.models.openai.token_lists import identifies_token

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from tacit.models.openai.token_lists import Token

    Floats = NDArray[np.float64]
    Shares = Mapping[str, float]


OUTSIDE = ""
"""The category of all tokens except the complete words that the server lists."""

_LEAST_OUTSIDE = 1e-3
"""The minimum probability of ``OUTSIDE`` (all words that the server does not list).

If the probabilities of the listed words sum to almost 1, the difference from 1 may be only a
rounding error.
"""

_LEAST_LISTED = -30.0  # nats; a less probable token counts as not listed
_STEP, _MOST = 0.05, 200.0
_BINS = round(_MOST / _STEP) + 1
_CACHED = 16
_SPECIAL = re.compile(r"<[^<>\s]+>")  # an end token is listed, but does not appear in a reply
_SPACES = " \t\r\n\u2581\u0120\u010a"


@dataclass(frozen=True)
class Counted:
    """The count of each word among the sampled first tokens of replies to a text."""

    text: str
    probabilities: Mapping[str, float]
    counts: Mapping[str, int]

    @property
    def draws(self) -> int:
        """The total number of sampled tokens."""
        return sum(self.counts.values())

    @property
    def farthest(self) -> tuple[str, float]:
        """Of all words drawn more often than expected, the word that adds most to statistic G."""
        worst = max(self._excess, key=lambda word: self._excess[word])
        return worst, self.probabilities[worst] * self.draws

    @property
    def farthest_part(self) -> float:
        """The contribution of the word in ``farthest`` to the statistic G."""
        return max(self._excess.values())

    @property
    def _excess(self) -> dict[str, float]:
        """Contribution of each word to the statistic G; 0 unless the word is over-represented."""
        expected = {word: share * self.draws for word, share in self.probabilities.items()}
        return {
            word: _log_ratio(count, expected[word]) if count > expected[word] else 0.0
            for word, count in self.counts.items()
        }


def word_of(text: str) -> str:
    """Return a token's text without white space; ``OUTSIDE`` for special or partial tokens."""
    word = text.strip(_SPACES)
    return word if identifies_token(word) and not _SPECIAL.fullmatch(word) else OUTSIDE


def probabilities_of(token: Token) -> dict[str, float]:
    """Return the probability of each listed word, and of all other words together."""
    shares: dict[str, float] = {}
    for one in token.top:
        word = word_of(one.text or "")
        if word != OUTSIDE and one.logprob is not None and one.logprob > _LEAST_LISTED:
            shares[word] = shares.get(word, 0.0) + math.exp(one.logprob)
    shares[OUTSIDE] = max(1 - sum(shares.values()), _LEAST_OUTSIDE)
    total = sum(shares.values())
    return {word: share / total for word, share in shares.items()}


def count(text: str, token: Token, drawn: Iterable[str]) -> Counted:
    """Count how often each word occurs among one-token replies."""
    probabilities = probabilities_of(token)
    words = [word_of(each) for each in drawn]
    known = Counter(word if word in probabilities else OUTSIDE for word in words)
    return Counted(text, probabilities, {word: known[word] for word in probabilities})


def chance(counted: Sequence[Counted]) -> float:
    """Return the p-value of the observed statistic G; 1 if there are no draws."""
    total = 0
    drawn = [(tuple(each.probabilities.values()), each.draws) for each in counted if each.draws]
    for each in counted:
        parts = _parts(tuple(each.probabilities.values()), each.draws)
        counts = [each.counts[word] for word in each.probabilities]
        total += sum(int(parts[at, seen]) for at, seen in enumerate(counts))
    distribution = _summed(tuple(drawn))
    return min(float(distribution[min(total, _BINS - 1) :].sum()), 1.0)


@lru_cache(maxsize=_CACHED)
def _summed(drawn: tuple[tuple[tuple[float, ...], int], ...]) -> Floats:
    """Return the null distribution of the statistic G, which is summed over texts."""
    distribution: Floats = np.ones(1)
    for shares, draws in drawn:
        distribution = _capped(np.convolve(distribution, _distribution(shares, draws)))
    return distribution


@lru_cache(maxsize=_CACHED)
def _parts(shares: tuple[float, ...], draws: int) -> NDArray[np.int64]:
    """Return each word's contribution to the statistic G for 0 to ``draws`` occurrences."""
    counts = range(draws + 1)
    some = np.array([[_log_ratio(seen, share * draws) for seen in counts] for share in shares])
    return np.minimum(np.ceil(some / _STEP - 1e-9), _BINS - 1).astype(np.int64)


def _log_ratio(seen: int, expected: float) -> float:
    return 2 * ((seen * math.log(seen / expected) if seen else 0.0) - seen + expected)


@lru_cache(maxsize=_CACHED)
def _distribution(shares: tuple[float, ...], draws: int) -> Floats:
    """Return the distribution of the statistic G for one text, in bins of width ``_STEP``."""
    state = np.zeros((draws + 1, _BINS))
    state[0, 0] = 1.0
    for share, steps in zip(shares, _parts(shares, draws), strict=True):
        after = np.zeros_like(state)
        for seen, step in enumerate(steps):
            weight = math.exp(_log_poisson(seen, share * draws))
            before = state[: draws + 1 - seen]
            after[seen:, step:] += weight * before[:, : _BINS - step]
            after[seen:, -1] += weight * before[:, _BINS - step :].sum(axis=1)
        state = after
    result: Floats = state[draws] / math.exp(_log_poisson(draws, draws))
    return result


def _log_poisson(seen: int, mean: float) -> float:
    return seen * math.log(mean) - mean - math.lgamma(seen + 1)


def _capped(distribution: Floats) -> Floats:
    head: Floats = distribution[:_BINS].copy()
    head[-1] += distribution[_BINS:].sum()
    return head


OPPOSITES = (("true", "false"), ("false", "true"), ("yes", "no"), ("no", "yes"))
"""Pairs of answers: a faulty server may return the second answer instead of the first."""

_TEMPERATURES = (0.7, 1.4)
_ENOUGH = 0.6
"""The divergence, in nats per draw, that suffices to detect a sampling fault.

With 24 draws, a divergence of 0.6 nats per draw gives a likelihood ratio above a million.
"""


def choose(known: Mapping[str, Shares], most: int) -> list[str]:
    """Choose the texts that are most likely to reveal each type of sampling fault."""
    powers = {text: _powers(text, known) for text in known}
    chosen: list[str] = []
    sums = [0.0] * (len(_TEMPERATURES) + 1 + len(OPPOSITES))

    def gain(text: str) -> float:
        return sum(min(a + b, _ENOUGH) for a, b in zip(sums, powers[text], strict=True))

    while len(chosen) < min(most, len(known)):
        best = max((text for text in known if text not in chosen), key=gain)
        sums = [a + b for a, b in zip(sums, powers[best], strict=True)]
        chosen.append(best)
    return chosen


def _powers(text: str, known: Mapping[str, Shares]) -> list[float]:
    """Return the divergence that each type of sampling fault causes, in nats per draw."""
    shares = known[text]
    others = [_mixed(shares, other) for name, other in known.items() if name != text]
    heated = [_divergence(_heated(shares, each), shares) for each in _TEMPERATURES]
    foreign = sum(_divergence(each, shares) for each in others) / max(len(others), 1)
    turned = [_divergence(_turned(shares, *pair), shares) for pair in OPPOSITES]
    return [*heated, foreign, *turned]


def _divergence(drawn: Shares, shares: Shares) -> float:
    return sum(each * math.log(each / shares[word]) for word, each in drawn.items() if each)


def _heated(shares: Shares, temperature: float) -> dict[str, float]:
    """Apply a sampling temperature to the probabilities of the words that a server lists."""
    hot = {word: each ** (1 / temperature) for word, each in shares.items() if word != OUTSIDE}
    scale = (1 - shares[OUTSIDE]) / max(sum(hot.values()), 1e-300)
    return {OUTSIDE: shares[OUTSIDE], **{word: each * scale for word, each in hot.items()}}


def _mixed(shares: Shares, other: Shares) -> dict[str, float]:
    """Average a prompt's distribution of first words with that of another prompt."""
    theirs = {word: other.get(word, 0.0) for word in shares if word != OUTSIDE}
    theirs[OUTSIDE] = max(1 - sum(theirs.values()), 0.0)
    return {word: (each + theirs[word]) / 2 for word, each in shares.items()}


def _turned(shares: Shares, drawn: str, said: str) -> dict[str, float]:
    """Return the word probabilities of a server that replaces one word by another."""
    result = dict(shares)
    targets = [word for word in shares if word.casefold() == said] or [OUTSIDE]
    for word in shares:
        if word.casefold() == drawn:
            result[targets[0]] += result[word]
            result[word] = 0.0
    return result
