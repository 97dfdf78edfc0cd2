"""Whether a server's model is the one that answered before: in earlier runs, and in this one."""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.english import several
from tacit.errors import UnreliableError
from tacit.models.openai.checks import QUIET
from tacit.models.openai.server import AFTER, TEXTS, Repeat, Server
from tacit.models.openai.streaming import at_once
from tacit.models.openai.tokens import LARGEST, agree, find, largest
from tacit.requests import KINDS

log = logging.getLogger(__name__)

Canary = dict[str, Any]
"""A server's stored answer to a prompt, with which later answers are compared.

``text`` is the prompt, ``token`` is a next token that the server listed, ``id`` is the token's id,
and ``logprob`` is the token's log-probability. If ``token`` and ``id`` are None, ``logprob`` is the
summed log-probability of the tokens of ``text``. A server without log-probabilities has canaries
with the prompt ``text`` and the model's ``reply`` at temperature 0.
"""

_OF_EACH = 2

AT_ONCE = 2
"""The number of preflight requests that are repeated in each check during a run."""

EVERY = 60.0
"""The minimum number of seconds between two checks of the server during a run."""

DISCARDED = (
    "Answers received since the last successful check are discarded. Run the same command again "
    "when the server answers as before"
)


def recognised(
    identity: Mapping[str, Any], server: Server, store: Path | None
) -> tuple[str, list[Canary]]:
    """Return a server's fingerprint and canaries: stored ones, if it still gives these answers."""
    for known in _described(store) if store else ():
        canaries = known.get("canaries")
        if known.get("identity") == identity and canaries and _still_gives(server, canaries):
            return str(known["fingerprint"]), list(canaries)
    new = _canaries_of(server)
    content = json.dumps([identity, new], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(f"server {content}".encode()).hexdigest(), new


def _canaries_of(server: Server) -> list[Canary]:
    tokens = [
        {"text": text, "token": one.text, "id": one.number, "logprob": one.logprob}
        for text, token in server.nexts.items()
        for one in [one for one in token.top if one.logprob is not None][:_OF_EACH]
    ]
    echoes = [
        {"text": text, "token": None, "id": None, "logprob": echo.total}
        for text, echo in server.echoes.items()
    ]
    replies = [{"text": text, "reply": reply} for text, reply in server.greedy_replies.items()]
    return [*tokens, *echoes, *replies]


def _still_gives(server: Server, canaries: Sequence[Canary]) -> bool:
    """Return whether a server's answers in the preflight match stored ones."""

    def logprob(canary: Canary) -> float:
        if canary["token"] is None and canary["id"] is None:
            echo = server.echoes.get(canary["text"])
            return math.nan if echo is None else echo.total
        token = server.nexts.get(canary["text"])
        found = token and find(token.top, canary["token"], canary["id"])
        return math.nan if found is None or found.logprob is None else found.logprob

    try:
        if server.greedy_replies:
            then = {canary["text"]: canary["reply"] for canary in canaries}
            return same_replies(then, server.greedy_replies)
        return agree([abs(logprob(canary) - canary["logprob"]) for canary in canaries])
    except (LookupError, TypeError, OverflowError):
        return False  # this package did not write these canaries


def same_replies(then: Mapping[str, str], now: Mapping[str, str]) -> bool:
    """Return whether at least half of the texts were answered again, and 75 % of these alike."""
    both = [text for text in then if text in now]
    same = sum(then[text] == now[text] for text in both)
    return bool(both) and 2 * len(both) >= len(then) and 4 * same >= 3 * len(both)


def _described(store: Path) -> list[dict[str, Any]]:
    """Return the descriptions of servers in a score store, starting with the newest one."""
    found = []
    folders = sorted(kind.folder for kind in KINDS.values())
    for file in (file for folder in folders for file in store.glob(f"{folder}/*/model.json")):
        try:
            known = json.loads(file.read_text(encoding="utf-8"))
            found.append((file.stat().st_mtime_ns, str(file), known))
        except (OSError, ValueError, RecursionError):
            continue  # this server is then not recognised
    found.sort(key=lambda each: each[:2], reverse=True)
    return [
        known
        for *_, known in found
        if isinstance(known, dict) and known.get("kind") == "server" and "fingerprint" in known
    ]


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
                    f"{DISCARDED}"
                )

    def _note_noise(self, change: float) -> None:
        if change > self._quiet and not self._is_noted:
            self._is_noted = True
            log.warning(
                "%s: its log-probabilities of the same prompts now differ by up to %.2g nats",
                self.server.name,
                change,
            )
