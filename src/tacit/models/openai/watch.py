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
from tacit.models.openai.chat import OPEN_ENDED
from tacit.models.openai.chat_checks import REFUSE, TELL, VotesServer
from tacit.models.openai.checks import QUIET
from tacit.models.openai.server import TEXTS, CompletionsServer, Server
from tacit.models.openai.tokens import LARGEST, agree

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
        # The texts that faulty servers change are the last ones of the preflight.
        nexts = [("next", text) for text in reversed(server.nexts)] if server.top else []
        echoes = server.echoes if isinstance(server, CompletionsServer) else {}
        pairs = itertools.zip_longest(nexts, [("echo", text) for text in reversed(echoes)])
        self._repeats = [one for pair in pairs for one in pair if one]
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
        telling = [one for one in self._repeats if one[0] == "echo" or one[1] not in TEXTS]
        self._check(telling or self._repeats if last else self._repeats[:AT_ONCE])

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

    def _check(self, some: Sequence[tuple[str, str]]) -> None:
        for last in (False, True):  # rounding may differ once by chance
            apart = self.server.client.at_once(self._apart, some, self.server.concurrency)
            every = [each for differences in apart for each in differences]
            if not every or agree(every):
                self._note_noise(max(every, default=0.0))
                return
            if last:
                changes = [max(map(_finite, each), default=0.0) for each in apart]
                kind, text = some[changes.index(max(changes))]
                where = "in the echo of" if kind == "echo" else "after"
                raise UnreliableError(
                    f"{self.server.name} no longer answers as in the preflight (log-probabilities "
                    f"{where} {text[-40:]!r} differ): its model was replaced, several different "
                    f"models answer in turn, or it no longer reads prompts whole. {_DISCARDED}"
                )

    def _apart(self, repeat: tuple[str, str]) -> list[float]:
        """Repeat a request; return the differences from the preflight's answer, in nats."""
        kind, text = repeat
        if kind == "echo" and isinstance(self.server, CompletionsServer):
            return self.server.echo_changes(text)
        return self.server.changes(text, self.server.next_token(text))

    def _note_noise(self, largest: float) -> None:
        if largest > self._quiet and not self._is_noted:
            self._is_noted = True
            log.warning(
                "%s: its log-probabilities of the same prompts now differ by up to %.2g nats",
                self.server.name,
                largest,
            )


def _finite(change: float) -> float:
    return math.inf if math.isnan(change) else change


class VotesWatch(Watch):
    """Also checks that sampled replies vary as in the preflight."""

    def __init__(self, server: VotesServer, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(server, clock)
        self._votes = server
        self._seeds = itertools.count(10_000)

    def recheck_now(self, *, last: bool) -> None:
        """See ``Watch.recheck_now``; without log-probabilities, replies are compared."""
        super().recheck_now(last=last)
        server = self._votes
        if server.greedy_replies and not server.same_greedy_replies(server.concurrency):
            raise UnreliableError(
                f"{server.name} no longer returns the same replies at temperature 0 as in the "
                f"preflight: its model was replaced, or it no longer reads prompts whole. "
                f"{_DISCARDED}"
            )
        if server.temperature is not None and not server.temperature.is_off(TELL):
            self._check_temperature()
        else:
            self._check_draws()

    def _check_temperature(self) -> None:
        name, now = self._votes.name, self._votes.estimate_temperature()
        if now is None or not now.is_off(TELL):
            return
        log.warning("%s: in a later check, %s", name, now.note)
        if now.is_off(REFUSE):
            raise UnreliableError(
                f"{name} no longer samples its replies as in the preflight: {now.note}. "
                f"{_DISCARDED}"
            )

    def _check_draws(self) -> None:
        server = self._votes
        seeds = [next(self._seeds) for _ in range(3)]
        drawn = server.client.at_once(
            lambda seed: server.replies(OPEN_ENDED, seed, room=server.room)[0].whole,
            seeds,
            server.concurrency,
        )
        if len(set(drawn)) == 1:
            raise UnreliableError(
                f"{server.name} now returns the same reply every time, so its replies are not "
                f"random samples. {_DISCARDED}"
            )
