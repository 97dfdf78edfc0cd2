"""Record properties of a server's replies in the preflight; later replies must match."""

from __future__ import annotations

import math
import threading
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.english import several
from tacit.models.openai.schema import UNKNOWN_NOISE, Answer, Choice, ReplyError, validated
from tacit.models.openai.token_lists import find, likeliest, returned

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.models.openai.token_lists import Token
    from tacit.models.openai.tokenizer import TokenizerFile


_FEWEST = 6
_DECIMALS = 3
_ALIKE = 3
_EXACT = 1e-9
# The false-alarm rate for an honest server, and the equivalent in standard deviations.
_BY_CHANCE = 1e-3
_DEVIATIONS = 3.09
# A stricter threshold for repeated looks.
_MANY_DEVIATIONS = 5.0


@dataclass
class Tally:
    """A thread-safe comparison of drawn tokens with the reported log-probabilities."""

    top: int
    masses: list[float] = field(default_factory=list)
    hits: int = 0
    _off: float = 0.0
    _variance: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, drawn: Token) -> None:
        """Add a sampled token and the log-probabilities at its position to the tally."""
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
        """Return warnings if sampled tokens do not match the reported log-probabilities."""
        with self._lock:
            masses, hits = list(self.masses), self.hits
            off, deviation = self._off, math.sqrt(self._variance)
        if len(masses) < _FEWEST:
            return []
        notes = []
        if _is_rare(masses, hits, again=again):
            notes.append(
                f"{hits} of {len(masses)} sampled tokens are among the most probable ones, but its "
                f"log-probabilities imply {sum(masses):.1f}: they are not natural logarithms of "
                "probabilities, or it does not sample from all tokens"
            )
        if off < -(_MANY_DEVIATIONS if again else _DEVIATIONS) * deviation:
            notes.append(
                "the tokens that it samples are far less probable than its log-probabilities "
                "imply: these may belong to other tokens"
            )
        return notes


def notes_on(drawn: Sequence[Token]) -> list[str]:
    """Return warnings if log-probabilities are implausible or do not fit the drawn tokens."""
    tally = Tally(returned(drawn))
    for token in drawn:
        tally.add(token)
    places = [likeliest(token, tally.top) for token in drawn if tally.top > 1]
    return [*tally.notes(), *_of_values(places)] if len(places) >= _FEWEST else []


def _is_rare(masses: Sequence[float], hits: int, *, again: bool) -> bool:
    """Return whether implausibly many or few drawn tokens are among the top tokens."""
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


# The lower limit of tokens per word, as a share of the fewest during the preflight.
_SURELY = 0.6
_FAILURES = frozenset({"error", "content_filter", "abort", "aborted", "cancelled", "canceled"})
_ENDS = frozenset({"length", "stop", "eos", "eos_token", "stop_sequence", "max_tokens", "end_turn"})


@dataclass(frozen=True)
class _About:
    """The model name, the finish reasons and the prompt's token count in a server's answer."""

    model: str | None
    ends: tuple[str, ...]
    counted: int | None


@dataclass
class Habits:
    """The properties that all replies of a server share."""

    _seen: list[tuple[str, _About]] = field(default_factory=list)
    _settled: bool = False
    _models: frozenset[str] = frozenset()
    _ends: frozenset[str] = _ENDS
    _counts: dict[str, int] = field(default_factory=dict)
    _tokenizer: TokenizerFile | None = None
    _beside: int | None = None
    _fewest_of_a_word: float = 0.0
    noise: float = UNKNOWN_NOISE
    tally: Tally | None = None

    @property
    def names(self) -> frozenset[str]:
        """The model names that the server's replies contain."""
        return frozenset(about.model for _, about in self._seen if about.model)

    def settle(
        self, tokenizer: TokenizerFile | None = None, noise: float = 0.0, top: int = 0
    ) -> None:
        """Stop recording the properties of replies."""
        self.tally = Tally(top) if top > 1 else None
        self._settled, self._tokenizer, self.noise = True, tokenizer, noise
        self._models = self.names
        self._ends = _ENDS | {end for _, about in self._seen for end in about.ends}
        counts: dict[str, set[int]] = defaultdict(set)
        for text, about in self._seen:
            if about.counted is not None:
                counts[text].add(about.counted)
        if not counts or any(len(some) > 1 for some in counts.values()):
            return  # no counts, or inconsistent ones
        self._counts = {text: count for text, (count,) in counts.items()}
        if tokenizer is None:
            rates = [
                count / words for text, count in self._counts.items() if (words := _words(text))
            ]
            self._fewest_of_a_word = _SURELY * min(rates, default=0.0)
            return
        beside = {count - len(tokenizer.cut(text).tokens) for text, count in self._counts.items()}
        self._beside = beside.pop() if len(beside) == 1 else None

    def counted(self, text: str) -> int | None:
        """Return the server's token count for a preflight text; None if there is no count."""
        return self._counts.get(text)

    def draw(self, tokens: Sequence[Token]) -> None:
        """Count the first token of a reply in ``tally``, unless ``tally`` is None."""
        if self.tally is not None and tokens:
            self.tally.add(tokens[0])

    def check(self, text: str, answer: Mapping[str, Any]) -> None:
        """Record a reply, or after ``settle`` check it against the recorded replies."""
        about = _about(answer)
        for end in about.ends:
            if end in _FAILURES or (self._settled and end not in self._ends):
                raise ReplyError(f"its finish reason is {end!r}")
        if not self._settled:
            self._seen.append((text, about))
            return
        if about.model and self._models and about.model not in self._models:
            raise ReplyError(
                f"it names the model {about.model!r}, but earlier replies named "
                f"{', '.join(map(repr, sorted(self._models)))}"
            )
        if about.counted is not None:
            self._check_count(text, about.counted)

    def _check_count(self, text: str, counted: int) -> None:
        known = self._counts.get(text)
        if known is not None and counted != known:
            raise ReplyError(
                f"it counts {counted} tokens in a prompt in which it counted {known} earlier"
            )
        if self._tokenizer is not None and self._beside is not None and text:
            expected = len(self._tokenizer.cut(text).tokens) + self._beside
            if counted != expected:
                raise ReplyError(
                    f"it counts {several(counted, 'token')} in a prompt of "
                    f"{several(expected, 'token')}"
                )
        words = _words(text)
        if counted < self._fewest_of_a_word * words:
            raise ReplyError(
                f"it counts {several(counted, 'token')} in a prompt of {several(words, 'word')}, "
                "so it did not read the whole prompt"
            )


def _words(text: str) -> int:
    return len(text.split())


def _about(answer: Mapping[str, Any]) -> _About:
    read = validated(answer, Answer[Choice], "a completion or a chat completion")
    ends = tuple(one.finish_reason for one in read.choices if one.finish_reason is not None)
    return _About(read.model, ends, read.usage.prompt_tokens)
