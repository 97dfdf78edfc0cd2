"""Whether log-probabilities go with the tokens that a server draws at temperature 1.

Each text of the preflight brings one drawn token with the most probable ones. Where the values are
right, a drawn token is among those as often as their probabilities say, and is as likely as they
say. Values in another base or shifted, and values that stand beside other tokens, fail.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tacit.models.server.replies import find, likeliest, returned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.server.replies import Token

# The chance with which an honest server is told of.
_BY_CHANCE = 1e-3
_FEWEST = 6
_DECIMALS = 3
_ALIKE = 3
_EXACT = 1e-9
# One-sided, at the same chance.
_Z = 3.09


def notes_on(drawn: Sequence[Token]) -> list[str]:
    """What a user should know of log-probabilities and of what was drawn beside them.

    Args:
        drawn: A drawn token in each of several places, with the most probable ones.
    """
    most = returned(drawn)
    places = [likeliest(token, most) for token in drawn if most > 1]
    if len(places) < _FEWEST:
        return []
    return [*_of_places(places), *_of_values(places)]


def _of_places(places: Sequence[Token]) -> list[str]:
    values = [[one.logprob for one in place.top if one.logprob is not None] for place in places]
    masses = [min(sum(map(math.exp, some)), 1.0) for some in values]
    listed = [find(place.top, place.text, place.number) for place in places]
    hits = sum(one is not None for one in listed)
    notes = []
    if _tail(masses, hits) < _BY_CHANCE:
        notes.append(
            f"{hits} of {len(places)} tokens that it drew are among the most probable ones, where "
            f"{sum(masses):.1f} should be by their log-probabilities: these are no natural "
            "logarithms of probabilities, or it does not draw from all tokens"
        )
    off = total = 0.0
    for some, one in zip(values, listed, strict=True):
        if one is None or one.logprob is None:
            continue
        shares = np.exp(np.array(some) - np.logaddexp.reduce(some))
        mean = float(shares @ some)
        off += one.logprob - mean
        total += float(shares @ (np.array(some) - mean) ** 2)
    if total > 0 and off < -_Z * math.sqrt(total):
        notes.append(
            "the tokens that it draws are far less probable than its log-probabilities make them: "
            "these may belong to other tokens"
        )
    return notes


def _tail(masses: Sequence[float], hits: int) -> float:
    """How probable so many hits or more, or so few or fewer, are by chance, doubled."""
    chances = np.ones(1)
    for each in masses:
        chances = np.convolve(chances, [1 - each, each])
    return float(2 * min(chances[hits:].sum(), chances[: hits + 1].sum()))


def _of_values(places: Sequence[Token]) -> list[str]:
    values = [one.logprob for place in places for one in place.top if one.logprob is not None]
    for decimals in range(_DECIMALS):
        if all(abs(value - round(value, decimals)) < _EXACT for value in values):
            off = 0.5 * 10**-decimals
            return [f"its log-probabilities are rounded, by up to {off:g} nats"]
    floors = [
        sum(one.logprob == min(some) for one in place.top)
        for place in places
        if (some := [one.logprob for one in place.top if one.logprob is not None])
    ]
    if sum(each >= _ALIKE for each in floors) * 2 >= len(floors):
        return ["the least probable tokens that it returns all have the same log-probability"]
    return []
