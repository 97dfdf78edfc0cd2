"""The faults of servers that decide: of what they return, and of what an answer depends on."""

import hashlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.models.openai.deciding import questions_of
from tests.models.openai.matrix.faults import DECISIONS, MODEL, SHAPED, Fault, Hidden, on_answer
from tests.models.openai.matrix.honest import Server
from tests.models.openai.model import Answer
from tests.models.openai.serving import Asked, Respond, Sent

_NEW = ""
"""The endpoints are so new that no project has reports of them."""

Change = Callable[[list[float]], list[Any]]


def _values(answer: Answer, change: Change) -> Answer:
    """Change the probabilities of each question; of a statement, true comes first."""

    def one(given: Answer) -> Answer:
        if given["type"] == "predicate":
            p = given["probability"]
            return {**given, "probability": change([p, 1 - p])[0]}
        values = change([each["probability"] for each in given["probabilities"]])
        pairs = zip(given["probabilities"], values, strict=True)
        return {**given, "probabilities": [{**each, "probability": p} for each, p in pairs]}

    return {**answer, "answers": [one(given) for given in answer["answers"]]}


def _each(change: Change) -> Callable[[], Respond]:
    return on_answer(lambda answer: _values(answer, change))


def _answers(change: Callable[[list[Answer]], list[Answer]]) -> Callable[[], Respond]:
    return on_answer(lambda answer: {**answer, "answers": change(answer["answers"])})


def _logits(change: Callable[[np.ndarray], np.ndarray]) -> Change:
    def changed(values: list[float]) -> list[float]:
        found = change(np.log(np.maximum(values, 1e-300)))
        return [float(p) for p in np.exp(found - np.logaddexp.reduce(found))]

    return changed


def _noisy(size: float) -> Callable[[], Respond]:
    def make() -> Respond:
        random = np.random.default_rng(7)

        def respond(asked: Asked, server: Server) -> Answer:
            answer = server.answer(asked.body)
            with server.lock:
                noise = _logits(lambda values: values + random.normal(0, size, len(values)))
                return _values(answer, noise)

        return respond

    return make


def _in_sglangs(asked: Asked, server: Server) -> Answer:
    """OpenAI's requests are accepted, and answered as SGLang does."""
    answer = server.answer(asked.body)
    named = {
        one["name"]: {
            "type": one["type"],
            "probabilities": {each["value"]: each["probability"] for each in one["probabilities"]}
            if "probabilities" in one
            else {"yes": one["probability"], "no": 1 - one["probability"]},
            "label_mass": 1.0,
        }
        for one in answer["answers"]
    }
    return {**answer, "answers": named}


def _unnamed(answers: list[Answer]) -> list[Answer]:
    return [{**one, "name": None} for one in answers]


def _without_probabilities(answer: Answer) -> Answer:
    kept = ("type", "name", "choice", "confidence")
    return {name: answer[name] for name in kept if name in answer}


def _renamed(answer: Answer) -> Answer:
    if "probabilities" not in answer:
        return answer
    pairs = [{**one, "value": one["value"].upper()} for one in answer["probabilities"]]
    return {**answer, "probabilities": pairs}


def _refusing(asked: Asked, server: Server) -> Answer:
    answer = server.answer(asked.body)
    answers = [
        {"type": "refusal", "name": one.name}
        if hashlib.sha256(one.text.encode()).digest()[0] % 4 == 0
        else given
        for one, given in zip(
            questions_of("openai", asked.body, ("True", "False")), answer["answers"], strict=True
        )
    ]
    return {**answer, "answers": answers}


def _depending(shift: Callable[[int, int, int], float]) -> Callable[[], Respond]:
    """The first option gains by the question's number, all questions, and all options."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.answer(asked.body)
        size = len(answer["answers"])

        def one(at: int, given: Answer) -> Answer:
            def change(values: list[float]) -> list[float]:
                more = shift(at, size, len(values))
                return _logits(lambda logs: logs + np.array([more, *[0.0] * (len(logs) - 1)]))(
                    values
                )

            (found,) = _values({"answers": [given]}, change)["answers"]
            return dict(found)

        answers = [one(at, given) for at, given in enumerate(answer["answers"])]
        return {**answer, "answers": answers}

    return lambda: respond


def _heated(asked: Asked, server: Server) -> Answer:
    return _values(server.answer(asked.body), _logits(lambda values: values / 0.7))


_BATCH = "more for the first option "
_UNIMPLEMENTED = Sent(b'{"error": {"message": "no decisions"}}', status=501)
_MADE: dict[str, Callable[[], Respond]] = {
    "answered in the other contract": lambda: _in_sglangs,
    "answers in another order": _answers(lambda answers: answers[::-1]),
    "answers without names, in another order": _answers(lambda answers: _unnamed(answers)[::-1]),
    "one answer fewer": _answers(lambda answers: answers[:-1]),
    "one answer twice": _answers(lambda answers: [answers[0], *answers]),
    "percents": _each(lambda v: [100 * p for p in v]),
    "log-probabilities": _each(lambda v: [math.log(p) for p in v]),
    "probabilities among all tokens": _each(lambda v: [p / 2 for p in v]),
    "NaN probabilities": _each(lambda v: [math.nan for _ in v]),
    "null probabilities": _each(lambda v: [None for _ in v]),
    "probabilities of 3 digits": _each(lambda v: [round(p, 3) for p in v]),
    "confidence alone": _answers(lambda answers: list(map(_without_probabilities, answers))),
    "options in capitals": _answers(lambda answers: list(map(_renamed, answers))),
    "the same for all": _each(lambda v: [1 / len(v) for _ in v]),
    "probability of the opposite": _each(lambda v: v[::-1]),
    "refuses one text in four": lambda: _refusing,
    "noise of 0.05 in logits": _noisy(0.05),
    "noise of 0.3 in logits": _noisy(0.3),
    "temperature of 0.7 in probabilities": lambda: _heated,
    f"{_BATCH}in a batch": _depending(lambda _, size, __: 3.0 * (size > 1)),
    f"{_BATCH}of later questions": _depending(lambda at, *_: 3.0 * at),
    "more for the first of several options": _depending(lambda _, __, n: 8.0 * (n > 2)),
    "not implemented": lambda: lambda *_: _UNIMPLEMENTED,
}
_HIDDEN = {"probability of the opposite": MODEL, "temperature of 0.7 in probabilities": SHAPED}

FAULTS = tuple(
    Fault(name, _NEW, make, DECISIONS, hidden=Hidden(_HIDDEN[name]) if name in _HIDDEN else None)
    for name, make in _MADE.items()
)
