"""Monitor a server during a run by repeating requests from its preflight."""

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

from tacit.english import several
from tacit.errors import UnreliableError
from tacit.models.openai.client import RefusalError
from tacit.models.openai.text_pairs import apart
from tacit.models.openai.token_lists import LARGEST, Token, agree
from tacit.requests import Prompt
from tacit.requests.scoring import FOR_NOW

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from tacit.models.openai.client import Client
    from tacit.models.openai.echo import Aligned
    from tacit.models.openai.server_habits import Habits
    from tacit.requests import Scores


log = logging.getLogger(__name__)

QUIET = 1e-3
"""The largest change of a log-probability, in nats, that causes no warning."""

AT_A_LOOK = 2
"""The number of preflight requests that are repeated in each check during a run."""

EVERY = 60.0
"""The minimum number of seconds between two checks of the server during a run."""

_LIKELIEST = 5


@dataclass(frozen=True)
class Watched:
    """A server's answer to a test prompt of the preflight (the test before a run)."""

    asked: Literal["next", "echo"]
    text: str
    said: Token


def echo_of(echo: Aligned) -> Token:
    """Return a ``Token`` that contains the last five log-probabilities of an echoed text."""
    values = [one for one in echo.logprobs if one is not None][-_LIKELIEST:]
    return Token(None, None, None, tuple(Token(str(at), None, v) for at, v in enumerate(values)))


class Watch:
    """A monitor that compares a server's answers during a run with the preflight's answers."""

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
        """Recheck the next few recorded answers if the last check was at least a minute ago."""
        with self._lock:
            if self._clock() - self._looked < EVERY:
                return
            self._looked = self._clock()
            some = list(itertools.islice(self._order, min(AT_A_LOOK, len(self._watched))))
        self._check(some)

    def recheck_now(self, *, last: bool) -> None:
        """Repeat the preflight requests that best reveal a changed server, more at a run's end."""
        with self._lock:
            self._looked = self._clock()
        self._check(self._watched[: self._telling if last else AT_A_LOOK])
        for note in self._tally.notes(again=True) if self._tally else ():
            self._note("draws", note)

    def differing(self, changes: Sequence[tuple[str, Sequence[float]]]) -> str | None:
        """Return how the answers to prompts have changed; None if rounding explains it."""
        every = [each for _, some in changes for each in some]
        if not every or agree(every):
            self._note_noise(max(every, default=0.0))
            return None
        largest, worst = max((max(some, default=0.0), text) for text, some in changes)
        wrong = sum(max(some, default=0.0) > LARGEST for _, some in changes)
        how = f" by up to {largest:.3g} nats" if math.isfinite(largest) else ""
        return (
            f"answers to {wrong or 'most'} of {several(len(changes), 'prompt')} that were asked "
            f"again differ{how} from those before, as after {worst[-40:]!r}"
        )

    def _check(self, some: Sequence[Watched]) -> None:
        if not some:
            return
        for last in (False, True):  # rounding may differ once by chance
            differences = self._differences(some)
            every = [each for differs in differences.values() for each in differs]
            if every and agree(every):
                self._note_noise(max(every))
                return
            if last:
                raise UnreliableError(
                    f"{self._where} no longer answers as in the preflight ({_worst(differences)}): "
                    "its model was replaced, several different models answer in turn, or it no "
                    "longer reads prompts whole. Answers received since the last successful check "
                    "are discarded. Run the same command again when the server answers as before"
                )

    def _note_noise(self, largest: float) -> None:
        if largest > self._quiet:
            self._note(
                "noise",
                f"its log-probabilities of the same prompts now differ by up to {largest:.2g} nats",
            )

    def _note(self, kind: str, note: str) -> None:
        """Log a warning, but only once for each kind of warning."""
        with self._lock:
            known = kind in self._told
            self._told.add(kind)
        if not known:
            log.warning("%s: %s", self._where, note)

    def _differences(self, some: Sequence[Watched]) -> dict[Watched, list[float]]:
        """Return the differences in nats between current and recorded log-probabilities."""
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
        return f"other tokens follow {worst.text[-40:]!r}"
    return f"log-probabilities after {worst.text[-40:]!r} differ by up to {largest[worst]:.3g} nats"


class ScoringServer(ABC):
    """A model that runs on a server and scores prompts."""

    def __init__(self, client: Client, watch: Watch, concurrency: int) -> None:
        self._client, self._watch, self._concurrency = client, watch, concurrency

    @property
    def supports(self) -> frozenset[type]:
        """See ``LanguageModel.supports``; the only supported class is ``Prompt``."""
        return frozenset({Prompt})

    def answer(self, requests: Sequence[Prompt]) -> list[Scores]:
        """See ``LanguageModel.answer``; several prompts are scored concurrently."""
        found = dict(itertools.chain.from_iterable(self._in_flight(requests, math.inf)))
        return [found[index] for index in range(len(requests))]

    def stream(
        self, requests: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[Prompt, Scores]]]:
        """See ``Streams.stream``; several prompts are scored concurrently."""
        with closing(self._in_flight(requests, seconds)) as parts:
            for part in parts:
                yield [(requests[index], scores) for index, scores in part]

    def recheck(self, answered: Sequence[tuple[Prompt, Scores]], *, last: bool) -> str | None:
        """See ``Rechecks.recheck``."""
        self._watch.recheck_now(last=last)
        changes = self._client.at_once(self._changes, answered, self._concurrency)
        return self._watch.differing(changes)

    @abstractmethod
    def _score(self, prompt: Prompt, more: int = 0) -> tuple[Scores, float]:
        """Return the scores of a prompt's answers, and the lowest log-probability listed."""

    def _changes(self, answered: tuple[Prompt, Scores]) -> tuple[str, list[float]]:
        """Ask a prompt again; return its text, and its answers' differences in nats."""
        prompt, then = answered
        try:
            now, least = self._score(prompt, more=1)
        except RefusalError:  # one more token does not fit in the server's window
            return prompt.text, []
        changes = []
        for one, other in zip(then.answers, now.answers, strict=True):
            before, after = one.logprob, other.logprob
            if before is not None and after is not None:
                changes.append(abs(before - after) / math.sqrt(max(1, one.tokens)))
                continue
            known = after if before is None else before
            if known is not None and known > least + LARGEST and other.missing not in FOR_NOW:
                changes.append(math.inf)
        return prompt.text, changes

    def _in_flight(
        self, prompts: Sequence[Prompt], seconds: float
    ) -> Generator[list[tuple[int, Scores]]]:
        """Yield batches of scores as they arrive, each score with the index of its prompt."""
        look = self._watch.recheck
        return self._client.stream(
            lambda prompt: self._score(prompt)[0], prompts, self._concurrency, seconds, look
        )
