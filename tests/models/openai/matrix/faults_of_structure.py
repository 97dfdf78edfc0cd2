"""Faults of an answer's form: choices, counts, reasons, JSON that is none or says two things."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import (
    COMPLETIONS,
    ECHO,
    SCORED,
    Fault,
    on_answer,
    on_body,
    sending,
)
from tests.models.openai.matrix.positions import values
from tests.models.openai.matrix.server import Sent

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Server

_OTHER = "I cannot help with that."
_HTML = b"<!doctype html><title>Sign in</title><h1>Sign in to the network</h1>"
_JSON = {"Content-Type": "application/json"}


def _ended(reason: str | None, *, other: bool) -> Callable[[], Respond]:
    """Ends for another reason; the values are then of another text, or right all the same."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.about(_OTHER) if other else asked.body)
        choices = [{**choice, "finish_reason": reason} for choice in answer["choices"]]
        return {**answer, "choices": choices}

    return lambda: respond


def _in_part(asked: Asked) -> bool:
    return hashlib.sha256(asked.text.encode()).digest()[0] % 4 == 0


def _filtered(asked: Asked, server: Server) -> Answer:
    """One text in four is taken for harmful, and what is said instead is scored."""
    if not _in_part(asked):
        return server.honest.answer(asked.body)
    return _ended("content_filter", other=True)()(asked, server)  # type: ignore[return-value]


def _with_other(order: tuple[int, int]) -> Callable[[], Respond]:
    """Two choices, of the prompt and of another one, with these indices."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.body)
        theirs = server.honest.answer(asked.about(_OTHER))["choices"][0]
        own = answer["choices"][0]
        two = [{**own, "index": order[0]}, {**theirs, "index": order[1]}]
        return {**answer, "choices": two}

    return lambda: respond


def _only_other(index: int) -> Callable[[], Respond]:
    """One choice, of another prompt, with an index that says so."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.about(_OTHER))
        return {**answer, "choices": [{**answer["choices"][0], "index": index}]}

    return lambda: respond


def _twice(answer: Answer) -> Answer:
    one = answer["choices"][0]
    return {**answer, "choices": [one, {**one, "index": 1}]}


def _numbered(index: object) -> Callable[[Answer], Answer]:
    return lambda answer: {
        **answer,
        "choices": [{**choice, "index": index} for choice in answer["choices"]],
    }


def _counting(count: Callable[[int], object]) -> Callable[[Answer], Answer]:
    """Says that the prompt had another number of tokens."""

    def change(answer: Answer) -> Answer:
        usage = answer["usage"]
        return {**answer, "usage": {**usage, "prompt_tokens": count(usage["prompt_tokens"])}}

    return change


def _without(key: str) -> Callable[[Answer], Answer]:
    return lambda answer: {name: value for name, value in answer.items() if name != key}


def _sending(content: Callable[[Answer], bytes], **more: object) -> Callable[[], Respond]:
    return sending(lambda answer, _: Sent(content(answer), **more))  # type: ignore[arg-type]


def _dumped(answer: Answer) -> bytes:
    return json.dumps(answer).encode()


def _key_twice(asked: Asked, server: Server) -> Sent:
    """A key that stands there twice: which one counts is the reader's choice."""
    answer = server.honest.answer(asked.body)
    theirs = server.honest.answer(asked.about(_OTHER))["choices"]
    whole = json.dumps(answer)
    return Sent(f'{whole[:-1]}, "choices": {json.dumps(theirs)}}}'.encode())


def _value_twice(answer: Answer) -> bytes:
    """A token's log-probability stands there twice."""
    wrong = json.dumps(values(answer, lambda value: value * 0.5))
    for name in ("token_logprobs", "content"):
        at = json.dumps(answer).find(f'"{name}": [')
        if at >= 0:
            own = json.dumps(answer)
            begin = wrong.find(f'"{name}": [')
            listed = wrong[begin:].replace('"top_logprobs"', '"bytes_of"')
            end = _closes(listed)
            close = _closes(own[at:]) + at
            return f"{own[:close]}, {listed[:end]}{own[close:]}".encode()
    return _dumped(answer)


def _closes(text: str) -> int:
    """Where the first list of a text ends."""
    _, end = json.JSONDecoder().raw_decode(text, text.index("["))
    return end


def _streamed(answer: Answer) -> bytes:
    return b"data: " + _dumped(answer) + b"\n\ndata: [DONE]\n\n"


def _in_part_sent(sent: Sent) -> Callable[[], Respond]:
    """One text in four gets something else."""
    return sending(lambda answer, asked: sent if _in_part(asked) else answer)


def _echoing(body: Answer) -> Answer:
    return {**body, "echo": True}


def _longer(body: Answer) -> Answer:
    return {**body, "max_tokens": body["max_tokens"] + 3}


_ERROR = Sent(_dumped({"error": {"message": "CUDA out of memory", "code": 500}}))

FAULTS = [
    Fault("finish_reason error, of another text", _ended("error", other=True), SCORED),
    Fault("finish_reason content_filter, of another text", _ended("content_filter", other=True)),
    Fault("finish_reason content_filter at one text in four", lambda: _filtered),
    Fault("finish_reason missing", _ended(None, other=False), SCORED),
    Fault("finish_reason error, with the right values", _ended("error", other=False), SCORED),
    Fault("no choices", on_answer(lambda answer: {**answer, "choices": []})),
    Fault("choices are null", on_answer(lambda answer: {**answer, "choices": None})),
    Fault("two choices, the same", on_answer(_twice), SCORED),
    Fault("two choices, of two prompts", _with_other((0, 1)), SCORED),
    Fault("two choices, of two prompts, the other one first", _with_other((1, 0)), SCORED),
    Fault("two choices of two prompts with one index", _with_other((0, 0)), SCORED),
    Fault("a choice of another prompt with the index 1", _only_other(1), SCORED),
    Fault("a choice with the index 1", on_answer(_numbered(1)), SCORED),
    Fault("a choice with the index -1", on_answer(_numbered(-1)), SCORED),
    Fault("a choice whose index is a text", on_answer(_numbered("0")), SCORED),
    Fault("usage missing", on_answer(_without("usage"))),
    Fault("usage null", on_answer(lambda answer: {**answer, "usage": None})),
    Fault("usage of the wrong number", on_answer(_counting(lambda n: n + 3)), SCORED),
    Fault("usage of what was not in a cache alone", on_answer(_counting(lambda _: 1)), SCORED),
    Fault("usage of 0", on_answer(_counting(lambda _: 0)), SCORED),
    Fault("usage as a text", on_answer(_counting(str)), SCORED),
    Fault("model's name missing", on_answer(_without("model"))),
    Fault("200 with an error", on_answer(lambda _: {"error": {"message": "out of memory"}})),
    Fault("200 with an error at one text in four", _in_part_sent(_ERROR)),
    Fault(
        "200 with an error beside the choices of another text",
        lambda: (
            lambda asked, server: {
                **server.honest.answer(asked.about(_OTHER)),
                "error": {"message": "worker died"},
            }
        ),
    ),
    Fault("an HTML page", _sending(lambda _: _HTML, headers={"Content-Type": "text/html"})),
    Fault("JSON called HTML", _sending(_dumped, headers={"Content-Type": "text/html"})),
    Fault("JSON that breaks off", _sending(lambda answer: _dumped(answer)[:-20])),
    Fault("JSON with something behind it", _sending(lambda answer: _dumped(answer) + b"\n{}")),
    Fault("JSON behind a byte order mark", _sending(lambda a: b"\xef\xbb\xbf" + _dumped(a))),
    Fault("a list in place of an object", _sending(lambda answer: b"[" + _dumped(answer) + b"]")),
    Fault("a stream, though none was asked for", _sending(_streamed)),
    Fault("an empty body", _sending(lambda _: b"")),
    Fault("choices twice in one object", lambda: _key_twice),
    Fault("log-probabilities twice in one object", _sending(_value_twice), SCORED),
    Fault("an answer with status 206", _sending(_dumped, status=206)),
    Fault("an answer with status 201", _sending(_dumped, status=201)),
    Fault("nothing with status 204", _sending(lambda _: b"", status=204)),
    Fault("an echo though none was asked for", on_body(_echoing), ECHO),
    Fault("several tokens though one was asked for", on_body(_longer), COMPLETIONS),
]
