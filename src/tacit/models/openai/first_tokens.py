"""Score answers of a chat server by the log-probabilities of a reply's first token."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tacit.models.base import FIRST, IN_CHAT
from tacit.models.openai.chat import ChatServer
from tacit.models.openai.chat_checks import FIRST_TOKENS
from tacit.models.openai.client import Client
from tacit.models.openai.options import ServerOptions
from tacit.models.openai.roads import FIRST_TOKENS as FIRST_TOKENS_ROAD
from tacit.models.openai.served import BYTES_PER_TOKEN, ScoringServer
from tacit.models.openai.tokens import find, least_listed, likeliest
from tacit.requests import OUTSIDE_FIRST, UNSAID_FIRST, AnswerScore, Prompt, Scores

SCORER = "server-chat-1"


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
            "scorer": SCORER,
        }

    def _described(self) -> tuple[str, str, dict[str, Any]]:
        passed = f"log-probabilities of first tokens of replies ({self._server.listed})"
        return FIRST + IN_CHAT, passed, {"roads": [FIRST_TOKENS_ROAD.name]}

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


def load(
    client: Client, about: Mapping[str, Any], options: ServerOptions, store: Path | None
) -> FirstTokensModel:
    """See ``tacit.models.openai.completions.load``."""
    name, thinking = about["id"], options.thinking
    return FirstTokensModel(ChatServer(client, name, options.concurrency, thinking=thinking), store)
