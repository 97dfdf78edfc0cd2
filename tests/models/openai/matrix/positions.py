"""The log-probabilities in an answer of any form, position by position, to be changed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tests.models.openai.model import Answer


@dataclass(frozen=True)
class Entry:
    """A token with its log-probability, which a bad server may write as anything."""

    token: Any
    value: Any
    number: int | None = None


@dataclass(frozen=True)
class Position:
    """What is said of one place: the token there, and the most probable ones."""

    own: Entry
    top: tuple[Entry, ...]

    def each(self, change: Callable[[Entry], Entry]) -> Position:
        return Position(change(self.own), tuple(change(one) for one in self.top))


Positions = list[Position]


def changed(answer: Answer, change: Callable[[Positions], Positions]) -> Answer:
    answer = copy.deepcopy(answer)
    if answer.get("token_logprobs"):
        answer["token_logprobs"] = [
            _to_row(change(_of_row(row))) for row in answer["token_logprobs"]
        ]
    for choice in answer.get("choices", []):
        given = choice.get("logprobs")
        if given and "content" in given:
            given["content"] = [_to_object(one) for one in change(_of_objects(given["content"]))]
        elif given:
            choice["logprobs"] = _to_lists(change(_of_lists(given)))
    return answer


def entries(answer: Answer, change: Callable[[Entry], Entry]) -> Answer:
    """An answer with each entry changed that has a log-probability."""

    def positions_of(one: Entry) -> Entry:
        return one if one.value is None else change(one)

    return changed(answer, lambda positions: [one.each(positions_of) for one in positions])


def values(answer: Answer, change: Callable[[float], Any]) -> Answer:
    return entries(answer, lambda one: replace(one, value=change(one.value)))


def tops(
    answer: Answer, change: Callable[[tuple[Entry, ...]], tuple[Entry, ...]], least: int = 2
) -> Answer:
    """An answer with each list of at least so many of the most probable tokens changed."""

    def one(position: Position) -> Position:
        if len(position.top) < least:
            return position
        top = change(position.top)
        same = [each for each in top if each.token == position.own.token]
        return Position(same[0] if same else position.own, top)

    return changed(answer, lambda positions: [one(each) for each in positions])


def _of_row(row: list[float | None]) -> Positions:
    """SGLang's values of the tokens that were named, which it does not name."""
    return [Position(Entry("", None), tuple(Entry("", value) for value in row))]


def _to_row(positions: Positions) -> list[Any]:
    return [one.value for position in positions for one in position.top]


def _of_objects(content: list[Answer]) -> Positions:
    def entry(one: Answer) -> Entry:
        return Entry(one["token"], one["logprob"], one.get("id"))

    return [Position(entry(one), tuple(map(entry, one["top_logprobs"]))) for one in content]


def _to_object(position: Position) -> Answer:
    def entry(one: Entry) -> Answer:
        known = {} if one.number is None else {"id": one.number}
        return {**known, "token": one.token, "logprob": one.value}

    return {**entry(position.own), "top_logprobs": [entry(one) for one in position.top]}


def _of_lists(given: Answer) -> Positions:
    return [
        Position(Entry(token, value), tuple(Entry(*pair) for pair in (top or {}).items()))
        for token, value, top in zip(
            given["tokens"], given["token_logprobs"], given["top_logprobs"], strict=True
        )
    ]


def _to_lists(positions: Positions) -> Answer:
    return {
        "text_offset": list(range(len(positions))),
        "tokens": [one.own.token for one in positions],
        "token_logprobs": [one.own.value for one in positions],
        "top_logprobs": [
            {entry.token: entry.value for entry in one.top} or None for one in positions
        ],
    }
