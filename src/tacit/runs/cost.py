"""What asking a server's chat costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.english import several

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tacit.models.openai.options import ServerOptions
    from tacit.requests import Request

_BYTES_PER_TOKEN = 4
_AROUND = 8
"""Tokens that a template puts around what the user says, about."""


@dataclass(frozen=True)
class Cost:
    """What a chat costs at most; what the store holds is not asked again.

    Args:
        texts: How many distinct texts are asked.
        calls: How many calls that are, one reply each, those that try the server included.
        prompt_tokens: Tokens that the server reads, about.
        answer_tokens: Tokens that it writes, at most; None where thoughts may run. With a longest
            thought, one reply that tries the server is not counted: it may run to its end.
    """

    texts: int
    calls: int
    prompt_tokens: int
    answer_tokens: int | None

    @classmethod
    def of(cls, requests: Iterable[Request], options: ServerOptions) -> Cost:
        """The cost of some requests."""
        from tacit.models.openai.answer_parsing import ANSWER_TOKENS
        from tacit.models.openai.chat_preflight import MOST_CALLS
        from tacit.models.openai.first_tokens import MOST_CALLS as FIRST_CALLS
        from tacit.models.openai.reasoning import ROOM

        texts = {one.text for one in requests}
        each, tries = options.samples or 1, MOST_CALLS if options.samples else FIRST_CALLS
        read = sum(_tokens(text) for text in texts) * each + tries * _tokens("x" * 40)
        calls = len(texts) * each + tries
        if options.samples is None:
            return cls(len(texts), calls, read, calls + ROOM)
        thought = options.thinking or 0
        written = None if thought == "all" else calls * (ANSWER_TOKENS + int(thought)) + ROOM
        return cls(len(texts), calls, read, written)

    @property
    def sentence(self) -> str:
        """The cost in a sentence."""
        written = (
            "as many answer tokens as it thinks for"
            if self.answer_tokens is None
            else f"{several(self.answer_tokens, 'answer token')}"
        )
        return (
            f"{several(self.texts, 'distinct prompt')}: at most {self.calls:,} calls, about "
            f"{self.prompt_tokens:,} prompt tokens and at most {written} (less what the store "
            "holds, and fewer calls where one brings several replies)"
        )

    def to_json(self) -> dict[str, Any]:
        """What ``--dry-run --json`` tells."""
        return {
            "distinct": self.texts,
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "answer_tokens": self.answer_tokens,
        }


def chats_of(models: Sequence[str], options: ServerOptions | None) -> list[str]:
    """Which of the models are asked in a server's chat."""
    from tacit.models.openai.options import is_address

    chats = options is not None and options.api == "chat"
    return [name for name in models if chats and is_address(name)]


def _tokens(text: str) -> int:
    return _AROUND + len(text.encode()) // _BYTES_PER_TOKEN
