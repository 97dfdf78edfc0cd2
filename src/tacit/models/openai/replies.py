"""What a server replies in a chat: the text, the thought before it, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.models.openai import schema
from tacit.models.openai.reply_checks import ReplyError
from tacit.requests import Sample

if TYPE_CHECKING:
    from collections.abc import Mapping

OPENS, CLOSES = "<think>", "</think>"

_THOUGHTS = ("reasoning_content", "reasoning")


@dataclass(frozen=True, slots=True)
class Said:
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
    def thinks(self) -> bool:
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
        if self._opens or begun or (silent and (meant or self.thinks)):
            return Sample("", "thinking")
        return Sample(self.text.strip(), "cut" if self.cut else "whole")

    @property
    def _opens(self) -> bool:
        return self.text.lstrip().startswith(OPENS) and CLOSES not in self.text


def read_said(answer: Mapping[str, Any], most: int = 1) -> list[Said]:
    """The replies in a server's answer, in the order of their index.

    Args:
        answer: What the server sent.
        most: So many replies were asked for.

    Raises:
        ReplyError: It is no answer of a chat, or to another request.
    """
    try:
        hidden = _counts_thoughts(answer.get("usage"))
        return [_said(one, hidden=hidden) for one in schema.choices(answer, most)]
    except schema.FormError as error:
        raise ReplyError(
            f"the server's answer has not the form of a chat's: {error}; is the address that of "
            "its OpenAI-compatible interface, with /v1?"
        ) from error


def _counts_thoughts(usage: object) -> bool:
    details = usage.get("completion_tokens_details") if isinstance(usage, dict) else None
    tokens = details.get("reasoning_tokens") if isinstance(details, dict) else None
    return isinstance(tokens, int) and tokens > 0


def _said(choice: Mapping[str, Any], *, hidden: bool) -> Said:
    message = schema.record(choice.get("message"), "a message")
    text = schema.text(message.get("content") or "", "a reply's content")
    thought = next((message[key] for key in _THOUGHTS if message.get(key)), "")
    thought = schema.text(thought, "a reply's thought")
    return Said(text, thought, choice.get("finish_reason") == "length", hidden and not thought)
