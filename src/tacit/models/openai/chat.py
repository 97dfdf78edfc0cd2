"""A model in a server's chat: its first tokens, and its replies apart from its reasoning."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any, ClassVar, Literal

from tacit.models.openai.client import RefusalError
from tacit.models.openai.identity import same_replies
from tacit.models.openai.options import Thinking
from tacit.models.openai.schema import Answer, Replied
from tacit.models.openai.server import TEXTS, Server, first_accepted
from tacit.models.openai.streaming import at_once
from tacit.models.openai.temperature import Temperature, counted, estimate, sensitivity, words_of
from tacit.models.openai.tokens import Token
from tacit.requests import Sample
from tacit.requests.answer_parsing import ANSWER_TOKENS

OPENS, CLOSES = "<think>", "</think>"

ROOM = 1024
"""The token limit of the preflight request whose reply should not be truncated.

No token limit is set if the model is asked to reason, or if ``ROOM`` tokens do not fit in the
server's context window.
"""

OPEN_ENDED = "Write the first sentence of a story about an invented place."
"""A prompt for which two independent replies are almost never identical."""

DRAWN_TEXTS, AT_ONCE, SINGLY = 3, 24, 8
"""First tokens drawn per text: 24 if a request can return several replies, otherwise 8."""

AGAIN, LOOK_AGAIN, TELL, REFUSE = 2, 0.01, 0.1, 0.001
"""After a p-value below ``LOOK_AGAIN``, twice as many are drawn, and ``TELL`` warns of these."""

LIMITS = ("max_tokens", "max_completion_tokens")

UNCUT: tuple[dict[str, float], ...] = (
    {"top_k": 0, "min_p": 0.0, "repeat_penalty": 1.0, "repetition_penalty": 1.0},
    {"top_k": -1, "min_p": 0.0, "repetition_penalty": 1.0},
    {},
)
"""Settings that make servers sample from the full distribution, without penalties.

Servers differ in the names of sampling settings (such as ``repetition_penalty``), and in the value
of ``top_k`` that allows all tokens (0 or -1).
"""


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

    @property
    def begun(self) -> bool:
        """Whether the reply has a closing tag of the reasoning but no opening tag."""
        opened = self.thought.strip() or self.text.lstrip().startswith(OPENS)
        return CLOSES in self.text and not opened

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


def read_replies(answer: Answer[Replied], most: int = 1) -> list[ChatReply]:
    """Return the replies in a server's answer to one request, sorted by index."""
    hidden = (answer.usage.completion_tokens_details.reasoning_tokens or 0) > 0
    return [_reply_of(one, hidden=hidden) for one in answer.ordered(most)]


def _reply_of(choice: Replied, *, hidden: bool) -> ChatReply:
    message = choice.message
    thought = message.reasoning_content or message.reasoning
    cut = choice.finish_reason == "length"
    return ChatReply(message.content, thought, cut, hidden and not thought)


@dataclass
class ChatServer(Server):
    """A server that replies in a chat."""

    thinking: Thinking = None
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool = True
    uncut: Mapping[str, float] = field(default_factory=dict)
    trims: ClassVar[bool] = True

    def next_token(
        self, text: str, *, longer: bool = False, attempts: int | None = None
    ) -> Token | None:
        more = {self.limit: 1 + longer, "logprobs": True, "top_logprobs": self.requested}
        tokens = self._tokens(text, more, attempts=attempts)
        return tokens[0] if tokens else None

    def replies(self, text: str, seed: int, n: int = 1, room: int | None = None) -> list[ChatReply]:
        """Return replies sampled at temperature 1, possibly fewer than ``n``."""
        more: dict[str, Any] = {self.limit: room} if room else {}
        if self.seeded:
            more["seed"] = seed
        if n > 1:
            more["n"] = n
        return self._replies(text, more, n)

    def unlimited(self) -> ChatReply:
        """Return a reply that is not truncated, if the server's own limit allows it."""
        if not self.thinking:
            try:
                return self.replies(TEXTS[1], 0, room=ROOM)[0]
            except RefusalError:  # the server's window is smaller
                pass
        return self.replies(TEXTS[1], 0)[0]

    def _replies(self, text: str, more: Mapping[str, Any], n: int) -> list[ChatReply]:
        return self._checked(
            text,
            lambda: self.client.complete(self._body(text, more)),
            Answer[Replied],
            lambda answer: read_replies(answer, n),
        )

    def _body(self, text: str, more: Mapping[str, Any]) -> dict[str, Any]:
        messages = [{"role": "user", "content": text}]
        body: dict[str, Any] = {"model": self.model, "messages": messages, **self.uncut}
        body |= {"temperature": 1.0, "top_p": 1.0, **more}
        if self.thinking == 0:
            body["chat_template_kwargs"] = {"enable_thinking": False}
        return body


@dataclass
class VotesServer(ChatServer):
    """A chat server whose replies are sampled, and how it samples them."""

    several: bool = False
    """Whether one request can return several different replies."""
    begun: bool = False
    """Whether the template begins the reasoning, so that replies have a closing tag alone."""
    reasons: bool = False
    drawn: list[ChatReply] = field(default_factory=list)
    temperature: Temperature | None = None
    seeds: Iterator[int] = field(default_factory=lambda: itertools.count(1000, 1000))

    def accept_replies(self) -> ChatReply:
        """Find settings that the server accepts; return its first reply to ``OPEN_ENDED``."""

        def ask(request: tuple[bool, Any, Mapping[str, float]]) -> ChatReply:
            self.seeded, self.limit, self.uncut = request
            return self.brief(OPEN_ENDED, 0)

        return first_accepted(product((True, False), LIMITS, UNCUT), ask, RefusalError)

    @property
    def room(self) -> int | None:
        """The token limit of a reply; None if there is no limit."""
        return None if self.thinking == "all" else ANSWER_TOKENS + (self.thinking or 0)

    def brief(self, text: str, seed: int) -> ChatReply:
        """Return the beginning of a sampled reply, which may contain reasoning."""
        return self.replies(text, seed, room=ANSWER_TOKENS)[0]

    def likeliest(self, text: str) -> str:
        """Return the beginning of the reply at temperature 0, which may contain reasoning."""
        more = {self.limit: ANSWER_TOKENS, "temperature": 0.0}
        return self._replies(text, more, 1)[0].whole

    def same_greedy_replies(self, concurrency: int) -> bool:
        """Return whether the server still gives three in four of its replies at temperature 0."""
        now = self.greedy(list(self.greedy_replies), concurrency)
        return same_replies(self.greedy_replies, now)

    def greedy(self, texts: Sequence[str], concurrency: int) -> dict[str, str]:
        """Return the replies at temperature 0, without those that the server refuses."""

        def reply(text: str) -> str:
            try:
                return self.likeliest(text)
            except RefusalError:
                return ""

        replies = zip(texts, at_once(reply, texts, concurrency), strict=True)
        return {text: reply for text, reply in replies if reply.strip()}

    def estimate_temperature(self) -> Temperature | None:
        """Sample first tokens; sample again if a temperature of 1 is improbable."""
        try:
            first = self._drawn_tokens(1)
            if first is None or first.chance >= LOOK_AGAIN:
                return first
            return self._drawn_tokens(AGAIN)
        except RefusalError:
            return None  # the server refuses one-token replies, or so many replies at once

    def _drawn_tokens(self, times: int) -> Temperature | None:
        seed = next(self.seeds)
        size, requests = (AT_ONCE, times) if self.several else (1, SINGLY * times)
        words = {text: words_of(token) for text, token in self.nexts.items()}
        texts = [text for text in words if len(words[text]) > 1]
        texts = sorted(texts, key=lambda text: -sensitivity(words[text]))[:DRAWN_TEXTS]
        pieces = [(text, seed + at) for text in texts for at in range(requests)]
        replies = at_once(
            lambda piece: self.replies(*piece, n=size, room=1), pieces, self.concurrency
        )
        parsed: dict[str, list[str]] = {text: [] for text in texts}
        for (text, _), some in zip(pieces, replies, strict=True):
            parsed[text] += [one.text for one in some]
        drawn = [(list(words[text].values()), counted(words[text], parsed[text])) for text in texts]
        return estimate(drawn, second=times > 1)
