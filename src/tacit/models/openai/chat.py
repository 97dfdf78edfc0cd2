"""A model in a server's chat: its replies, and its beliefs by the first tokens of replies."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

from tacit.models.base import FIRST, IN_CHAT
from tacit.models.openai import checks
from tacit.models.openai.checks import PAIRS, Finding
from tacit.models.openai.client import RefusalError
from tacit.models.openai.options import Thinking
from tacit.models.openai.roads import FIRST_TOKENS as ROAD
from tacit.models.openai.schema import Answer, Replied
from tacit.models.openai.served import BYTES_PER_TOKEN, ScoringServer
from tacit.models.openai.server import TEXTS, Server
from tacit.models.openai.tokens import TOPS, Token, find, least_listed, likeliest
from tacit.requests import OUTSIDE_FIRST, UNSAID_FIRST, AnswerScore, Prompt, Sample, Scores

OPENS, CLOSES = "<think>", "</think>"

ROOM = 1024
"""The token limit of the preflight request whose reply should not be truncated.

No token limit is set if the model is asked to reason, or if ``ROOM`` tokens do not fit in the
server's context window.
"""

MOST_FIRST_CALLS = len(TOPS) + 3 * len(TEXTS) + 4 * len(PAIRS) + 2
"""The maximum total number of requests of the preflight and the check after a run."""

_SCORER = "server-chat-1"


@dataclass(frozen=True, slots=True)
class ChatReply:
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
    hidden = (answer.usage.completion_tokens_details.reasoning_tokens or 0) > 0
    return [_reply_of(one, hidden=hidden) for one in answer.ordered(most)]


def _reply_of(choice: Replied, *, hidden: bool) -> ChatReply:
    message = choice.message
    thought = message.reasoning_content or message.reasoning
    cut = choice.finish_reason == "length"
    return ChatReply(message.content, thought, cut, hidden and not thought)


@dataclass
class ChatServer(Server):
    thinking: Thinking = None
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    seeded: bool = True
    uncut: Mapping[str, float] = field(default_factory=dict)
    trims: ClassVar[bool] = True

    def next_token(self, text: str, *, longer: bool = False) -> Token | None:
        more = {self.limit: 1 + longer, "logprobs": True, "top_logprobs": self.requested}
        tokens = self._tokens(text, more)
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


def does_not_reason(server: ChatServer) -> Iterator[Finding]:
    """The first token of a reply is then not the answer's."""
    opens = any((token.text or "").strip() == OPENS for token in server.nexts.values())
    if opens or server.unlimited().has_reasoning:
        yield Finding(
            "it reasons before it answers, so the first token of a reply does not belong to the "
            "answer: turn reasoning off with --thinking-tokens 0",
            fatal=True,
        )


def lists_first_tokens(server: ChatServer) -> Iterator[Finding]:
    """Some servers return the log-probability of the sampled token alone."""
    if not server.top:
        yield Finding("it lists no most probable tokens in a chat", fatal=True)


FIRST_TOKENS = (
    checks.returns_logprobs,
    checks.names_its_model,
    does_not_reason,
    checks.keeps_requests_apart,
    checks.repeats_its_answers,
    checks.reads_whole_prompts,
    lists_first_tokens,
)
"""The checks before answers are scored as first tokens of replies."""


class FirstTokensModel(ScoringServer[ChatServer]):
    """A chat model that scores each answer as the first token of a reply."""

    checks = FIRST_TOKENS
    hint = "; alternatively, use vote shares, with --samples N"

    def _settings(self) -> dict[str, Any]:
        server = self._server
        # Some servers begin every word with a space.
        texts = [one.text or "" for token in server.nexts.values() for one in token.top]
        words = [text for text in texts if text.lstrip(" ")[:1].isalpha()]
        padded = bool(words) and all(word.startswith(" ") for word in words)
        self._space = " " if padded else ""
        return {
            "first_tokens": server.top,
            "first_space": self._space,
            "thinking": server.thinking,
            "scorer": _SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        passed = f"log-probabilities of first tokens of replies ({self._server.listed})"
        return FIRST + IN_CHAT, passed, {"roads": [ROAD.name]}

    def cost(self, requests: Sequence[Prompt]) -> list[int]:
        """See ``LanguageModel.cost``; four bytes of a prompt count as about one token."""
        return [2 + len(prompt.text.encode()) // BYTES_PER_TOKEN for prompt in requests]

    def _score(self, prompt: Prompt, *, longer: bool = False) -> tuple[Scores, float]:
        first = self._server.next_token(prompt.text, longer=longer)
        token = first and likeliest(first, self._server.top)
        top = token.top if token else ()
        found = [find(top, self._space + answer, None) for answer in prompt.answers]
        values = [None if one is None else one.logprob for one in found]
        why = OUTSIDE_FIRST if top else UNSAID_FIRST
        scores = (
            AnswerScore(answer, None, 0, missing=why)
            if value is None
            else AnswerScore(answer, value, 1)
            for answer, value in zip(prompt.answers, values, strict=True)
        )
        return Scores(tuple(scores)), least_listed(token) if token else -math.inf
