"""Whether log-probabilities go with the tokens that a server draws at temperature 1.

Each reply brings one drawn token with the most probable ones. Where the values are right, a drawn
token is among those as often as their probabilities say, and is as likely as they say. Values in
another base or shifted, and values that stand beside other tokens, fail.
"""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tacit.models.openai.token_lists import find, likeliest, returned

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.openai.token_lists import Token

_FEWEST = 6
_DECIMALS = 3
_ALIKE = 3
_EXACT = 1e-9
# The chance with which an honest server is told of, and the same in standard deviations.
_BY_CHANCE = 1e-3
_DEVIATIONS = 3.09
# More of them where it is looked again and again.
_MANY_DEVIATIONS = 5.0


@dataclass
class Tally:
    """What was drawn beside what was said of it; threads may share it.

    Args:
        top: So many of the most probable tokens count, the drawn one not as one more.
    """

    top: int
    masses: list[float] = field(default_factory=list)
    hits: int = 0
    _off: float = 0.0
    _variance: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, drawn: Token) -> None:
        """Counts one drawn token."""
        place = likeliest(drawn, self.top)
        some = [one.logprob for one in place.top if one.logprob is not None]
        if len(some) <= 1:
            return
        own = find(place.top, place.text, place.number)
        shares = np.exp(np.array(some) - np.logaddexp.reduce(some))
        mean = float(shares @ some)
        with self._lock:
            self.masses.append(min(sum(map(math.exp, some)), 1.0))
            if own is not None and own.logprob is not None:
                self.hits += 1
                self._off += own.logprob - mean
                self._variance += float(shares @ (np.array(some) - mean) ** 2)

    def notes(self, *, again: bool = False) -> list[str]:
        """What a user should know.

        Args:
            again: Whether this is looked at more than once.
        """
        with self._lock:
            masses, hits = list(self.masses), self.hits
            off, deviation = self._off, math.sqrt(self._variance)
        if len(masses) < _FEWEST:
            return []
        notes = []
        if _is_rare(masses, hits, again=again):
            notes.append(
                f"{hits} of {len(masses)} tokens that it drew are among the most probable ones, "
                f"where {sum(masses):.1f} should be by their log-probabilities: these are no "
                "natural logarithms of probabilities, or it does not draw from all tokens"
            )
        if off < -(_MANY_DEVIATIONS if again else _DEVIATIONS) * deviation:
            notes.append(
                "the tokens that it draws are far less probable than its log-probabilities make "
                "them: these may belong to other tokens"
            )
        return notes


def notes_on(drawn: Sequence[Token]) -> list[str]:
    """What a user should know of log-probabilities and of what was drawn beside them.

    Args:
        drawn: A drawn token in each of several places, with the most probable ones.
    """
    tally = Tally(returned(drawn))
    for token in drawn:
        tally.add(token)
    places = [likeliest(token, tally.top) for token in drawn if tally.top > 1]
    return [*tally.notes(), *_of_values(places)] if len(places) >= _FEWEST else []


def _is_rare(masses: Sequence[float], hits: int, *, again: bool) -> bool:
    """Whether so many hits come by chance in one of a thousand cases, or far fewer."""
    if again:
        deviation = math.sqrt(sum(each * (1 - each) for each in masses))
        return abs(hits - sum(masses)) > _MANY_DEVIATIONS * deviation + 1
    chances = np.ones(1)
    for each in masses:
        chances = np.convolve(chances, [1 - each, each])
    return 2 * float(min(chances[hits:].sum(), chances[: hits + 1].sum())) < _BY_CHANCE


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
