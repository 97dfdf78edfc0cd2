"""Prompts put to a model as a chat: the text is what the user says, the answer begins the reply.

What stands around the two is the tokenizer's own chat template's, up to the place where the
assistant's turn begins. The prompt's separator belongs to plain text and is not used: its place is
taken by the spaces that the template itself writes before an answer (one in Llama 2's, none in most
others), which are scored with the answer.
A blank is shown to the model as it is written.

A template is a program, and may write something else than what the user says. So it is tried when a
model is loaded, and each prompt's text is looked for in what was written.
"""

from __future__ import annotations

import hashlib
import random
import re
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

from tacit.errors import ModelError, PromptError
from tacit.models.huggingface.alignment import ControlTokens, Filled
from tacit.requests import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import tzinfo
    from typing import Self

    from transformers import PreTrainedTokenizerBase

    from tacit.requests import Prompt

SCORER = "chat-2"

TODAY = date(2024, 7, 26)
"""The day that templates are told it is, so that a prompt is the same tomorrow."""

_OPENS, _CLOSES = "<think>", "</think>"
_OF_THE_MOMENT = (
    "its chat template writes the present time into every prompt, so that scores would change from "
    "one moment to the next: leave --chat away, or write the date into the template as "
    "strftime_now('%d %B %Y') in one piece, which is answered with one fixed day"
)
_NOW = re.compile(r"strftime_now\s*\(\s*(['\"])([^'\"]*)\1\s*\)")
_ASKED, _MARK = "Is it?", "qzxq"

_SENTENCE = 'Is  this "statement" (no. {}) TRUE, or\tfalse: <b>it\'s 50 % naïve</b> & [so]?\n\n'
_LONG = "".join(_SENTENCE.format(number) for number in range(30)).strip()
"""Whatever a template may shorten, escape or put into one case."""

# They differ in each part of a date and of a time.
_MOMENTS = (datetime(2001, 3, 4, 5, 6, 7), datetime(2022, 11, 19, 20, 21, 22))  # noqa: DTZ001


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
        plain._check()
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
            PromptError: The template does not write the text to the character, or the text spells a
                special token.
            ModelError: The template fails.
        """
        self._refuse_control(text, shown(text))
        written = self._rendered(text)
        if text.strip() not in written:
            raise PromptError(
                f"{self.name}: its chat template does not write {shown(text)} as it stands: leave "
                "--chat away, or use another tokenizer"
            )
        shorter = {text.lstrip(), text.rstrip(), text.strip()} - {text}
        if text not in written or any(self._rendered(other) == written for other in shorter):
            raise PromptError(
                f"{self.name}: its chat template leaves out white space that {shown(text)} begins "
                "or ends with: take it out of the prompt, or leave --chat away"
            )
        return written + self.opening

    def fill(self, prompt: Prompt) -> list[Filled]:
        """Each answer as the beginning of the reply.

        Spaces that the template writes before a reply are the separator, and scored with it.

        Raises:
            PromptError: As ``render``, or an answer spells a special token.
            ModelError: The template fails.
        """
        for answer in prompt.answers:
            self._refuse_control(answer, f"the answer {answer!r} to {prompt.shown}")
        before = self.render(prompt.text)
        begin, text_end = len(before), len(before.rstrip(" "))
        return [Filled(before + a, begin, begin + len(a), text_end) for a in prompt.answers]

    def _refuse_control(self, text: str, what: str) -> None:
        """Refuses what would be read as special tokens, among those that the template writes."""
        found = ControlTokens.of(self.tokenizer).find(text)
        if found:
            raise PromptError(
                f"{self.name}: {what} holds {found!r}, which would be read as a special token in a "
                "chat: take it out, or leave --chat away"
            )

    def _check(self) -> None:
        """Refuses a template that does not write what is said, or not the same each time.

        Raises:
            ModelError: It is so.
        """
        with _drawing() as drawn:
            written = {self._at(moment) for moment in _MOMENTS}
            is_random = drawn()
        if any(_LONG not in asked for asked, _ in written):
            raise ModelError(
                f"{self.name}: its chat template does not write what the user says to the "
                "character (it shortens or changes it, or knows no user, or wants a list of "
                "parts): leave --chat away, or use another tokenizer"
            )
        if is_random:
            raise ModelError(
                f"{self.name}: its chat template draws at random, so that scores would change from "
                "one run to the next: leave --chat away, or take the draw out of the template"
            )
        if len(written) > 1:
            raise ModelError(f"{self.name}: {_OF_THE_MOMENT}")

    def _at(self, moment: datetime) -> tuple[str, str]:
        """What the template writes at a moment, without a reply and with one."""
        with _clock_at(moment):
            try:
                return self._rendered(_LONG), self._rendered(_LONG, _MARK)
            except ModelError:
                return self._rendered(_LONG), ""  # it writes no replies

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
        raise ModelError(f"{name}: {_OF_THE_MOMENT}")
    return fixed


@contextmanager
def _clock_at(moment: datetime) -> Iterator[None]:
    """Has transformers' ``strftime_now`` tell a moment."""
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


@contextmanager
def _drawing() -> Iterator[Callable[[], bool]]:
    """Tells whether Python's random numbers, which Jinja draws from, were drawn within.

    They go on afterwards as if nothing had been drawn.
    """
    before = random.getstate()
    try:
        yield lambda: random.getstate() != before
    finally:
        random.setstate(before)


def _before_reply(chat: Chat, asked: str) -> str:
    """What a template writes before a reply, beyond its prompt for one; nothing where unknown."""
    try:
        whole = chat._rendered(_ASKED, _MARK)  # noqa: SLF001 - of this very module
    except ModelError:
        return ""  # it writes no replies, and its prompt for one is all that is known
    before, found, _ = whole.partition(_MARK)
    return before[len(asked) :] if found and before.startswith(asked) else ""
