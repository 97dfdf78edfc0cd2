"""The routes by which servers return log-probabilities of tokens that are named by their ids."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, ClassVar

from tacit.models.openai.schema import (
    Answer,
    Completion,
    Reply,
    ReplyError,
    ScoredItems,
    Tokenized,
    validated,
)
from tacit.models.openai.tokens import tokens_of

Ids = tuple[int, ...]
Send = Callable[[str, Mapping[str, Any]], Mapping[str, Any]]
"""Sends a body to a path of the server, and returns the reply."""

AT_ONCE = 64
"""The most prompts in one request."""


@dataclass(frozen=True, slots=True)
class Position:
    """The tokens of a prompt, and those whose log-probabilities as the next token are asked for."""

    before: Ids
    ids: Ids


Values = Mapping[int, float | None]
"""The log-probability in nats of each token that was named at a position."""


class Route(ABC):
    """A path of a server that returns the log-probabilities of named tokens."""

    path: ClassVar[str]
    name: ClassVar[str]
    """The route in the description of a model."""
    most: ClassVar[int]
    """The most tokens that are named at a position."""

    def requests(self, positions: Sequence[Position]) -> Iterator[list[Position]]:
        """Divide positions among requests, in order; a position with too many tokens is divided."""
        sliced = [
            Position(position.before, position.ids[at : at + self.most])
            for position in positions
            for at in range(0, len(position.ids), self.most)
        ]
        group: list[Position] = []
        for position in sliced:
            if group and not self.fits([*group, position]):
                yield group
                group = []
            group.append(position)
        if group:
            yield group

    def fits(self, positions: Sequence[Position]) -> bool:
        return len(positions) <= AT_ONCE

    @abstractmethod
    def body(
        self, positions: Sequence[Position], temperature: float, *, longer: bool
    ) -> dict[str, Any]:
        """Return a request about positions, without the model's name."""

    @abstractmethod
    def read(
        self, reply: Mapping[str, Any], positions: Sequence[Position]
    ) -> tuple[Reply, list[Values]]:
        """Return the reply, and the values at each position; raise if any was not returned."""

    @abstractmethod
    def tokenized(self, texts: Sequence[str], send: Send) -> list[Ids]:
        """Return the tokens that the server makes of texts, with its special tokens."""


class CompletionsRoute(Route):
    """vLLM names tokens in a completion, by their ids; all prompts of a request name the same."""

    path = "/completions"
    name = "logprob_token_ids of /completions"
    most = 128

    def fits(self, positions: Sequence[Position]) -> bool:
        return super().fits(positions) and len(_union(positions)) <= self.most

    def body(
        self, positions: Sequence[Position], temperature: float, *, longer: bool
    ) -> dict[str, Any]:
        return {
            **_COMPLETED,
            "prompt": [list(position.before) for position in positions],
            "max_tokens": 1 + longer,
            "temperature": temperature,
            "logprobs": 0,
            "logprob_token_ids": _union(positions),
            "return_tokens_as_token_ids": True,
        }

    def read(
        self, reply: Mapping[str, Any], positions: Sequence[Position]
    ) -> tuple[Reply, list[Values]]:
        answer = validated(reply, Answer[Completion])
        choices = answer.ordered(len(positions))
        if len(choices) < len(positions):
            raise ReplyError(f"there are {len(choices)} choices for {len(positions)} prompts")
        found: list[Values] = []
        for choice, position in zip(choices, positions, strict=True):
            if choice.prompt_token_ids not in {None, position.before}:
                raise ReplyError("it read other tokens than those of the prompt")
            first = tokens_of(choice)[:1]
            listed = {one.number: one.logprob for token in first for one in token.top}
            if lacking := [one for one in position.ids if one not in listed]:
                raise ReplyError(
                    f"it returns no value for {len(lacking)} of {len(position.ids)} named tokens"
                )
            found.append({one: listed[one] for one in position.ids})
        return answer, found

    def tokenized(self, texts: Sequence[str], send: Send) -> list[Ids]:
        body = {**_COMPLETED, "prompt": list(texts), "max_tokens": 1}
        choices = validated(send(self.path, body), Answer[Completion]).ordered(len(texts))
        found = [choice.prompt_token_ids for choice in choices]
        if None in found:
            raise ReplyError("it does not return the tokens of a prompt")
        return [ids or () for ids in found]


_COMPLETED = {"top_p": 1.0, "return_token_ids": True}


class ScoreRoute(Route):
    """SGLang scores items; each item is a prompt, with its own tokens.

    The server compares each token with all that are named, so that many are named in slices.
    """

    path = "/score"
    name = "token_logprobs of /score"
    most = 4096

    def body(
        self, positions: Sequence[Position], temperature: float, *, longer: bool
    ) -> dict[str, Any]:
        return {
            "query": [],
            "items": [list(position.before) for position in positions],
            "label_token_ids": [list(position.ids) for position in positions],
            "apply_softmax": False,
            # Of the scores alone: it tells a request that is repeated from the first one.
            "temperature": temperature + longer,
            "return_token_logprobs": True,
            "item_first": False,
        }

    def read(
        self, reply: Mapping[str, Any], positions: Sequence[Position]
    ) -> tuple[Reply, list[Values]]:
        answer = validated(reply, ScoredItems)
        if [len(row) for row in answer.token_logprobs] != [
            len(position.ids) for position in positions
        ]:
            raise ReplyError("it returns other numbers of log-probabilities than requested")
        rows = zip(positions, answer.token_logprobs, strict=True)
        return answer, [dict(zip(position.ids, row, strict=True)) for position, row in rows]

    def tokenized(self, texts: Sequence[str], send: Send) -> list[Ids]:
        return validated(send("/tokenize", {"prompt": list(texts)}), Tokenized).tokens


ROUTES: tuple[Route, ...] = (CompletionsRoute(), ScoreRoute())


def _union(positions: Sequence[Position]) -> list[int]:
    return list(dict.fromkeys(chain.from_iterable(position.ids for position in positions)))
