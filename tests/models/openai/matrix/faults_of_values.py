"""Faults of log-probabilities: other units, other distributions, noise, and what is no number."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.models.openai.matrix.fault import (
    CHANCE,
    ECHO,
    SCORED,
    Fault,
    Hidden,
    on_answer,
)
from tests.models.openai.matrix.honest import Honest
from tests.models.openai.matrix.positions import Entry, Position, changed, entries, tops, values

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.positions import Positions
    from tests.models.openai.matrix.server import Asked, Respond, Server

SHAPED = "the values are a distribution, of the model at another temperature or with other weights"
DECIMALS = (
    "a value of few decimals is what a server may print; nothing is off by more than 0.005 nats"
)
Top = tuple[Entry, ...]


def _each(change: Callable[[float], Any]) -> Callable[[], Respond]:
    return on_answer(lambda answer: values(answer, change))


def _noisy(size: float, *, share: float = 1.0, steady: bool = False) -> Callable[[], Respond]:
    """Noise on each value, at a share of the requests; steady noise is of the text, not of chance.

    Args:
        size: Its standard deviation in nats.
        share: Of requests that have it.
        steady: Whether the same text has the same each time.
    """

    def make() -> Respond:
        chance = np.random.default_rng(7)

        def respond(asked: Asked, server: Server) -> Answer:
            with server.lock:
                random = np.random.default_rng(int(chance.integers(2**32)))
            if steady:
                digest = hashlib.sha256(asked.text.encode()).digest()
                random = np.random.default_rng(int.from_bytes(digest[:8]))
            answer = server.honest.answer(asked.body)
            if random.random() >= share:
                return answer
            return values(answer, lambda value: value + float(random.normal(0, size)))

        return respond

    return make


def _crowded(size: float) -> Callable[[], Respond]:
    """Noise where requests are under way at the same time, as batches bring it."""

    def make() -> Respond:
        random = np.random.default_rng(7)

        def respond(asked: Asked, server: Server) -> Answer:
            answer = server.honest.answer(asked.body)
            with server.lock:
                several = server.under_way > 1
                draw = float(random.normal(0, size))
            return values(answer, lambda value: value + draw) if several else answer

        return respond

    return make


def _sometimes(change: Callable[[Answer], Answer], every: int) -> Callable[[], Respond]:
    """Changes one answer in so many, whichever request it is."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.body)
        return change(answer) if asked.number % every == every - 1 else answer

    return lambda: respond


def _heated(temperature: float, *, echoes: bool = True) -> Callable[[], Respond]:
    """Values at another temperature, in echoes too or not."""

    def make() -> Respond:
        model: list[Honest] = []

        def respond(asked: Asked, server: Server) -> Answer:
            hot = Honest(server.honest.form, server.honest.weights, temperature)
            model[:] = model or [hot]
            spared = bool(asked.body.get("echo")) and not echoes
            return (server.honest if spared else model[0]).answer(asked.body)

        return respond

    return make


def _next_alone(change: Callable[[Answer], Answer]) -> Callable[[], Respond]:
    """Changes next tokens, and leaves echoes as they are."""

    def respond(asked: Asked, server: Server) -> Answer:
        answer = server.honest.answer(asked.body)
        return answer if asked.body.get("echo") else change(answer)

    return lambda: respond


def _masses(top: Top) -> float:
    return sum(math.exp(one.value) for one in top)


def _shifted(top: Top, by: float) -> Top:
    return tuple(replace(one, value=one.value + by) for one in top)


def _renormalised(top: Top) -> Top:
    return _shifted(top, -math.log(_masses(top)))


def _heavy(top: Top) -> Top:
    return _shifted(top, math.log(1.3 / _masses(top)))


def _nucleus(share: float) -> Callable[[Top], Top]:
    """The tokens within a share of the mass alone, renormalised."""

    def change(top: Top) -> Top:
        kept: list[Entry] = []
        for one in top:
            if kept and _masses(tuple(kept)) >= share:
                break
            kept.append(one)
        return _renormalised(tuple(kept))

    return change


def _biased(top: Top) -> Top:
    """Two nats more for some tokens, as a logit bias has it, renormalised."""
    bent = tuple(replace(one, value=one.value + 2 * _is_odd(one)) for one in top)
    ranked = sorted(bent, key=lambda one: -one.value)
    return _shifted(tuple(ranked), math.log(_masses(top) / _masses(bent)))


def _is_odd(one: Entry) -> bool:
    return hashlib.sha256(str(one.token).encode()).digest()[0] % 3 == 0


def _reversed(top: Top) -> Top:
    ranked = [one.value for one in reversed(top)]
    return tuple(replace(one, value=value) for one, value in zip(top, ranked, strict=True))


def _rotated(top: Top) -> Top:
    ranked = [one.value for one in (*top[1:], top[0])]
    return tuple(replace(one, value=value) for one, value in zip(top, ranked, strict=True))


def _unsorted(top: Top) -> Top:
    return tuple(sorted(top, key=lambda one: str(one.token)))


def _without_first(top: Top) -> Top:
    """The likeliest token is suppressed, and the others share its mass."""
    return _shifted(top[1:], math.log(_masses(top) / _masses(top[1:])))


def _on_tops(change: Callable[[Top], Top]) -> Callable[[Answer], Answer]:
    return lambda answer: tops(answer, change)


def _all_alike(answer: Answer) -> Answer:
    def one(position: Position) -> Position:
        even = -math.log(max(len(position.top), 1) + 5)
        return position.each(lambda each: replace(each, value=each.value and even))

    return changed(answer, lambda positions: list(map(one, positions)))


def _position_later(positions: Positions) -> Positions:
    """Each place has the values of the one behind it."""
    behind = [*positions[1:], positions[-1]] if positions else []
    return [
        Position(replace(here.own, value=other.own.value), here.top)
        for here, other in zip(positions, behind, strict=True)
    ]


def _nothing(answer: Answer) -> Answer:
    return entries(answer, lambda one: replace(one, value=None))


def _under(answer: Answer) -> Answer:
    return values(answer, lambda _: -9999.0)


def _zero(answer: Answer) -> Answer:
    return values(answer, lambda _: 0.0)


def _without_logprobs(answer: Answer) -> Answer:
    choices = [{**choice, "logprobs": None} for choice in answer["choices"]]
    return {**answer, "choices": choices}


_of_next = (Hidden(SHAPED, ("next+tokenizer", "chat"), ("first",)),)

FAULTS = [
    Fault("noise of 0.01 nats", _noisy(0.01), SCORED),
    Fault("noise of 0.05 nats", _noisy(0.05), SCORED),
    Fault("noise of 0.3 nats", _noisy(0.3), SCORED),
    Fault("noise of 1 nat at one request in four", _noisy(1.0, share=0.25), SCORED),
    Fault(
        "noise of 0.3 nats where requests come at once",
        _crowded(0.3),
        SCORED,
        hidden=(Hidden(CHANCE),),
    ),
    Fault(
        "steady noise of 0.05 nats, as quantisation has it",
        _noisy(0.05, steady=True),
        SCORED,
        hidden=_of_next,
    ),
    Fault("log10", _each(lambda v: v / math.log(10)), SCORED),
    Fault("probabilities", _each(math.exp), SCORED),
    Fault("per cent", _each(lambda v: 100 * math.exp(v)), SCORED),
    Fault("positive log-probabilities", _each(lambda v: -v), SCORED),
    Fault("logits, not normalised", _each(lambda v: v + 9.0), SCORED),
    # Too low, both of them, and seen so: far more of the tokens that are drawn are among those that
    # are listed than the listed mass allows.
    Fault("log2", _each(lambda v: v / math.log(2)), SCORED),
    Fault("log-probabilities half a nat too low", _each(lambda v: v - 0.5), SCORED),
    Fault("all zero", _each(lambda _: 0.0), SCORED),
    Fault("all zero but the likeliest", _each(lambda v: v if v > -1 else 0.0), SCORED),
    Fault("all equal", on_answer(_all_alike), SCORED),
    Fault("not under -4", _each(lambda v: max(v, -4.0)), SCORED),
    Fault("all under -4 are -9999", _each(lambda v: v if v > -4 else -9999.0), SCORED),
    Fault("top-k renormalised", on_answer(_on_tops(_renormalised)), SCORED),
    Fault("top-k with a mass of 1.3", on_answer(_on_tops(_heavy)), SCORED),
    Fault("top-k of one entry", on_answer(_on_tops(lambda top: top[:1])), SCORED),
    Fault("top-k of half the entries", on_answer(_on_tops(lambda t: t[: len(t) // 2])), SCORED),
    Fault("top-k unsorted", on_answer(_on_tops(_unsorted)), SCORED),
    Fault("top-k with its values in reverse", on_answer(_on_tops(_reversed)), SCORED),
    Fault("top-k with each value at the token before", on_answer(_on_tops(_rotated)), SCORED),
    Fault("top_p of 0.9 applied", on_answer(_on_tops(_nucleus(0.9))), SCORED),
    Fault("top_p of 0.5 applied to next tokens", _next_alone(_on_tops(_nucleus(0.5))), SCORED),
    Fault(
        "temperature of 0.7 in the values",
        _heated(0.7),
        SCORED,
        hidden=(Hidden(SHAPED, SCORED, ("first",)),),
    ),
    Fault("temperature of 0.7 in next tokens' values", _heated(0.7, echoes=False), ECHO),
    Fault("logit bias", on_answer(_on_tops(_biased)), SCORED, hidden=_of_next),
    Fault("logit bias on next tokens", _next_alone(_on_tops(_biased)), ECHO),
    Fault(
        "likeliest token suppressed",
        on_answer(_on_tops(_without_first)),
        SCORED,
        hidden=_of_next,
    ),
    Fault(
        "rounded to 2 decimals",
        _each(lambda v: round(v, 2)),
        SCORED,
        hidden=(Hidden(DECIMALS, SCORED),),
    ),
    Fault("rounded to 1 decimal", _each(lambda v: round(v, 1)), SCORED),
    Fault("rounded to whole nats", _each(lambda v: float(round(v))), SCORED),
    Fault("NaN", _each(lambda _: math.nan), SCORED),
    Fault("Infinity", _each(lambda _: math.inf), SCORED),
    Fault("-Infinity", _each(lambda _: -math.inf), SCORED),
    Fault("1e308", _each(lambda _: 1e308), SCORED),
    Fault("texts in place of numbers", _each(str), SCORED),
    Fault("true in place of numbers", _each(lambda _: True), SCORED),
    Fault("nulls", on_answer(_nothing), SCORED),
    Fault("nulls at one request in five", _sometimes(_nothing, 5), SCORED),
    Fault("-9999 at one request in five", _sometimes(_under, 5), SCORED),
    Fault("no log-probabilities at one request in five", _sometimes(_without_logprobs, 5), SCORED),
    Fault("all zero at one request in five", _sometimes(_zero, 5), SCORED),
    Fault(
        "half the value at one request in seven",
        _sometimes(lambda answer: values(answer, lambda v: v / 2), 7),
        SCORED,
        hidden=(Hidden(CHANCE, ("echo", "echo+tokenizer")),),
    ),
    Fault("values of the next place", on_answer(lambda a: changed(a, _position_later)), ECHO),
]
