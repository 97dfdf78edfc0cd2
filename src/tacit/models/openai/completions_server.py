"""A server that completes texts, in OpenAI's API or in Ollama's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, ClassVar

from tacit.errors import TacitError
from tacit.models.openai.client import Client, RefusalError
from tacit.models.openai.roads import ECHO, NAMED, NEXT_TOKENS, Road
from tacit.models.openai.server import Repeat, Server
from tacit.models.openai.tokenizer import Echoed, align
from tacit.models.openai.tokens import Token

if TYPE_CHECKING:
    from tacit.models.openai.named import NamedTokens

_GENERATE = "/api/generate"

_SILENT = 8
"""The maximum number of retries after an empty completion (no log-probability)."""


@dataclass
class CompletionsServer(Server):
    generated: int = 0
    """The number of tokens to generate after an echo: some servers refuse 0."""
    before: int | None = None
    """The number of special tokens before a text; None if unknown."""
    window: int | None = None
    only: str | None = None
    """The road that the user forced."""
    named: NamedTokens | None = None
    through: ClassVar[str] = ""
    """The API that is asked if it is not OpenAI's, as the end of a phrase."""

    @property
    def roads(self) -> tuple[str, ...]:
        """The roads that passed the preflight and may be used, the preferred one first."""
        if self.named:
            return (NAMED.name,)
        passed = {ECHO: bool(self.echoes), NEXT_TOKENS: bool(self.top)}
        return tuple(road.name for road, usable in passed.items() if usable and self.may(road))

    def may(self, road: Road) -> bool:
        return self.only in {None, road.name}

    def __post_init__(self) -> None:
        self.habits.tokenizer = self.tokenizer

    def next_token(self, text: str, *, longer: bool = False) -> Token | None:
        body = {"max_tokens": 1 + longer, "logprobs": self.requested}
        tokens: tuple[Token, ...] = ()
        for _ in range(1 + _SILENT):
            # Some servers return no token if they draw the end token. llama-server leaves out a
            # token that is part of a character, so that the first of two may be the second.
            tokens = self._tokens(text, body)
            if len(tokens) > longer:
                break
        return tokens[0] if tokens else None

    def echo(self, text: str, *, longer: bool = False) -> tuple[Token, ...]:
        """Return the tokens of a text, and any token that the server generates after it."""
        body = {"max_tokens": self.generated + longer, "logprobs": 1, "echo": True}
        return self._tokens(text, body)

    def aligned(self, text: str, *, longer: bool = False) -> Echoed | None:
        """Return the text's tokens in the server's echo; None if the echo does not match."""
        return align(self.echo(text, longer=longer), text, self.tokenizer, self.before)

    def repeats(self) -> list[Repeat]:
        def again(text: str) -> list[float]:
            now = self.aligned(text)
            return self.echoes[text].differences(now) if now else [float("nan")]

        if self.named:
            return self.named.repeats()
        echoes = [Repeat(text, partial(again, text), "in the echo of") for text in self.echoes]
        pairs = zip_longest(super().repeats(), reversed(echoes))
        return [one for pair in pairs for one in pair if one]

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        # Temperature 1 without truncation leaves log-probabilities unchanged on every server.
        body = {"model": self.model, "prompt": text, "temperature": 1.0, "top_p": 1.0, **more}
        if self.by_id:
            body["return_tokens_as_token_ids"] = True
        return body


@dataclass
class OllamaServer(CompletionsServer):
    """Ollama, in its own API: in the one under ``/v1``, it drops log-probabilities."""

    through: ClassVar[str] = " by Ollama's own API"

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        if more.get("echo"):
            raise RefusalError("Ollama does not score the tokens of a prompt")
        sampling = {"temperature": 1.0, "top_p": 1.0, "top_k": 0, "repeat_penalty": 1.0}
        return {
            "model": self.model,
            "prompt": text,
            "raw": True,
            "stream": False,
            "truncate": False,
            "shift": False,
            "logprobs": True,
            "top_logprobs": more["logprobs"],
            "options": {**sampling, "num_predict": more["max_tokens"]},
        }

    def _send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        reply = self.client.post(_GENERATE, body)
        choice = {
            "finish_reason": reply.get("done_reason"),
            "logprobs": {"content": reply.get("logprobs") or []},
        }
        usage = {"prompt_tokens": reply.get("prompt_eval_count")}
        return {"choices": [choice], "usage": usage, "model": reply.get("model")}


def is_ollama(client: Client) -> bool:
    """Return whether a server is Ollama, by its own API beside the one under ``/v1``."""
    try:
        version = client.get("/api/version").get("version")
    except TacitError:
        return False
    return isinstance(version, str) and client.has(_GENERATE)
