"""The roads of elicitation: how beliefs are read from a server, the most exact road first."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from tacit.errors import ModelError
from tacit.requests import KINDS, Decision, Prompt, RankingPrompt, SamplingPrompt

Api = Literal["completions", "chat", "decisions", "systemone"]

AUTO = "auto"
"""The name that stands for the first road that the server offers."""


@dataclass(frozen=True)
class Road:
    """A way to read a model's beliefs from a server.

    Args:
        name: Its name in ``--elicitation``.
        api: The API that it asks, which determines how questions are worded.
        path: The API's path on the server.
        about: What is read.
        needs: What the server must offer.
        lacks: What it cannot answer although the server offers it.
        answers: The classes of requests that it answers.
        options: The options that it requires.
        loads: The function that runs the preflight and returns the model; its arguments are those
            of ``tacit.models.openai.completions.load``.
    """

    name: str
    api: Api
    path: str
    about: str
    needs: str
    lacks: str
    answers: frozenset[type]
    loads: str
    options: str = ""

    @property
    def samples(self) -> bool:
        """Whether replies are sampled."""
        return SamplingPrompt in self.answers


_COMPLETIONS, _CHAT = "/completions", "/chat/completions"
_DECISIONS, _SYSTEM_ONE = "/decisions", "/systemone"

DECISIONS = Road(
    "decisions",
    "decisions",
    _DECISIONS,
    "probabilities of the answers as options",
    "the decisions of OpenAI or SGLang",
    "answers that differ only in case; how likely the model is to write an answer",
    frozenset({Prompt, Decision}),
    "tacit.models.openai.decisions:load",
)
SYSTEM_ONE = Road(
    "systemone",
    "systemone",
    _SYSTEM_ONE,
    "probabilities of the answers as options",
    "the decisions of System One",
    "answers that differ only in case; how likely the model is to write an answer",
    frozenset({Prompt, Decision}),
    "tacit.models.openai.decisions:load",
)
NAMED = Road(
    "named-tokens",
    "completions",
    _COMPLETIONS,
    "log-probabilities of whole answers, each of whose tokens is named by its id",
    "log-probabilities of named tokens, as vLLM and SGLang return them",
    "",
    frozenset({Prompt, RankingPrompt}),
    "tacit.models.openai.completions:load",
    "--tokenizer PATH",
)
ECHO = Road(
    "echo",
    "completions",
    _COMPLETIONS,
    "log-probabilities of whole answers, as part of a prompt",
    "correct log-probabilities of a prompt's own tokens (echo)",
    "",
    frozenset({Prompt}),
    "tacit.models.openai.completions:load",
)
NEXT_TOKENS = Road(
    "next-tokens",
    "completions",
    _COMPLETIONS,
    "log-probabilities of whole answers, token by token",
    "log-probabilities of the most probable next tokens",
    "answers of which a token is not among the listed ones",
    frozenset({Prompt}),
    "tacit.models.openai.completions:load",
)
FIRST_TOKENS = Road(
    "first-tokens",
    "chat",
    _CHAT,
    "log-probabilities of the first token of a reply",
    "log-probabilities of the most probable first tokens, and no reasoning",
    "answers of several tokens or not among the listed ones; consistency without --anchors verify",
    frozenset({Prompt}),
    "tacit.models.openai.first_tokens:load",
)
VOTES = Road(
    "votes",
    "chat",
    _CHAT,
    "shares of sampled replies",
    "replies that are random samples",
    "log-probabilities; consistency without --anchors verify",
    frozenset({Prompt, SamplingPrompt}),
    "tacit.models.openai.sampling:load",
    "--samples N",
)

ROADS = (DECISIONS, SYSTEM_ONE, NAMED, ECHO, NEXT_TOKENS, FIRST_TOKENS, VOTES)
"""All roads, in the order in which they are preferred.

``auto`` prefers the roads of one API only, because another API words questions differently.
"""


def road_of(name: str) -> Road:
    """Return a road by its name."""
    return next(road for road in ROADS if road.name == name)


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
