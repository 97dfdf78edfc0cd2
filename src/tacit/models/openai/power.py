"""Which texts' first tokens show most of what may go wrong with sampled replies.

A temperature shows in uncertain replies, a reply to another text in certain ones, and a reply that
is turned into its opposite where one of the two is likelier than the other. Of each text and each
such fault, the Kullback-Leibler divergence from the listed probabilities to those of faulty draws
is what each draw adds to the evidence, in nats.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tacit.models.openai.goodness_of_fit import OUTSIDE

if TYPE_CHECKING:
    from collections.abc import Mapping

    Shares = Mapping[str, float]

OPPOSITES = (("true", "false"), ("false", "true"), ("yes", "no"), ("no", "yes"))
"""Answers that a fault turns into each other."""

_TEMPERATURES = (0.7, 1.4)
_ENOUGH = 0.6
"""Nats of each draw that are plenty: with 24 draws they make a likelihood ratio of a million."""


def choose(known: Mapping[str, Shares], most: int) -> list[str]:
    """Some texts whose draws together show each fault as well as possible.

    Args:
        known: The probability of each first word of the replies to some texts.
        most: How many are chosen.
    """
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
    """How much each draw shows of each fault."""
    shares = known[text]
    others = [_mixed(shares, other) for name, other in known.items() if name != text]
    heated = [_divergence(_heated(shares, each), shares) for each in _TEMPERATURES]
    foreign = sum(_divergence(each, shares) for each in others) / max(len(others), 1)
    turned = [_divergence(_turned(shares, *pair), shares) for pair in OPPOSITES]
    return [*heated, foreign, *turned]


def _divergence(drawn: Shares, shares: Shares) -> float:
    return sum(each * math.log(each / shares[word]) for word, each in drawn.items() if each)


def _heated(shares: Shares, temperature: float) -> dict[str, float]:
    """Drawn at another temperature, among the listed words."""
    hot = {word: each ** (1 / temperature) for word, each in shares.items() if word != OUTSIDE}
    scale = (1 - shares[OUTSIDE]) / max(sum(hot.values()), 1e-300)
    return {OUTSIDE: shares[OUTSIDE], **{word: each * scale for word, each in hot.items()}}


def _mixed(shares: Shares, other: Shares) -> dict[str, float]:
    """Every second draw is one of another text's."""
    theirs = {word: other.get(word, 0.0) for word in shares if word != OUTSIDE}
    theirs[OUTSIDE] = max(1 - sum(theirs.values()), 0.0)
    return {word: (each + theirs[word]) / 2 for word, each in shares.items()}


def _turned(shares: Shares, drawn: str, said: str) -> dict[str, float]:
    """Each draw of one word is given as another."""
    result = dict(shares)
    targets = [word for word in shares if word.casefold() == said] or [OUTSIDE]
    for word in shares:
        if word.casefold() == drawn:
            result[targets[0]] += result[word]
            result[word] = 0.0
    return result
