"""Asks a server again, between its answers, what it answered when it was tried.

A model may be exchanged while a run goes on, a second replica may join, a cache or a proxy may
begin to change prompts. Once a minute, before answers are kept, a few texts are therefore asked
again, several at once, beside the prompts of the run.
"""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from abc import ABC, abstractmethod
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.errors import UnreliableError
from tacit.models.openai.text_pairs import apart
from tacit.models.openai.token_lists import Token, agree
from tacit.requests import Prompt

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from tacit.models.openai.client import Client
    from tacit.models.openai.echo import Aligned
    from tacit.models.openai.server_habits import Habits
    from tacit.requests import Scores


log = logging.getLogger(__name__)

QUIET = 1e-3
"""Nats by which answers to the same text may differ without a warning."""

AT_A_LOOK = 2
"""So many texts are asked again before answers are kept, at most once a minute."""

EVERY = 60.0
"""Seconds after which that is due."""

_LIKELIEST = 5


@dataclass(frozen=True)
class Watched:
    """What a server said of a text when it was tried.

    Args:
        asked: Whether of the text's next token, or of the text's own tokens.
        text: The text.
        said: A token with the most probable ones in its place; of an echo, ``echo_of``.
    """

    asked: Literal["next", "echo"]
    text: str
    said: Token


def echo_of(echo: Aligned) -> Token:
    """The last tokens of an echo, as if they were the most probable ones of one place."""
    values = [one for one in echo.logprobs if one is not None][-_LIKELIEST:]
    return Token(None, None, None, tuple(Token(str(at), None, v) for at, v in enumerate(values)))


class Watch:
    """Whether a server still answers as it did.

    Args:
        watched: What it said. Those that follow one another are asked together.
        ask: Asks for the same now, several at once.
        where: What the model and its server are called.
        telling: So many of the first ones are asked at the end of a run.
        habits: What its replies had in common when it was tried, and what it has drawn since.
        clock: The time in seconds.
    """

    def __init__(
        self,
        watched: Sequence[Watched],
        ask: Callable[[Sequence[Watched]], Sequence[Token | None]],
        where: str,
        telling: int,
        habits: Habits,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._clock, self._looked = clock, clock()
        self._quiet, self._tally = max(QUIET, 2 * habits.noise), habits.tally
        self._told: set[str] = set()
        self._watched, self._telling = tuple(watched), telling
        self._ask, self._where = ask, where
        self._order = itertools.cycle(self._watched)
        self._lock = threading.Lock()

    def recheck(self) -> None:
        """Asks a few texts again, the next ones in turn, where that is due.

        Raises:
            UnreliableError: They are answered otherwise, twice in turn.
            ScoringError: The server failed.
        """
        with self._lock:
            if self._clock() - self._looked < EVERY:
                return
            self._looked = self._clock()
            some = list(itertools.islice(self._order, min(AT_A_LOOK, len(self._watched))))
        self._check(some)

    def recheck_fully(self) -> None:
        """Asks again those texts that tell most, as at the end of a run.

        Raises:
            UnreliableError: As ``look``.
        """
        self._check(self._watched[: self._telling])
        for note in self._tally.notes(again=True) if self._tally else ():
            self._note("draws", note)

    def _check(self, some: Sequence[Watched]) -> None:
        if not some:
            return
        for last in (False, True):  # rounding may differ by chance, once
            differences = self._differences(some)
            every = [each for differs in differences.values() for each in differs]
            if every and agree(every):
                if max(every) > self._quiet:
                    self._note(
                        "noise",
                        f"its log-probabilities now differ by up to {max(every):.2g} nats from "
                        "those that it gave when it was tried",
                    )
                return
            if last:
                raise UnreliableError(
                    f"{self._where} no longer answers as when it was tried "
                    f"({_worst(differences)}): its model was exchanged, several that differ take "
                    "turns, or it no longer reads prompts whole. What it answered since it last "
                    "passed such a trial is not kept. Give the same command again when it is as it "
                    "was"
                )

    def _note(self, kind: str, note: str) -> None:
        """Says what a user should know, one thing of each kind."""
        with self._lock:
            known = kind in self._told
            self._told.add(kind)
        if not known:
            log.warning("%s: %s", self._where, note)

    def _differences(self, some: Sequence[Watched]) -> dict[Watched, list[float]]:
        """How far the likeliest tokens of each are from what they were, in nats."""
        return {
            each: [math.nan] if now is None else apart(each.said, now, _LIKELIEST)
            for each, now in zip(some, self._ask(some), strict=True)
        }


def _worst(differences: Mapping[Watched, Sequence[float]]) -> str:
    largest = {
        watched: max((math.inf if math.isnan(each) else each for each in some), default=math.inf)
        for watched, some in differences.items()
    }
    worst = max(largest, key=lambda each: largest[each])
    if worst.asked == "echo":
        return f"the echo of {worst.text[-40:]!r} has other log-probabilities"
    if math.isinf(largest[worst]):
        return f"behind {worst.text[-40:]!r} other tokens come next"
    return (
        f"behind {worst.text[-40:]!r} log-probabilities differ by up to {largest[worst]:.3g} nats"
    )


class ScoringServer(ABC):
    """A server's model that scores prompts.

    Args:
        client: Calls the server.
        watch: Makes sure, between answers, that the server answers as when it was tried.
        concurrency: How many prompts are under way at once.
    """

    def __init__(self, client: Client, watch: Watch, concurrency: int) -> None:
        self._client, self._watch, self._concurrency = client, watch, concurrency

    @property
    def supports(self) -> frozenset[type]:
        """See ``LanguageModel.supports``: prompts to score."""
        return frozenset({Prompt})

    def answer(self, requests: Sequence[Prompt]) -> list[Scores]:
        """See ``LanguageModel.answer``; some prompts are under way at the same time.

        Raises:
            ScoringError: Also where the server no longer answers as when it was tried.
        """
        found = dict(itertools.chain.from_iterable(self._in_flight(requests, math.inf)))
        return [found[index] for index in range(len(requests))]

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        """See ``Streams.stream``; some prompts are under way at the same time.

        Raises:
            ScoringError: As ``answer``.
        """
        with closing(self._in_flight(requests, seconds)) as parts:
            for part in parts:
                yield [(requests[index], scores) for index, scores in part]

    def recheck(self) -> None:
        """See ``Rechecks``."""
        self._watch.recheck_fully()

    @abstractmethod
    def _score(self, prompt: Prompt) -> Scores:
        """The scores of one prompt's answers."""

    def _in_flight(
        self, prompts: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[int, Scores]]]:
        """Scores as they come, each with its prompt's index."""
        look = self._watch.recheck
        return self._client.stream(self._score, prompts, self._concurrency, seconds, look)
