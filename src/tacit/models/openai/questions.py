"""The two questions that a server is asked: what comes next, and of which tokens a text is."""

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
"""How a server tells of a prompt's own tokens: OpenAI's way, or vLLM's own."""

_SILENT = 8
"""So often a server is asked again that ends at once, and then gives no log-probability."""


@dataclass(frozen=True)
class Questions:
    """How one model of a server is asked.

    Args:
        client: The server.
        model: What the server calls the model.
        top: How many of the most probable tokens are asked for.
        least: Tokens that the server has to generate beside an echo: 0 or 1.
        by_id: Whether tokens are asked for by their ids, as vLLM gives them on demand.
        way: How it is asked for a prompt's own tokens.
        habits: What its replies have in common.
    """

    client: Client
    model: str
    top: int = 1
    least: int = 1
    by_id: bool = False
    way: Way = "echo"
    habits: Habits = field(default_factory=Habits)

    def next_token(self, text: str, attempts: int | None = None) -> Reply:
        """What comes after a text; no token where the server always ends there.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is no completion.
        """
        body = self._body(text, {"max_tokens": 1, "logprobs": self.top})
        reply = self._reply(text, body, attempts=attempts)
        for _ in range(_SILENT):
            if reply.tokens:
                break
            # Some say nothing where what they draw is the end; another draw may be another token.
            reply = self._reply(text, body, attempts=attempts)
        self.habits.draw(reply.tokens)
        return reply

    def next_tokens(self, texts: Sequence[str], concurrency: int) -> list[Token | None]:
        """What comes after each text, several asked at once; None where the server says nothing.

        Raises:
            ScoringError: As ``next_token``.
        """
        return self.client.at_once(lambda text: self.next_token(text).first, texts, concurrency)

    def echoed(
        self, text: str, timeout: float | None = None, attempts: int | None = None
    ) -> tuple[Token, ...]:
        """The tokens of a text, special ones before it and perhaps a generated one behind it.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is no completion.
        """
        if self.way == "prompt_logprobs":
            body = self._body(text, {"max_tokens": 1, "prompt_logprobs": 0})
        else:
            body = self._body(text, {"max_tokens": self.least, "logprobs": 1, "echo": True})
        reply = self._reply(text, body, timeout, attempts)
        return (reply.prompt or ()) if self.way == "prompt_logprobs" else reply.tokens

    def but(self, **changed: object) -> Questions:
        """The same with some settings changed."""
        return replace(self, **changed)  # type: ignore[arg-type] # names of its own fields

    def _reply(
        self,
        text: str,
        body: dict[str, Any],
        timeout: float | None = None,
        attempts: int | None = None,
    ) -> Reply:
        """A reply that can be right, at the second try at the latest."""

        def ask() -> Reply:
            answer = self.client.complete(body, timeout, attempts)
            self.habits.check(text, answer)
            return read_reply(answer, self.habits.noise)

        return twice(ask, f"{self.model} at {self.client.address}")

    def _body(self, text: str, more: dict[str, Any]) -> dict[str, Any]:
        # At a temperature of 1 with nothing cut off, no server's log-probabilities are reshaped.
        body = {"model": self.model, "prompt": text, "temperature": 1.0, "top_p": 1.0, **more}
        return {**body, "return_tokens_as_token_ids": True} if self.by_id else body
