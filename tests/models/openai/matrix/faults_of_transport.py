"""Faults on the way: refusals, delays, broken connections, redirections and compression."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import Fault, sending
from tests.models.openai.matrix.server import Sent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.fault import Road
    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Server

PATIENCE = 2.0
"""Seconds that an answer is waited for in the matrix."""

_GZIP = {"Content-Type": "application/json", "Content-Encoding": "gzip"}


def _failing(sent: Sent, times: int) -> Callable[[], Respond]:
    """The same request is answered after it has failed so many times."""

    def make() -> Respond:
        failed: Counter[str] = Counter()

        def respond(asked: Asked, server: Server) -> Answer | Sent:
            name = json.dumps(asked.body, sort_keys=True)
            with server.lock:
                failed[name] = (failed[name] + 1) % (times + 1)
                fails = failed[name] > 0
            return sent if fails else server.honest.answer(asked.body)

        return respond

    return make


def _always(sent: Sent) -> Callable[[], Respond]:
    return sending(lambda _, __: sent)


def _first(sent: Sent, times: int) -> Callable[[], Respond]:
    """The first requests fail, as while a model is loaded."""

    def respond(asked: Asked, server: Server) -> Answer | Sent:
        return sent if asked.number < times else server.honest.answer(asked.body)

    return lambda: respond


def _error(status: int, **headers: str) -> Sent:
    return Sent(b'{"error": {"message": "not now"}}', status, {"X": "1", **headers})


def _dumped(answer: Answer) -> bytes:
    return json.dumps(answer).encode()


def _sent(**more: object) -> Callable[[], Respond]:
    return sending(lambda answer, _: Sent(_dumped(answer), **more))  # type: ignore[arg-type]


def _some(every: int, **more: object) -> Callable[[], Respond]:
    """One request in so many goes wrong."""

    def send(answer: Answer, asked: Asked) -> Answer | Sent:
        wrong = asked.number % every == every - 1
        return Sent(_dumped(answer), **more) if wrong else answer  # type: ignore[arg-type]

    return sending(send)


def _late_answers() -> Respond:
    """One request in 40 takes too long, and from then on answers come to the next who asks.

    As from a balancer that keeps a connection on which an answer was no longer waited for.
    """
    late: list[Answer] = []

    def respond(asked: Asked, server: Server) -> Answer | Sent:
        own = server.honest.answer(asked.body)
        with server.lock:
            if asked.number % 40 == 39:
                late.append(own)
                return Sent(_dumped(own), delay=PATIENCE * 1.3)
            if late and len(late) < 3:
                late.append(own)
                return late.pop(0)
        return own

    return respond


def _redirected(status: int) -> Callable[[], Respond]:
    """Sends elsewhere, where other weights are served."""
    elsewhere = {"Location": "http://127.0.0.1:9/v1/completions"}
    return _always(Sent(b"", status, elsewhere))


ROADS: tuple[Road, ...] = ("echo+tokenizer", "chat", "votes")
"""How an answer travels is the same for all completions."""

_FAULTS: tuple[tuple[str, Callable[[], Respond]], ...] = (
    ("429 twice, then an answer", _failing(_error(429), 2)),
    ("429 with Retry-After, then an answer", _failing(_error(429, **{"Retry-After": "1"}), 1)),
    ("429 for ever", _always(_error(429))),
    ("500 twice, then an answer", _failing(_error(500), 2)),
    ("500 for ever", _always(_error(500))),
    ("503 for the first 20 requests", _first(_error(503), 20)),
    ("404 before each answer", _failing(_error(404), 1)),
    ("400 for ever", _always(_error(400))),
    ("401 for ever", _always(_error(401))),
    ("a delay of 20 ms", _some(4, delay=0.02)),
    ("one request in 40 takes too long", _some(40, delay=PATIENCE * 1.3)),
    ("one request in 40 takes too long, and others get its answer", _late_answers),
    ("one connection in five is reset", _some(5, ends="reset")),
    ("one answer in five is cut", _some(5, ends="cut")),
    ("a connection that is closed though it was to be kept", _sent(ends="closed")),
    ("gzip", sending(lambda a, _: Sent(gzip.compress(_dumped(a)), headers=_GZIP))),
    ("redirected to another server (307)", _redirected(307)),
)

FAULTS = [Fault(name, make, ROADS) for name, make in _FAULTS]
