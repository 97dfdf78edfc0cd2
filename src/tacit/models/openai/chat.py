"""Send chat requests to a server's model, and separate reasoning from replies."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from tacit.models.openai.answer_parsing import ANSWER_TOKENS
from tacit.models.openai.client import RefusalError
from tacit.models.openai.preflight import TEXTS
from tacit.models.openai.schema import Answer, Replied, twice, validated
from tacit.models.openai.server_habits import Habits
from tacit.models.openai.token_lists import read_reply
from tacit.requests import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from tacit.models.openai.client import Client
    from tacit.models.openai.options import Thinking
    from tacit.models.openai.token_lists import Reply, Token


OPENS, CLOSES = "<think>", "</think>"


@dataclass(frozen=True, slots=True)
class ChatReply:
    """One reply of a chat model."""

    text: str
    thought: str
    cut: bool
    hidden: bool = False

    @property
    def whole(self) -> str:
        """The model's reasoning, if returned separately, followed by the text of the reply."""
        return self.thought + self.text

    @property
    def has_reasoning(self) -> bool:
        """Whether the reply contains reasoning."""
        return self.hidden or bool(self.thought.strip()) or CLOSES in self.text or self._opens

    @property
    def silent(self) -> bool:
        """Whether the reply was truncated and contains neither text nor visible reasoning."""
        return self.cut and not self.whole.strip()

    def sample(self, *, begun: bool, meant: bool) -> Sample:
        """Return the sampled reply without the reasoning."""
        _, ended, behind = self.text.rpartition(CLOSES)
        if ended:
            return Sample(behind.strip(), "cut" if self.cut else "whole")
        silent = self.cut and not self.text.strip()
        if self._opens or begun or (silent and (meant or self.has_reasoning)):
            return Sample("", "thinking")
        return Sample(self.text.strip(), "cut" if self.cut else "whole")

    @property
    def _opens(self) -> bool:
        return self.text.lstrip().startswith(OPENS) and CLOSES not in self.text


def read_replies(answer: Mapping[str, Any], most: int = 1) -> list[ChatReply]:
    """Return the replies in a server's answer to one request, sorted by index."""
    read = validated(answer, Answer[Replied], "a chat completion")
    hidden = (read.usage.completion_tokens_details.reasoning_tokens or 0) > 0
    return [_reply_of(one, hidden=hidden) for one in read.ordered(most)]


def _reply_of(choice: Replied, *, hidden: bool) -> ChatReply:
    said = choice.message
    thought = said.reasoning_content or said.reasoning
    cut = choice.finish_reason == "length"
    return ChatReply(said.content, thought, cut, hidden and not thought)


Result = TypeVar("Result")

LIMITS = ("max_tokens", "max_completion_tokens")


@dataclass(frozen=True)
class Talk:
    """Chat requests to one model on a server."""

    client: Client
    model: str
    thinking: Thinking = None
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool = True
    top: int = 1
    more: int = 0
    room: int | None = ANSWER_TOKENS
    uncut: Mapping[str, float] = field(default_factory=dict)
    habits: Habits = field(default_factory=Habits)

    @property
    def passed(self) -> str:
        """The beginning of the sentence that reports a passed preflight."""
        return f"{self.model} at {self.client.address} passed the preflight"

    def first_token(self, text: str, attempts: int | None = None) -> Reply:
        """Request a reply of one token; the result has no token if the server returns none."""
        body = {self.limit: 1 + self.more, "logprobs": True, "top_logprobs": self.top}
        reply = self._checked(
            text, body, lambda answer: read_reply(answer, self.habits.noise), attempts
        )
        self.habits.draw(reply.tokens)
        return reply

    def first_tokens(self, texts: Sequence[str], concurrency: int) -> list[Token | None]:
        """Return the first token of the reply to each text; the requests are sent concurrently."""
        return self.client.at_once(lambda text: self.first_token(text).first, texts, concurrency)

    def replies(self, text: str, seed: int, several: int = 1) -> list[ChatReply]:
        """Return replies sampled at temperature 1, possibly fewer than requested."""
        more: dict[str, Any] = dict(self._most())
        if self.seeded:
            more["seed"] = seed
        if several > 1:
            more["n"] = several
        return self._checked(text, more, lambda answer: read_replies(answer, several))

    def likeliest(self, text: str) -> ChatReply:
        """Return the beginning of the reply at temperature 0, which may contain reasoning."""
        more = {self.limit: ANSWER_TOKENS, "temperature": 0.0}
        return self._checked(text, more, read_replies)[0]

    def but(self, **changed: object) -> Talk:
        """Return a copy of this object with the given fields changed."""
        return replace(self, **changed)  # type: ignore[arg-type] # the names are fields

    def _checked(
        self,
        text: str,
        more: dict[str, Any],
        read: Callable[[Mapping[str, Any]], Result],
        attempts: int | None = None,
    ) -> Result:
        """Send a request and return the reply; retry once if the reply is implausible."""
        body = self._body(text, more)

        def ask() -> Result:
            answer = self.client.chat(body, attempts=attempts)
            self.habits.check(text, answer)
            return read(answer)

        return twice(ask, f"{self.model} at {self.client.address}")

    def _most(self) -> dict[str, int]:
        """Return the request field that limits a reply's length; empty if there is no limit."""
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


ROOM = 1024
"""The token limit of the preflight request whose reply should not be truncated.

No token limit is set if the model is asked to reason, or if ``ROOM`` tokens do not fit in the
server's context window.
"""

MOST_CALLS = 2
"""The function ``ended`` sends at most this number of requests to the server."""


def ended(talk: Talk) -> ChatReply:
    """Request a reply with a high token limit or no limit, so that it is not truncated."""
    if not talk.thinking:
        try:
            return talk.but(room=ROOM).replies(TEXTS[1], seed=0)[0]
        except RefusalError:  # the server's window is smaller
            pass
    return talk.but(room=None).replies(TEXTS[1], seed=0)[0]


def begun(said: ChatReply) -> bool:
    """Return whether a reply has a closing tag of the reasoning but no opening tag."""
    opened = said.thought.strip() or said.text.lstrip().startswith(OPENS)
    return CLOSES in said.text and not opened
