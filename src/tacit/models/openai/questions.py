"""Requests to a completions server for the next token or for a prompt's own tokens."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from tacit.models.openai.schema import twice
from tacit.models.openai.server_habits import Habits
from tacit.models.openai.token_lists import read_reply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.models.openai.client import Client
    from tacit.models.openai.token_lists import Reply, Token

Way = Literal["echo", "prompt_logprobs"]
"""The request field that asks for the prompt's tokens.

To request the prompt's tokens, OpenAI's API has the field ``echo``, and vLLM has the field
``prompt_logprobs``.
"""

_SILENT = 8
"""The maximum number of retries after an empty completion (no log-probability)."""


@dataclass(frozen=True)
class Questions:
    """Requests to one model on a completions server."""

    client: Client
    model: str
    top: int = 1
    least: int = 1
    more: int = 0
    by_id: bool = False
    way: Way = "echo"
    habits: Habits = field(default_factory=Habits)

    def next_token(self, text: str, attempts: int | None = None) -> Reply:
        """Return a reply with the next token after a text."""
        body = self._body(text, {"max_tokens": 1 + self.more, "logprobs": self.top})
        reply = self._reply(text, body, attempts=attempts)
        for _ in range(_SILENT):
            if reply.tokens:
                break
            # Some servers return no token if they draw the end token.
            reply = self._reply(text, body, attempts=attempts)
        self.habits.draw(reply.tokens)
        return reply

    def next_tokens(self, texts: Sequence[str], concurrency: int) -> list[Token | None]:
        """Concurrently request the next token after each text; a missing token is None."""
        return self.client.at_once(lambda text: self.next_token(text).first, texts, concurrency)

    def echoed(
        self, text: str, timeout: float | None = None, attempts: int | None = None
    ) -> tuple[Token, ...]:
        """Send a text to the server, and return the tokens that the server echoes."""
        if self.way == "prompt_logprobs":
            body = self._body(text, {"max_tokens": 1 + self.more, "prompt_logprobs": 0})
        else:
            room = self.least + self.more
            body = self._body(text, {"max_tokens": room, "logprobs": 1, "echo": True})
        reply = self._reply(text, body, timeout, attempts)
        return (reply.prompt or ()) if self.way == "prompt_logprobs" else reply.tokens

    def but(self, **changed: object) -> Questions:
        """Return a copy of this object with the given fields changed."""
        return replace(self, **changed)  # type: ignore[arg-type] # the names are fields

    def _reply(
        self,
        text: str,
        body: dict[str, Any],
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> Reply:
        """Send a request and return the reply; retry once if the reply is invalid."""

        def ask() -> Reply:
            answer = self.client.complete(body, timeout, attempts)
            self.habits.check(text, answer)
            return read_reply(answer, self.habits.noise)

        return twice(ask, f"{self.model} at {self.client.address}")

    def _body(self, text: str, more: dict[str, Any]) -> dict[str, Any]:
        # Temperature 1 without truncation leaves log-probabilities unchanged on every server.
        body = {"model": self.model, "prompt": text, "temperature": 1.0, "top_p": 1.0, **more}
        return {**body, "return_tokens_as_token_ids": True} if self.by_id else body
