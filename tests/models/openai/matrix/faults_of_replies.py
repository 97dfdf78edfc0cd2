"""Faults of sampled replies: they are no draws, not of this prompt, or not of this distribution."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tests.models.openai.matrix.fault import VOTES, Fault, on_answer, on_body

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond, Server

_OTHER = "Is water wet?"


def _replies_with(change: Callable[[Answer], Answer]) -> Callable[[], Respond]:
    """Changes each choice."""
    return on_answer(
        lambda answer: {**answer, "choices": [change(choice) for choice in answer["choices"]]}
    )


def _content(change: Callable[[str], object]) -> Callable[[], Respond]:
    """Changes each reply's text."""

    def one(choice: Answer) -> Answer:
        message = choice["message"]
        return {**choice, "message": {**message, "content": change(message["content"])}}

    return _replies_with(one)


def _with(**fields: object) -> Callable[[], Respond]:
    return on_body(lambda body: {**body, **fields})


def _copied(answer: Answer) -> Answer:
    """The first reply, in place of all others."""
    first = answer["choices"][0]
    copies = [{**first, "index": at} for at in range(len(answer["choices"]))]
    return {**answer, "choices": copies}


def _seeded_by_text(asked: Asked, server: Server) -> Answer:
    """The same replies whenever the same text is asked about, whatever the seed is."""
    return server.honest.answer({**asked.body, "seed": 1})


def _greedy(asked: Asked, server: Server) -> Answer:
    """The likeliest reply alone: top_k is 1."""
    return server.honest.answer({**asked.body, "temperature": 0})


def _unseeded(asked: Asked, server: Server) -> Answer:
    """SamplingPrompt with a seed of its own, of the number of the request."""
    return server.honest.answer({**asked.body, "seed": 10**6 + asked.number})


def _few_seeds(asked: Asked, server: Server) -> Answer:
    """A seed of two bits."""
    return server.honest.answer({**asked.body, "seed": int(asked.body.get("seed") or 0) % 4})


def _singly(change: Callable[[int], int]) -> Callable[[], Respond]:
    """Gives one reply to a request, drawn with another seed than the one that was asked for."""

    def respond(asked: Asked, server: Server) -> Answer:
        seed = change(int(asked.body.get("seed") or 0))
        return server.honest.answer({**asked.body, "n": 1, "seed": seed})

    return lambda: respond


def _of_other_sometimes(asked: Asked, server: Server) -> Answer:
    """One text in four is answered as if another had been asked."""
    wrong = hashlib.sha256(asked.text.encode()).digest()[0] % 4 == 0
    return server.honest.answer(asked.about(_OTHER) if wrong else asked.body)


def _half_of_other(asked: Asked, server: Server) -> Answer:
    """Every second reply to a request is one to another text."""
    answer = server.honest.answer(asked.body)
    theirs = server.honest.answer(asked.about(_OTHER))
    pairs = zip(answer["choices"], theirs["choices"], strict=True)
    choices = [other if at % 2 else own for at, (own, other) in enumerate(pairs)]
    return {**answer, "choices": choices}


def _one_alone(answer: Answer) -> Answer:
    return {**answer, "choices": answer["choices"][:1]}


def _same_index(choice: Answer) -> Answer:
    return {**choice, "index": 0}


def _first_word(text: str) -> str:
    return text.split(" ", maxsplit=1)[0].rstrip(".,!")


def _likelier(answer: Answer) -> Answer:
    """Replies that begin with Yes come first, as where the best of several are given."""
    ranked = sorted(answer["choices"], key=lambda c: not c["message"]["content"].startswith("Yes"))
    best = [ranked[0]] * ((len(ranked) + 1) // 2) + ranked[: len(ranked) // 2]
    return {**answer, "choices": [{**choice, "index": at} for at, choice in enumerate(best)]}


def _to_other(asked: Asked, server: Server) -> Answer:
    return server.honest.answer(asked.about(_OTHER))


def _repeating(asked: Asked, server: Server) -> Answer:
    answer = server.honest.answer(asked.body)
    choices = []
    for choice in answer["choices"]:
        whole = f"{asked.text}\n{choice['message']['content']}"
        choices.append({**choice, "message": {**choice["message"], "content": whole}})
    return {**answer, "choices": choices}


_PARTS = [{"type": "text", "text": "True"}]

FAULTS = [
    Fault("the same replies to a text each time", lambda: _seeded_by_text, VOTES),
    Fault("copies of one reply", on_answer(_copied), VOTES),
    Fault("a temperature of 0, or a top_k of 1", lambda: _greedy, VOTES),
    Fault("a temperature of 0.3", _with(temperature=0.3), VOTES),
    Fault("a temperature of 2", _with(temperature=2.0), VOTES),
    Fault("seeds ignored", lambda: _unseeded, VOTES),
    Fault("seeds of two bits", lambda: _few_seeds, VOTES),
    Fault("one reply to a request, the same each time", _singly(lambda _: 1), VOTES),
    Fault("one reply to a request, of seeds of two bits", _singly(lambda seed: seed % 4), VOTES),
    Fault("replies cut to a token", _with(max_tokens=1), VOTES),
    Fault("replies cut to a word, and called whole", _content(_first_word), VOTES),
    Fault("n ignored", on_answer(_one_alone), VOTES),
    Fault("one index for all replies", _replies_with(_same_index), VOTES),
    Fault("the best replies of several", on_answer(_likelier), VOTES),
    Fault("empty replies", _content(lambda _: ""), VOTES),
    Fault("null replies", _content(lambda _: None), VOTES),
    Fault("replies as lists of parts", _content(lambda _: _PARTS), VOTES),
    Fault("the question before each reply", lambda: _repeating, VOTES),
    Fault("replies to another text", lambda: _to_other, VOTES),
    Fault("replies to another text, at one text in four", lambda: _of_other_sometimes, VOTES),
    Fault("every second reply is one to another text", lambda: _half_of_other, VOTES),
    Fault(
        "a refusal in place of each reply",
        _content(lambda _: "I'm sorry, but I can't help."),
        VOTES,
    ),
    Fault("the same short reply to all", _content(lambda _: "True"), VOTES),
    Fault(
        "replies that begin with a thought", _content(lambda t: f"<think>Hm</think>\n\n{t}"), VOTES
    ),
    Fault("replies with a thought that does not end", _content(lambda t: f"<think>{t}"), VOTES),
    Fault(
        "replies that negate what was drawn",
        _content(lambda t: t.replace("True", "False")),
        VOTES,
    ),
    Fault("a temperature of 0.7 in replies", _with(temperature=0.7), VOTES),
]
