"""How one model of a server is asked in a chat: for a reply's first token, or for whole replies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tacit.models.openai.answer_parsing import ANSWER_TOKENS
from tacit.models.openai.replies import read_said
from tacit.models.openai.reply_checks import twice
from tacit.models.openai.server_habits import Habits
from tacit.models.openai.token_lists import read_reply

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.models.openai.client import Client
    from tacit.models.openai.options import Thinking
    from tacit.models.openai.replies import Said
    from tacit.models.openai.token_lists import Reply, Token

Result = TypeVar("Result")

LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Talk:
    """How a model is asked in a chat.

    Args:
        client: The server.
        model: What the server calls the model.
        thinking: The longest thought, in tokens; 0 asks for none, ``all`` lets it run.
        limit: What the server calls the most tokens of a reply.
        seeded: Whether it takes a seed.
        top: How many of the most probable tokens are asked for.
        room: The most tokens of a reply, thinking not counted; None for no limit to it all.
        uncut: What more is sent, so that the server draws from all tokens as they are.
        habits: What its replies have in common.
    """

    client: Client
    model: str
    thinking: Thinking = None
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool = True
    top: int = 1
    room: int | None = ANSWER_TOKENS
    uncut: Mapping[str, float] = field(default_factory=dict)
    habits: Habits = field(default_factory=Habits)

    def first_token(self, text: str, attempts: int | None = None) -> Reply:
        """What a reply begins with; no token where the server tells of none.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is none of a chat.
        """
        more = {self.limit: 1, "logprobs": True, "top_logprobs": self.top}
        reply = self._checked(
            text, more, lambda answer: read_reply(answer, self.habits.noise), attempts
        )
        self.habits.draw(reply.tokens)
        return reply

    def first_tokens(self, texts: Sequence[str], concurrency: int) -> list[Token | None]:
        """What the replies to some texts begin with, several asked at once.

        Raises:
            ScoringError: As ``first_token``.
        """
        return self.client.at_once(lambda text: self.first_token(text).first, texts, concurrency)

    def replies(self, text: str, seed: int, several: int = 1) -> list[Said]:
        """Replies sampled at temperature 1; perhaps fewer than asked for.

        Args:
            text: What the user says.
            seed: Of this request; another seed gives other replies.
            several: How many are asked for at once.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is none of a chat.
        """
        more: dict[str, Any] = dict(self._most())
        if self.seeded:
            more["seed"] = seed
        if several > 1:
            more["n"] = several
        return self._checked(text, more, lambda answer: read_said(answer, several))

    def likeliest(self, text: str) -> Said:
        """The beginning of the reply at temperature 0, thought or not.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is none of a chat.
        """
        more = {self.limit: ANSWER_TOKENS, "temperature": 0.0}
        return self._checked(text, more, read_said)[0]

    def but(self, **changed: object) -> Talk:
        """The same with some settings changed."""
        return replace(self, **changed)  # type: ignore[arg-type] # names of its own fields

    def _checked(
        self,
        text: str,
        more: dict[str, Any],
        read: Callable[[Mapping[str, Any]], Result],
        attempts: int | None = None,
    ) -> Result:
        """A reply that can be right, at the second try at the latest."""
        body = self._body(text, more)

        def ask() -> Result:
            answer = self.client.chat(body, attempts=attempts)
            self.habits.check(text, answer)
            return read(answer)

        return twice(ask, f"{self.model} at {self.client.address}")

    def _most(self) -> dict[str, int]:
        """The most tokens of a reply; no limit of ours where the thought may run."""
        if self.thinking == "all" or self.room is None:
            return {}
        return {self.limit: self.room + (self.thinking or 0)}

    def _body(self, text: str, more: dict[str, Any]) -> dict[str, Any]:
        messages = [{"role": "user", "content": text}]
        body: dict[str, Any] = {"model": self.model, "messages": messages, **self.uncut}
        body |= {"temperature": 1.0, "top_p": 1.0, **more}
        if self.thinking == 0:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return body
