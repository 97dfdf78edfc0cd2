"""Servers that are wrong for a while, and right again before the run ends."""

from __future__ import annotations

import copy
import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tacit.engine import rechecks
from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import UnreliableError
from tests.models.openai.matrix.honest import Honest
from tests.models.openai.matrix.language import prompts, questions, true_opinions, true_scores
from tests.models.openai.matrix.outcomes import CLOSE, _loaded
from tests.models.openai.matrix.server import Server, running

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from tacit.requests import Prompt
    from tests.models.openai.matrix.fault import Road
    from tests.models.openai.matrix.honest import Answer
    from tests.models.openai.matrix.server import Asked, Respond


def _changed(answer: Any, change: Callable[[float], float]) -> Any:  # noqa: ANN401 - any JSON
    """An answer with other log-probabilities."""
    if isinstance(answer, dict):
        return {
            name: change(value)
            if name == "logprob"
            else [None if each is None else change(each) for each in value]
            if name == "token_logprobs"
            else [
                None if each is None else {k: change(v) for k, v in each.items()} for each in value
            ]
            if name == "top_logprobs" and "token_logprobs" in answer
            else _changed(value, change)
            for name, value in answer.items()
        }
    if isinstance(answer, list):
        return [_changed(each, change) for each in answer]
    return answer


def shifted(asked: Asked, server: Server) -> Answer:
    """All log-probabilities are too low by the same."""
    return _changed(server.honest.answer(asked.body), lambda value: value - 0.5)


def rounded(asked: Asked, server: Server) -> Answer:
    """All log-probabilities are whole numbers."""
    return _changed(server.honest.answer(asked.body), lambda value: float(np.floor(value)))


def another_model(asked: Asked, server: Server) -> Answer:
    """Another model answers."""
    return server.other.answer(asked.body)


def truncated(asked: Asked, server: Server) -> Answer:
    """Prompts lose their beginning, and are counted whole."""
    answer = server.honest.answer(asked.about(asked.text[-16:]))
    return {**answer, "usage": server.honest.answer(asked.body)["usage"]}


class Neighbours:
    """Each request gets the answer of the one before."""

    def __init__(self) -> None:
        self.before: dict[str, Answer] = {}

    def __call__(self, asked: Asked, server: Server) -> Answer:
        """That answer, with the count of the own prompt."""
        own = server.honest.answer(asked.body)
        kind = repr(sorted(set(asked.body) | {str(asked.body.get("max_tokens"))}))
        answer, self.before[kind] = self.before.get(kind, own), own
        return {**answer, "usage": own["usage"]}


FAULTS: dict[str, Callable[[], Respond]] = {
    "shifted": lambda: shifted,
    "rounded": lambda: rounded,
    "another model": lambda: another_model,
    "truncated": lambda: truncated,
    "neighbours": Neighbours,
}


def scored(
    road: Road, server: Server, store: Store, spell: tuple[int, int], asked: Sequence[Prompt]
) -> tuple[str, dict[tuple[str, str, str], float], int]:
    """Ask a server that is wrong from one request behind the preflight on for a number of them.

    Returns the error, the stored log-probabilities, and the number of requests of the run.
    """
    model = _loaded(road, server.address, store)
    server.begin_after(*spell)
    before, error = server.requests, ""
    try:
        Engine(model, store).ask(asked)
    except UnreliableError as failed:
        error = str(failed)
    rows = store.read(model.fingerprint).drop_nulls("logprob")
    stored = {
        (t, s, a): p
        for t, s, a, p in rows.select("text", "separator", "answer", "logprob").iter_rows()
    }
    return error, stored, server.requests - before


def wrong(stored: Mapping[tuple[str, str, str], float], truth: Mapping[Any, float]) -> int:
    """How many stored values are not the true ones."""
    return sum(abs(value - truth[key]) > CLOSE for key, value in stored.items())
