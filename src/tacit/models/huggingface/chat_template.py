"""Chat prompts: a prompt's text is the user's message, and an answer begins the reply."""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import TYPE_CHECKING, Self

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.alignment import ControlTokens
from tacit.models.huggingface.encoding import Beginning
from tacit.models.huggingface.source import first_line
from tacit.requests import Prompt, shown

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


SCORER = "chat-2"

TODAY = date(2024, 7, 26)
"""Date that replaces today's date in chat templates, so that prompts never change."""

_OPENS, _CLOSES = "<think>", "</think>"
_OF_THE_MOMENT = (
    "its chat template writes the current time into every prompt, so scores would change from one "
    "run to the next: omit --chat, or write the date in the template as a single call, "
    "strftime_now('%d %B %Y'), which Tacit replaces with a fixed date"
)
_NOW = re.compile(r"strftime_now\s*\(\s*(['\"])([^'\"]*)\1\s*\)")
_ASKED, _MARK = "Is it?", "qzxq"

_SENTENCE = 'Is  this "statement" (no. {}) TRUE, or\tfalse: <b>it\'s 50 % naïve</b> & [so]?\n\n'
_LONG = "".join(_SENTENCE.format(number) for number in range(30)).strip()
"""A long text to test whether a template changes the user's message."""

# These differ in each component of a date and of a time.
_MOMENTS = (datetime(2001, 3, 4, 5, 6, 7), datetime(2022, 11, 19, 20, 21, 22))  # noqa: DTZ001


@dataclass(frozen=True)
class Chat:
    """The chat format of a tokenizer."""

    name: str
    tokenizer: PreTrainedTokenizerBase
    template: str
    opening: str = ""
    thought: str = "none"

    @classmethod
    def of(cls, name: str, tokenizer: PreTrainedTokenizerBase) -> Chat:
        """Return the chat format of a tokenizer, derived from its template."""
        plain = cls(name, tokenizer, _template_of(name, tokenizer))
        plain._check()
        asked, replied = plain._both(_ASKED)
        if asked.rstrip().endswith(_OPENS):
            gap = "" if asked.endswith("\n") else "\n"
            opening, thought = f"{gap}\n{_CLOSES}\n\n", "closed"
        else:
            before, found, _ = replied.partition(_MARK)
            is_known = found and before.startswith(asked)
            opening, thought = before[len(asked) :] if is_known else "", "none"
        return cls(name, tokenizer, plain.template, opening, thought)

    @property
    def scorer(self) -> str:
        """The identifier of the chat format, which is part of a model's fingerprint."""
        digest = hashlib.sha256(f"{self.template}\0{self.opening}".encode()).hexdigest()
        return f"{SCORER} {digest}"

    @property
    def description(self) -> dict[str, str]:
        """The description of the chat format for a manifest."""
        return {
            "template": hashlib.sha256(self.template.encode()).hexdigest(),
            "opening": self.opening,
            "thought": self.thought,
            "today": TODAY.isoformat(),
        }

    def render(self, text: str) -> str:
        """Return the chat with a text as the user's message, up to the assistant's reply."""
        self._refuse_control(text, shown(text))
        written = self._rendered(text)
        if text.strip() not in written:
            raise PromptError(
                f"{self.name}: its chat template does not reproduce {shown(text)} exactly: omit "
                "--chat, or use another tokenizer"
            )
        shorter = {text.lstrip(), text.rstrip(), text.strip()} - {text}
        if text not in written or any(self._rendered(other) == written for other in shorter):
            raise PromptError(
                f"{self.name}: its chat template drops white space at the beginning or end of "
                f"{shown(text)}: remove it from the prompt, or omit --chat"
            )
        return written + self.opening

    def begin(self, prompt: Prompt) -> Beginning:
        """Return the rendered chat, and the spaces before an answer, which starts the reply."""
        for answer in prompt.answers:
            self._refuse_control(answer, f"the answer {answer!r} to {prompt.shown}")
        before = self.render(prompt.text)
        text = before.rstrip(" ")
        return text, before[len(text) :]

    def _refuse_control(self, text: str, what: str) -> None:
        """Raise if a text contains a special token, which a chat would not encode as plain text."""
        found = ControlTokens.of(self.tokenizer).spelled.search(text)
        if found:
            raise PromptError(
                f"{self.name}: {what} contains {found[0]!r}, which would be read as a special "
                "token in a chat: remove it, or omit --chat"
            )

    def _check(self) -> None:
        """Check that the template reproduces the user's message exactly and is deterministic."""
        before = random.getstate()
        try:
            written = {self._at(moment) for moment in _MOMENTS}
            is_random = random.getstate() != before
        finally:
            random.setstate(before)
        if any(_LONG not in asked for asked, _ in written):
            raise ModelError(
                f"{self.name}: its chat template does not reproduce the user's message exactly (it "
                "shortens or changes the message, has no user role, or expects a list of parts): "
                "omit --chat, or use another tokenizer"
            )
        if is_random:
            raise ModelError(
                f"{self.name}: its chat template uses random numbers, so scores would change from "
                "one run to the next: omit --chat, or remove the random numbers from the template"
            )
        if len(written) > 1:
            raise ModelError(f"{self.name}: {_OF_THE_MOMENT}")

    def _at(self, moment: datetime) -> tuple[str, str]:
        """Render one chat without a reply and one with a reply, as if at the given time."""
        with _clock_at(moment):
            return self._both(_LONG)

    def _both(self, text: str) -> tuple[str, str]:
        """Render a chat without a reply and one with a reply; "" if the template writes none."""
        asked = self._rendered(text)
        try:
            return asked, self._rendered(text, _MARK)
        except ModelError:
            return asked, ""

    def _rendered(self, text: str, reply: str | None = None) -> str:
        """Return the chat up to the start of a reply, or up to the end of a given reply."""
        messages = [{"role": "user", "content": text}]
        if reply is not None:
            messages.append({"role": "assistant", "content": reply})
        try:
            return str(
                self.tokenizer.apply_chat_template(
                    messages,
                    chat_template=self.template,
                    tokenize=False,
                    add_generation_prompt=reply is None,
                    # Templates that do not know these variables ignore them.
                    enable_thinking=False,
                    date_string=f"{TODAY:%d %b %Y}",
                )
            )
        except Exception as error:  # templates are programs, and can raise any error
            raise ModelError(
                f"{self.name}: its chat template fails ({first_line(error)}): omit --chat, or use "
                "another tokenizer"
            ) from error


def _template_of(name: str, tokenizer: PreTrainedTokenizerBase) -> str:
    """Return a tokenizer's chat template, in which a fixed date replaces today's date."""
    if not tokenizer.chat_template:
        raise ModelError(
            f"{name}: its tokenizer has no chat template: omit --chat, or use a model that is "
            "tuned for chat"
        )
    try:
        template = str(tokenizer.get_chat_template())
    except ValueError as error:
        raise ModelError(
            f"{name}: its tokenizer has several chat templates, and none is named 'default': omit "
            "--chat, or rename one of them"
        ) from error
    fixed = _NOW.sub(lambda found: repr(TODAY.strftime(found[2])), template)
    if "strftime_now(" in fixed:
        raise ModelError(f"{name}: {_OF_THE_MOMENT}")
    return fixed


@contextmanager
def _clock_at(moment: datetime) -> Iterator[None]:
    """Make transformers' ``strftime_now`` return a fixed time."""
    from transformers.utils import chat_template_utils as templates

    class Clock(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> Self:
            return cls.combine(moment.date(), moment.time(), tz)

    module = vars(templates)
    before = module["datetime"]
    module["datetime"] = Clock
    try:
        yield
    finally:
        module["datetime"] = before
