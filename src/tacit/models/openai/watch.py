"""Watch a server during a run, by repeating requests of its preflight."""

from __future__ import annotations

import itertools
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence

from tacit.english import several
from tacit.errors import UnreliableError
from tacit.models.openai.chat import OPEN_ENDED, REFUSE, TELL, VotesServer
from tacit.models.openai.checks import QUIET
from tacit.models.openai.server import AFTER, TEXTS, Repeat, Server
from tacit.models.openai.streaming import at_once
from tacit.models.openai.tokens import LARGEST, agree, largest

log = logging.getLogger(__name__)

AT_ONCE = 2
"""The number of preflight requests that are repeated in each check during a run."""

EVERY = 60.0
"""The minimum number of seconds between two checks of the server during a run."""

_DISCARDED = (
    "Answers received since the last successful check are discarded. Run the same command again "
    "when the server answers as before"
)


class Watch:
    """Compares a server's answers during a run with the preflight's answers."""

    def __init__(self, server: Server, clock: Callable[[], float] = time.monotonic) -> None:
        self.server, self._clock, self._checked_at = server, clock, clock()
        self._quiet, self._is_noted = max(QUIET, 2 * server.noise), False
        self._lock = threading.Lock()
        self._repeats = server.repeats()
        self._order = itertools.cycle(self._repeats)

    def recheck(self) -> None:
        """Repeat the next few requests if the last check was at least a minute ago."""
        with self._lock:
            if self._clock() - self._checked_at < EVERY:
                return
            self._checked_at = self._clock()
            some = list(itertools.islice(self._order, min(AT_ONCE, len(self._repeats))))
        self._check(some)

    def recheck_now(self, *, last: bool) -> None:
        """Repeat requests that reveal a changed server, more of them at a run's end."""
        self._checked_at = self._clock()
        telling = [one for one in self._repeats if one.where != AFTER or one.text not in TEXTS]
        self._check(telling or self._repeats if last else self._repeats[:AT_ONCE])

    def differing(self, changes: Sequence[tuple[str, Sequence[float]]]) -> str | None:
        """Return how the answers to prompts have changed; None if rounding explains it."""
        every = [each for _, some in changes for each in some]
        if not every or agree(every):
            self._note_noise(largest(every))
            return None
        most, worst = max((largest(some), text) for text, some in changes)
        wrong = sum(largest(some) > LARGEST for _, some in changes)
        how = f" by up to {most:.3g} nats" if math.isfinite(most) else ""
        return (
            f"answers to {wrong or 'most'} of {several(len(changes), 'prompt')} that were asked "
            f"again differ{how} from those before, as after {worst[-40:]!r}"
        )

    def _check(self, some: Sequence[Repeat]) -> None:
        for last in (False, True):  # rounding may differ once by chance
            apart = at_once(lambda one: one.changes(), some, self.server.concurrency)
            every = [each for differences in apart for each in differences]
            if not every or agree(every):
                self._note_noise(largest(every))
                return
            if last:
                changes = [largest(each) for each in apart]
                worst = some[changes.index(max(changes))]
                raise UnreliableError(
                    f"{self.server.name} no longer answers as in the preflight (log-probabilities "
                    f"{worst.where} {worst.text[-40:]!r} differ): its model was replaced, several "
                    "different models answer in turn, or it no longer reads prompts whole. "
                    f"{_DISCARDED}"
                )

    def _note_noise(self, change: float) -> None:
        if change > self._quiet and not self._is_noted:
            self._is_noted = True
            log.warning(
                "%s: its log-probabilities of the same prompts now differ by up to %.2g nats",
                self.server.name,
                change,
            )


def check_replies(server: VotesServer) -> None:
    """Check that sampled replies vary as in the preflight, and that greedy ones are the same."""
    if server.greedy_replies and not server.same_greedy_replies(server.concurrency):
        raise UnreliableError(
            f"{server.name} no longer returns the same replies at temperature 0 as in the "
            f"preflight: its model was replaced, or it no longer reads prompts whole. "
            f"{_DISCARDED}"
        )
    if server.temperature is None or server.temperature.is_off(TELL):
        _check_draws(server)
        return
    now = server.estimate_temperature()
    if now is None or not now.is_off(TELL):
        return
    log.warning("%s: in a later check, %s", server.name, now.note)
    if now.is_off(REFUSE):
        raise UnreliableError(
            f"{server.name} no longer samples its replies as in the preflight: {now.note}. "
            f"{_DISCARDED}"
        )


def _check_draws(server: VotesServer) -> None:
    seed = next(server.seeds)
    drawn = at_once(
        lambda at: server.replies(OPEN_ENDED, seed + at, room=server.room)[0].whole,
        range(3),
        server.concurrency,
    )
    if len(set(drawn)) == 1:
        raise UnreliableError(
            f"{server.name} now returns the same reply every time, so its replies are not "
            f"random samples. {_DISCARDED}"
        )
