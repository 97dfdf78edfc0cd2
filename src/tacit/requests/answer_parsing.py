"""Parse sampled chat replies into votes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from tacit.requests.sampling import Sample, Votes
from tacit.strings import comparable, strings

ANSWER_TOKENS = 16
"""The maximum number of tokens to request for a reply, not counting reasoning."""

# Straight and typographic quotation marks, Markdown, brackets.
_QUOTES = "\"'`\u2018\u2019\u201c\u201d\u00ab\u00bb"
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_DECORATION = f" \t\r\n{_QUOTES}*_#([{{"
# An answer itself may contain brackets or a #: (a), C#.
_AROUND_ANSWERS = f" \t\r\n{_QUOTES}*_"
_BEHIND_ANSWERS = f" \t{_QUOTES}*_"
_AROUND_A_NUMBER = f"{_DECORATION})]}}.,;!"
_BULLET = re.compile(r"\A[\-\u2022]\s+")
_LEAD = re.compile(
    r"\A(?:the\s+)?(?:final\s+|correct\s+)?answer(?![^\W_])(?:\s+is)?[\s*_]*[:\-]?[\s*_]*",
    re.IGNORECASE,
)
# A digit after a point or a comma continues a number (0.5). A mark that another mark follows ends
# nothing (..., !?). A hyphen is a dash only after a blank.
_END = re.compile(
    rf"\s*\Z|\r?\n|(?:[.,](?!\d)|[!;])(?![{_BEHIND_ANSWERS})\]}}]*[.,;:!?\u2026])"
    r"|(?<=\s)-|[\u2013\u2014]"
)


def votes_of(samples: Sequence[Sample], answers: Sequence[str]) -> Votes:
    """Count how many of the sampled replies vote for each answer."""
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
    """Return a sampled reply's answer; None if the reply is ambiguous or has no answer."""
    read = read_answer(sample.reply, answers)
    if sample.state == "cut" and read_answer(f"{sample.reply}x", answers) != read:
        return None
    return read


def read_answer(reply: str, answers: Sequence[str]) -> str | None:
    """Return the answer in a reply; None if the reply is ambiguous or contains no answer."""
    answers = strings(answers, "answers")
    reply = comparable(reply)
    bare = _BULLET.sub("", reply).lstrip(_DECORATION)
    led = _LEAD.match(bare)
    before = reply[: len(reply) - len(bare)]
    return _read(reply, answers) or (_read(before + bare[led.end() :], answers) if led else None)


def _read(text: str, answers: Sequence[str]) -> str | None:
    """Return the answer that begins a text; None if the text contains two answers or none."""
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
    """Return the rest of a text after a leading answer; None if there is no such answer."""
    if not form:
        return None
    opened = _opened(text, form)
    behind = opened[len(form) :]
    if opened[: len(form)].casefold() != form or not _ends(behind, text[: -len(opened)]):
        return None
    return None if form.isdecimal() and behind.strip(_AROUND_A_NUMBER) else behind


def _ends(behind: str, before: str) -> bool:
    """Return whether a sentence or line of a model's reply ends right after the answer."""
    closed = "".join(close for opens, close in _CLOSES.items() if opens in before)
    ended = len(behind) - len(behind.lstrip(_BEHIND_ANSWERS + closed))
    return _END.match(behind, ended) is not None


def _bare(answer: str) -> str:
    return comparable(answer).strip(_AROUND_ANSWERS)


def _opened(text: str, form: str) -> str:
    """Remove a leading bullet, and leading decoration that is not part of the answer."""
    return _BULLET.sub("", text).lstrip(_DECORATION.replace(form[0], ""))


def _holds(text: str, form: str) -> bool:
    """Return whether a text contains an answer as a whole word."""
    return re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) is not None
