"""Faults of what stands before a model: caches, balancers and gateways that mix up who asked what.

Some are of the model itself: other weights under the same name, at once or in turn.
"""

from __future__ import annotations

import copy
import hashlib
import json
import re
import threading
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import CHANCE, LATE, Fault, Hidden
from tests.models.openai.matrix.faults_of_texts import MODEL

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Server

SAME = "each text is always answered by the same model, so that none is answered in two ways"
_WAIT = 0.02


def _cached(key: Callable[[Asked], Hashable]) -> Callable[[], Respond]:
    """Answers what has the same key as what was asked before in the same way, as a cache does."""

    def make() -> Respond:
        known: dict[Hashable, Answer] = {}

        def respond(asked: Asked, server: Server) -> Answer:
            name = key(asked)
            if name not in known:
                known[name] = server.honest.answer(asked.body)
            return copy.deepcopy(known[name])

        return respond

    return make


def _rest(asked: Asked) -> str:
    """The request without its text and its seed: what else a cache tells apart."""
    body = {name: value for name, value in asked.about("").items() if name != "seed"}
    return json.dumps(body, sort_keys=True)


def _by(part: Callable[[str], Hashable]) -> Callable[[], Respond]:
    return _cached(lambda asked: (part(asked.text), _rest(asked)))


def _words(text: str) -> str:
    return " ".join(sorted(set(re.findall(r"\w+", text.casefold()))))


def _collides(text: str) -> Hashable:
    """One text in eight has the key of others."""
    digest = hashlib.sha256(text.encode()).digest()[0]
    return "same" if digest % 8 == 0 else text


def _swaps() -> Respond:
    """Two requests that are under way at once get each other's answer."""
    waiting: list[tuple[Answer, list[Answer], threading.Event]] = []
    lock = threading.Lock()

    def respond(asked: Asked, server: Server) -> Answer:
        own = server.honest.answer(asked.body)
        with lock:
            if waiting:
                theirs, box, found = waiting.pop()
                box.append(own)
                found.set()
                return theirs
            mine: list[Answer] = []
            place = (own, mine, threading.Event())
            waiting.append(place)
        place[2].wait(_WAIT)
        with lock:
            if place in waiting:
                waiting.remove(place)
        return mine[0] if mine else own

    return respond


def _previous(*, same_kind: bool) -> Callable[[], Respond]:
    """Answers what was asked before, by anybody, or by who asked in the same way."""

    def make() -> Respond:
        before: dict[str, Answer] = {}
        lock = threading.Lock()

        def respond(asked: Asked, server: Server) -> Answer:
            own, kind = server.honest.answer(asked.body), _rest(asked) if same_kind else ""
            with lock:
                answer, before[kind] = before.get(kind, own), own
            return answer

        return respond

    return make


def _other(which: Callable[[Asked], bool], **said: object) -> Callable[[], Respond]:
    """Another model answers some requests; what is said of it may give it away."""

    def respond(asked: Asked, server: Server) -> Answer:
        if not which(asked):
            return server.honest.answer(asked.body)
        return {**server.other.answer(asked.body), **said}

    return lambda: respond


def _is_odd(asked: Asked) -> bool:
    return hashlib.sha256(asked.text.encode()).digest()[0] % 2 == 1


def _crowded() -> Respond:
    """A second, smaller model takes what comes while the first is busy."""

    def respond(asked: Asked, server: Server) -> Answer:
        with server.lock:
            several = server.under_way > 1
        return (server.other if several else server.honest).answer(asked.body)

    return respond


_model = (Hidden(MODEL, starts=("first",)),)
_sticky = (
    Hidden(SAME, ("next+tokenizer", "chat", "votes"), ("first",)),
    Hidden(SAME, ("echo", "echo+tokenizer"), ("first",)),
)
_by_chance = (Hidden(CHANCE),)

FAULTS = [
    Fault("cache by the first 64 characters", _by(lambda text: text[:64])),
    Fault("cache by the last 64 characters", _by(lambda text: text[-64:])),
    Fault("cache by the last 24 characters", _by(lambda text: text[-24:])),
    Fault("cache by length", _by(len)),
    Fault("cache by the set of words", _by(_words)),
    Fault("cache by the text without blanks", _by(lambda text: "".join(text.split()))),
    Fault("cache by the text in lower case", _by(str.lower)),
    Fault("cache by the text, whatever is asked of it", _cached(lambda asked: asked.text)),
    Fault("cache with a key that one text in eight has", _by(_collides)),
    Fault("requests under way at once get each other's answers", _swaps),
    Fault("answers the previous request", _previous(same_kind=False)),
    Fault("answers the previous request of the same kind", _previous(same_kind=True)),
    Fault("answers each request as the first of its kind", _cached(_rest)),
    Fault("other weights", _other(lambda _: True), starts=LATE),
    Fault("other weights, by their name", _other(lambda _: True, model="toy-2"), hidden=_model),
    Fault(
        "other weights, by another system_fingerprint",
        _other(lambda _: True, system_fingerprint="fp_1"),
        starts=LATE,
    ),
    Fault("two replicas with other weights in turn", _other(lambda a: a.number % 2 == 1)),
    Fault("one request in ten goes to other weights", _other(lambda a: a.number % 10 == 9)),
    Fault("two replicas with other weights, by the text", _other(_is_odd), hidden=_sticky),
    Fault("other weights where requests come at once", _crowded, hidden=_by_chance),
    Fault(
        "other weights for texts of over 100 characters",
        _other(lambda asked: len(asked.text) > 100),
        hidden=_sticky,
    ),
    Fault(
        "another model's name with the same weights",
        lambda: lambda asked, server: {**server.honest.answer(asked.body), "model": "toy-2"},
    ),
]
