"""Prompts put to a model as a chat: the text is what the user says, the answer begins the reply.

What stands around the two is the tokenizer's own chat template's, up to the place where the
assistant's turn begins. The prompt's separator belongs to plain text and is not used: its place is
taken by the spaces that the template itself writes before an answer (one in Llama 2's, none in most
others), which are scored with the answer.
A blank is shown to the model as it is written.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from tacit.errors import ModelError
from tacit.models.boundary import Filled

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from tacit.prompts import Prompt

SCORER = "chat-2"

TODAY = date(2024, 7, 26)
"""The day that templates are told it is, so that a prompt is the same tomorrow."""

_OPENS, _CLOSES = "<think>", "</think>"
_NOW = re.compile(r"strftime_now\(\s*(['\"])([^'\"]*)\1\s*\)")
_ASKED, _MARK = "Is it?", "qzxq"


@dataclass(frozen=True)
class Chat:
    """How a tokenizer writes a chat.

    Args:
        name: The model's, for messages.
        tokenizer: Has a chat template.
        template: The template, with the day in it fixed.
        opening: What stands between the template's prompt for a reply and the reply itself: white
            space that the template writes before an answer, the beginning of a turn that its
            prompt leaves out, or the end of a thought that its prompt begins.
        thought: What becomes of thinking: ``none`` (no trace of it), or ``closed`` (the template
            begins a thought, which is ended before its first word).
    """

    name: str
    tokenizer: PreTrainedTokenizerBase
    template: str
    opening: str = ""
    thought: str = "none"

    @classmethod
    def of(cls, name: str, tokenizer: PreTrainedTokenizerBase) -> Chat:
        """Reads off a tokenizer's template how a reply begins.

        Raises:
            ModelError: The tokenizer has no chat template, or one that cannot be used.
        """
        plain = cls(name, tokenizer, _template_of(name, tokenizer))
        asked = plain._rendered(_ASKED)
        if asked.rstrip().endswith(_OPENS):
            gap = "" if asked.endswith("\n") else "\n"
            opening, thought = f"{gap}\n{_CLOSES}\n\n", "closed"
        else:
            opening, thought = _before_reply(plain, asked), "none"
        return cls(name, tokenizer, plain.template, opening, thought)

    @property
    def digest(self) -> str:
        """SHA-256 of the template and of how a reply begins."""
        return hashlib.sha256(f"{self.template}\0{self.opening}".encode()).hexdigest()

    @property
    def scorer(self) -> str:
        """What a fingerprint says of the chat."""
        return f"{SCORER} {self.digest}"

    @property
    def description(self) -> dict[str, str]:
        """What a manifest says of it."""
        return {
            "template": hashlib.sha256(self.template.encode()).hexdigest(),
            "opening": self.opening,
            "thought": self.thought,
            "today": TODAY.isoformat(),
        }

    def render(self, text: str) -> str:
        """All that stands before the reply to a text.

        Raises:
            ModelError: The template fails.
        """
        return self._rendered(text) + self.opening

    def fill(self, prompt: Prompt) -> list[Filled]:
        """Each answer as the beginning of the reply.

        Spaces that the template writes before a reply are the separator, and scored with it.
        """
        before = self.render(prompt.text)
        begin, text_end = len(before), len(before.rstrip(" "))
        return [Filled(before + a, begin, begin + len(a), text_end) for a in prompt.answers]

    def _rendered(self, text: str, reply: str | None = None) -> str:
        """The chat up to where a reply begins; with a reply, up to its end."""
        said = [{"role": "user", "content": text}]
        if reply is not None:
            said.append({"role": "assistant", "content": reply})
        try:
            return str(
                self.tokenizer.apply_chat_template(
                    said,
                    chat_template=self.template,
                    tokenize=False,
                    add_generation_prompt=reply is None,
                    # Read by the templates that know them, and by no other.
                    enable_thinking=False,
                    date_string=f"{TODAY:%d %b %Y}",
                )
            )
        except Exception as error:  # templates are programs, and raise what they like
            told = next(iter(str(error).splitlines()), type(error).__name__)
            raise ModelError(
                f"{self.name}: its chat template fails ({told}); leave --chat away, or use another "
                "tokenizer"
            ) from error


def _template_of(name: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """A tokenizer's template for chats without tools, its calls for today's date answered."""
    if not tokenizer.chat_template:
        raise ModelError(
            f"{name}: its tokenizer has no chat template, so that nobody knows how a chat with it "
            "is written: leave --chat away, or name a model that is tuned for chat"
        )
    try:
        template = str(tokenizer.get_chat_template())
    except ValueError as error:
        raise ModelError(f"{name}: none of its chat templates is the default one") from error
    fixed = _NOW.sub(lambda found: repr(TODAY.strftime(found[2])), template)
    if "strftime_now(" in fixed:
        raise ModelError(
            f"{name}: its chat template writes the present time into every prompt, so that scores "
            "would change from one moment to the next; leave --chat away"
        )
    return fixed


def _before_reply(chat: Chat, asked: str) -> str:
    """What a template writes before a reply, beyond its prompt for one; nothing where unknown."""
    try:
        whole = chat._rendered(_ASKED, _MARK)  # noqa: SLF001 - of this very module
    except ModelError:
        return ""  # it writes no replies, and its prompt for one is all that is known
    before, found, _ = whole.partition(_MARK)
    return before[len(asked) :] if found and before.startswith(asked) else ""
