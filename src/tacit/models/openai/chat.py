"""How a model of a server is asked in a chat: requests, replies, and reasoning before a reply."""

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
    """One reply.

    Args:
        text: Its text; with tags where the server leaves a thought in it.
        thought: The thought, where the server tells it apart.
        cut: Whether it was cut at the most tokens that were asked for.
        hidden: Whether the server counts tokens of a thought that it does not show.
    """

    text: str
    thought: str
    cut: bool
    hidden: bool = False

    @property
    def whole(self) -> str:
        """All that the model wrote."""
        return self.thought + self.text

    @property
    def has_reasoning(self) -> bool:
        """Whether there is a thought in it."""
        return self.hidden or bool(self.thought.strip()) or CLOSES in self.text or self._opens

    @property
    def silent(self) -> bool:
        """Whether it was cut before anything was to be seen of it, as a hidden thought is."""
        return self.cut and not self.whole.strip()

    def sample(self, *, begun: bool, meant: bool) -> Sample:
        """The reply behind its thought.

        Args:
            begun: Whether the server's template begins the thought, so that a reply shows its end
                alone.
            meant: Whether it was asked to think, which it may have done without showing it.
        """
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
    """The replies in a server's answer, in the order of their index.

    Args:
        answer: What the server sent.
        most: So many replies were asked for.

    Raises:
        ReplyError: It is no answer of a chat, or to another request.
    """
    read = validated(answer, Answer[Replied], "a chat's")
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

    def replies(self, text: str, seed: int, several: int = 1) -> list[ChatReply]:
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
        return self._checked(text, more, lambda answer: read_replies(answer, several))

    def likeliest(self, text: str) -> ChatReply:
        """The beginning of the reply at temperature 0, thought or not.

        Raises:
            RefusalError: The server refuses.
            ScoringError: It failed each time, or its answer is none of a chat.
        """
        more = {self.limit: ANSWER_TOKENS, "temperature": 0.0}
        return self._checked(text, more, read_replies)[0]

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


ROOM = 1024
"""Tokens in which a reply is to end; without limit where a thought is meant, or where the server
has no room for so many."""

MOST_CALLS = 2
"""So many calls, at most, are made for it."""


def ended(talk: Talk) -> ChatReply:
    """A reply that is allowed to end, however short others are to be.

    Raises:
        RefusalError: The server refuses.
        ScoringError: It failed each time.
    """
    if not talk.thinking:
        try:
            return talk.but(room=ROOM).replies(TEXTS[1], seed=0)[0]
        except RefusalError:  # its window is smaller
            pass
    return talk.but(room=None).replies(TEXTS[1], seed=0)[0]


def begun(said: ChatReply) -> bool:
    """Whether the end of a thought comes without its beginning."""
    opened = said.thought.strip() or said.text.lstrip().startswith(OPENS)
    return CLOSES in said.text and not opened
