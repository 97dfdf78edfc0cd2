"""Sampled replies of a chat, and the votes that they are read as.

A reply is kept as it came, without what was thought before it. Which answer it is, is read off it
later, without a model: it has to begin with one of the prompt's answers, in whatever case and
decoration, with a sentence's or a line's end behind it, and no other answer. Any other reply is
unparsed and counted.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from tacit.requests import Votes
from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.requests import Sample

ANSWER_TOKENS = 16
"""The longest reply that is asked for, in tokens, thinking not counted."""

# Straight and typographic quotation marks, Markdown, brackets.
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_DECORATION = f" \t\r\n{_QUOTES}*_#([{{"
# An answer may have brackets or a # of its own: (a), C#.
_AROUND_ANSWERS = f" \t\r\n{_QUOTES}*_"
_BEHIND_ANSWERS = f" \t{_QUOTES}*_"
_AROUND_A_NUMBER = f"{_DECORATION})]}}.,;!"
_BULLET = re.compile(r"\A[\-\u2022]\s+")
_LEAD = re.compile(
    r"\A(?:the\s+)?(?:final\s+|correct\s+)?answer(?![^\W_])(?:\s+is)?[\s*_]*[:\-]?[\s*_]*",
    re.IGNORECASE,
)
# Behind a point or a comma a digit goes on with a number (0.5), and no mark stands behind another
# (..., !?). A hyphen is a dash behind a blank alone.
_END = re.compile(
    rf"\s*\Z|\r?\n|(?:[.,](?!\d)|[!;])(?![{_BEHIND_ANSWERS})\]}}]*[.,;:!?\u2026])"
    r"|(?<=\s)-|[\u2013\u2014]"
)


def votes_of(samples: Sequence[Sample], answers: Sequence[str]) -> Votes:
    """What replies say, read as a prompt's answers."""
    answers = strings(answers, "answers")
    read = [_read_sample(one, answers) for one in samples if one.state != "thinking"]
    thinking = sum(one.state == "thinking" for one in samples)
    counts = Counter(answer for answer in read if answer is not None)
    return Votes(
        {answer: counts[answer] for answer in answers},
        unparsed=len(samples) - counts.total(),
        truncated=thinking,
    )


def _read_sample(sample: Sample, answers: Sequence[str]) -> str | None:
    """The answer of a reply; of one that was cut, where it stays that if its last word goes on."""
    read = read_answer(sample.reply, answers)
    if sample.state == "cut" and read_answer(f"{sample.reply}x", answers) != read:
        return None
    return read


def read_answer(reply: str, answers: Sequence[str]) -> str | None:
    """The answer that a reply is; None where it is none for certain.

    Args:
        reply: As the model wrote it.
        answers: The candidates; of some that differ in case alone, the one that is written as in
            the reply counts, else the first.
    """
    answers = strings(answers, "answers")
    reply = reply.strip()
    bare = _BULLET.sub("", reply).lstrip(_DECORATION)
    led = _LEAD.match(bare)
    before = reply[: len(reply) - len(bare)]
    return _read(reply, answers) or (_read(before + bare[led.end() :], answers) if led else None)


def _read(text: str, answers: Sequence[str]) -> str | None:
    """The answer that a text begins with; None where another one follows."""
    forms = {answer: _bare(answer).casefold() for answer in answers}
    rests = {answer: _rest(text, form) for answer, form in forms.items()}
    begun = [answer for answer in answers if rests[answer] is not None]
    if not begun:
        return None
    best = max(begun, key=lambda answer: len(forms[answer]))
    longest, rest = forms[best], (rests[best] or "").casefold()
    others = [form for form in forms.values() if form and form != longest]
    if any(_holds(rest if form in longest else longest + rest, form) for form in others):
        return None
    alike = [answer for answer in begun if forms[answer] == longest]
    exact = [answer for answer in alike if _opened(text, longest).startswith(_bare(answer))]
    return (exact or alike)[0]


def _rest(text: str, form: str) -> str | None:
    """What stands behind an answer that a text begins with; None where it does not.

    A number is an answer only where it is all of the text: lists are numbered, too.
    """
    if not form:
        return None
    opened = _opened(text, form)
    behind = opened[len(form) :]
    if opened[: len(form)].casefold() != form or not _ends(behind, text[: -len(opened)]):
        return None
    return None if form.isdecimal() and behind.strip(_AROUND_A_NUMBER) else behind


def _ends(behind: str, before: str) -> bool:
    """Whether a sentence or a line ends behind an answer, given what stands before it."""
    closed = "".join(close for opens, close in _CLOSES.items() if opens in before)
    ended = len(behind) - len(behind.lstrip(_BEHIND_ANSWERS + closed))
    return _END.match(behind, ended) is not None


def _bare(answer: str) -> str:
    return answer.strip(_AROUND_ANSWERS)


def _opened(text: str, form: str) -> str:
    """A text from its first word on, or from an answer's first mark."""
    return _BULLET.sub("", text).lstrip(_DECORATION.replace(form[0], ""))


def _holds(text: str, form: str) -> bool:
    """Whether an answer stands in a text as a word of its own."""
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None
