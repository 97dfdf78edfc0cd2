"""What a fault is: how a server answers once it has begun, where it applies, and who could see it.

Whether a fault is visible is judged from what a client could ask and compare, not from what Tacit
does: by asking the same twice, alone and among others, at the start and at the end, by comparing
next tokens with an echo, the count of a prompt's tokens with the tokenizer's, or texts that differ
in one respect.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Sent, Server

Road = Literal["echo", "echo+tokenizer", "next+tokenizer", "chat", "votes"]
"""How a server is used: completions that echo, without and with a tokenizer; next tokens alone;
first tokens in the chat; sampled replies."""

ROADS: tuple[Road, ...] = ("echo", "echo+tokenizer", "next+tokenizer", "chat", "votes")
ECHO: tuple[Road, ...] = ("echo", "echo+tokenizer")
COMPLETIONS: tuple[Road, ...] = (*ECHO, "next+tokenizer")
SCORED: tuple[Road, ...] = (*COMPLETIONS, "chat")
VOTES: tuple[Road, ...] = ("votes",)

Start = Literal["first", "60th", "midway"]
"""When it begins: with the first request, after 60 requests, or 60 requests after the preflight."""

STARTS: tuple[Start, ...] = ("first", "60th", "midway")
USUAL: tuple[Start, ...] = ("first", "midway")
LATE: tuple[Start, ...] = ("60th", "midway")


CHANCE = "few requests are concerned; it is seen where one of the texts asked again is among them"


@dataclass(frozen=True)
class Hidden:
    """Where a fault cannot be seen from outside, and why."""

    why: str
    roads: tuple[Road, ...] = ROADS
    starts: tuple[Start, ...] = STARTS


@dataclass(frozen=True)
class Fault:
    """One way in which servers go wrong.

    Args:
        name: What it does.
        make: Makes the way it answers, anew for each run.
        roads: Where it applies.
        starts: When it may begin.
        hidden: Where it cannot be seen from outside.
    """

    name: str
    make: Callable[[], Respond]
    roads: tuple[Road, ...] = ROADS
    starts: tuple[Start, ...] = STARTS
    hidden: tuple[Hidden, ...] = ()

    def hides(self, road: Road, start: Start) -> str | None:
        """Why it cannot be seen there; None where it can."""
        for one in self.hidden:
            if road in one.roads and start in one.starts:
                return one.why
        return None


def on_text(change: Callable[[str], str]) -> Callable[[], Respond]:
    """The server changes each text before it reads it; an empty one stays."""

    def respond(asked: Asked, server: Server) -> Answer:
        return server.honest.answer(asked.about(change(asked.text) or asked.text))

    return lambda: respond


def on_body(change: Callable[[Answer], Answer]) -> Callable[[], Respond]:
    """The server changes each request before it reads it."""
    return lambda: lambda asked, server: server.honest.answer(change(asked.body))


def on_answer(change: Callable[[Answer], Answer]) -> Callable[[], Respond]:
    """The server changes each answer that it would give."""
    return lambda: lambda asked, server: change(server.honest.answer(asked.body))


def sending(send: Callable[[Answer, Asked], Sent | Answer]) -> Callable[[], Respond]:
    """The server sends its answers otherwise, given the request."""
    return lambda: lambda asked, server: send(server.honest.answer(asked.body), asked)
