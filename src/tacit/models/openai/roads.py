"""The roads of elicitation: how beliefs are read from a server, the most exact road first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from tacit.errors import ModelError
from tacit.requests import KINDS, Decision, Prompt, RankingPrompt, SamplingPrompt

Api = Literal["completions", "chat", "decisions", "systemone"]

AUTO = "auto"
"""The name that stands for the first road that the server offers."""


@dataclass(frozen=True, kw_only=True)
class Road:
    """A way to read beliefs from a server, whose API determines how questions are worded."""

    name: str
    api: Api
    about: str
    needs: str
    lacks: str = ""
    """What it cannot answer although the server offers it."""
    answers: frozenset[type] = frozenset({Prompt})
    options: str = ""
    """The options that it requires."""

    @property
    def path(self) -> str:
        return "/chat/completions" if self.api == "chat" else f"/{self.api}"

    @property
    def samples(self) -> bool:
        return SamplingPrompt in self.answers


DECISIONS = Road(
    name="decisions",
    api="decisions",
    about="probabilities of the answers as options",
    needs="the decisions of OpenAI or SGLang",
    lacks="answers that differ only in case; how likely the model is to write an answer",
    answers=frozenset({Prompt, Decision}),
)
SYSTEM_ONE = replace(
    DECISIONS,
    name="systemone",
    api="systemone",
    needs="the decisions of System One",
)
NAMED = Road(
    name="named-tokens",
    api="completions",
    about="log-probabilities of whole answers, each of whose tokens is named by its id",
    needs="log-probabilities of named tokens, as vLLM and SGLang return them",
    answers=frozenset({Prompt, RankingPrompt}),
    options="--tokenizer PATH",
)
ECHO = Road(
    name="echo",
    api="completions",
    about="log-probabilities of whole answers, as part of a prompt",
    needs="correct log-probabilities of a prompt's own tokens (echo)",
)
NEXT_TOKENS = Road(
    name="next-tokens",
    api="completions",
    about="log-probabilities of whole answers, token by token",
    needs="log-probabilities of the most probable next tokens",
    lacks="answers of which a token is not among the listed ones",
)
FIRST_TOKENS = Road(
    name="first-tokens",
    api="chat",
    about="log-probabilities of the first token of a reply",
    needs="log-probabilities of the most probable first tokens, and no reasoning",
    lacks="answers of several tokens or not among the listed ones; consistency without --anchors "
    "verify",
)
VOTES = Road(
    name="votes",
    api="chat",
    about="shares of sampled replies",
    needs="replies that are random samples",
    lacks="log-probabilities; consistency without --anchors verify",
    answers=frozenset({Prompt, SamplingPrompt}),
    options="--samples N",
)

ROADS = (DECISIONS, SYSTEM_ONE, NAMED, ECHO, NEXT_TOKENS, FIRST_TOKENS, VOTES)
"""All roads, in the order in which they are preferred.

``auto`` prefers the roads of one API only, because another API words questions differently.
"""


def checked_name(name: str) -> str:
    """Return the name of a road, or ``auto``; raise a ``ValueError`` for another name."""
    names = (AUTO, *(road.name for road in ROADS))
    if name in names:
        return name
    raise ValueError(f"is {name!r}; it must be {', '.join(names[:-1])} or {names[-1]}")


def check_answers(name: str, roads: Iterable[Road], asked: type) -> None:
    """Raise an error if none of the roads to a server answers a class of requests."""
    if any(asked in road.answers for road in roads):
        return
    able = [
        f"--elicitation {road.name} {road.options}".strip()
        for road in ROADS
        if asked in road.answers
    ]
    raise ModelError(
        f"{name} {KINDS[asked].unsupported} (roads: {', '.join(road.name for road in roads)})"
        + f"; on a server, use {' or '.join(able)}" * bool(able)
    )
