"""Scoring prompts, for which a model computes log-probabilities of candidate answers."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from tacit.errors import PromptError
from tacit.requests.kind import Kind, StoredValues, improper, wrong
from tacit.strings import convert_strings

_LARGEST = 700.0  # the exponential of a larger number may overflow

BLANK = "___"
"""The blank: exactly three underscores.

Fewer or more than three consecutive underscores are plain text.
"""

_BLANK = re.compile(r"(?<!_)___(?!_)")

UNKNOWN = "contains a token that the model does not know"
OUTSIDE = "not among the most probable tokens that the server returns"
OUTSIDE_FIRST = (
    "not among the most probable first tokens that the server returns, or has several tokens"
)
"""Reason for an answer's missing score if a server returns only likely first tokens.

If an answer is not among the first tokens that the server returns, its probability is at most the
lowest probability that is returned.
"""

UNSAID = "the server returns no value for one of its tokens"
UNSAID_FIRST = "the server returns no value for the first token of the reply"
REFUSED = "the server refuses to decide"
ZERO = "the server reports a probability of 0"
FOR_NOW = frozenset({UNSAID, UNSAID_FIRST})
"""Reasons why a score is temporarily missing; the next run requests the score again."""

TOO_LONG = "the prompt exceeds the model's context window"
"""The reason for the missing scores of a prompt that is too long."""


def shown(text: str) -> str:
    """Return the words "the prompt", followed by the start of ``text`` in quotes.

    At most 80 characters of ``text`` are included.
    """
    cut = 80
    return f"the prompt {text if len(text) <= cut else text[: cut - 1] + '…'!r}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with at most one blank, and its candidate answers.

    Args:
        text: The text, which may be empty. ``___`` marks the blank.
        answers: The candidate answers: at least one, and none of them empty. A list is converted to
            a tuple.
        separator: Text that is inserted between the prompt's text and the answer if the text does
            not contain the blank ``___``. The score of an answer includes the separator.

    Raises:
        PromptError: If the prompt has no answer, an empty answer, more than one blank, or a lone
            surrogate (half a character).
        RequestError: If ``answers`` is a single string.

    Examples:
        >>> from tacit import Prompt
        >>> Prompt("A ___ has fur.", ("bear", "car")).answers
        ('bear', 'car')
    """

    text: str
    answers: tuple[str, ...]
    separator: str = " "

    def __post_init__(self) -> None:
        convert_strings(self, "answers")
        if not self.answers:
            raise PromptError(f"{self.shown} has no answers; give at least one")
        if not all(self.answers):
            raise PromptError(
                f"{self.shown} has an empty answer; every answer needs at least one character"
            )
        blanks = len(_BLANK.findall(self.text)) if BLANK in self.text else 0
        if blanks > 1:
            raise PromptError(f"{self.shown} has {blanks} blanks ({BLANK}); at most one is allowed")
        whole = "".join((self.text, self.separator, *self.answers))
        try:
            whole.isascii() or whole.encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])
            raise PromptError(
                f"{self.shown} or one of its answers contains {half}, half of a surrogate pair: "
                "write the whole character"
            ) from error

    @property
    def shown(self) -> str:
        """The words "the prompt", followed by at most 80 characters of the prompt's text."""
        return shown(self.text)

    @property
    def around(self) -> tuple[str, str] | None:
        """The text before and the text after the blank, or None if there is no blank."""
        match = _BLANK.search(self.text) if BLANK in self.text else None
        return match and (self.text[: match.start()], self.text[match.end() :])


_DOUBLED = re.compile(r"\s[^\S\r\n]|[\r\n]{2}")
"""White space that repeats where two texts are joined; a blank before a line break is fine."""


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """A model's score of one candidate answer.

    Args:
        answer: The text of the candidate answer.
        logprob: Sum of the log-probabilities, in nats, of the tokens that cover the separator and
            the answer. The value of ``logprob`` does not include the log-probability of an
            end-of-sequence token after the answer. None if the log-probability is unavailable.
        tokens: Number of tokens that cover the separator and the answer; 0 if unknown.
        spanned: Whether the first or the last scored token also covers characters of the prompt's
            text. If ``spanned`` is True, the score also covers characters outside the answer,
            because each token is scored as a whole.
        missing: The reason why the answer has no log-probability. ``missing`` is None if the answer
            has a log-probability, or if it is unknown why the log-probability is missing.

    Examples:
        >>> from tacit import AnswerScore
        >>> AnswerScore("Paris", logprob=-0.5, tokens=1).logprob
        -0.5
    """

    answer: str
    logprob: float | None
    tokens: int
    spanned: bool = False
    missing: str | None = None

    @property
    def bytes(self) -> int:
        """The length of the answer in UTF-8 bytes."""
        return len(self.answer.encode())


@dataclass(frozen=True, slots=True)
class Scores:
    """The scores of a prompt's answers, in the order of the prompt's answers.

    Examples:
        >>> from tacit import AnswerScore, Scores
        >>> scores = Scores((AnswerScore("Yes", -0.1, 1), AnswerScore("No", -2.3, 1)))
        >>> scores["No"].logprob
        -2.3
    """

    answers: tuple[AnswerScore, ...]

    def belief(self, positive: str, negative: str) -> float | None:
        """Return P(positive)/(P(positive) + P(negative)), or None if either answer has no score.

        Raises:
            KeyError: If ``positive`` or ``negative`` is not one of the scored answers.
        """
        yes, no = (
            -math.inf if one.missing == ZERO else one.logprob
            for one in (self[positive], self[negative])
        )
        if yes is None or no is None or yes == no == -math.inf:
            return None
        return 1 / (1 + math.exp(min(no - yes, _LARGEST)))

    def most(self) -> list[float]:
        """Return the highest value that each answer's log-probability can have, in nats.

        The value of a known log-probability is itself. An answer that contains an unknown token
        has a probability of 0. An answer outside the most probable tokens that a server returns is
        at most as probable as the least probable one of them. Any other missing log-probability
        has no bound (infinity).
        """
        # An answer that shares a token with its text is conditioned on a different text.
        edge = min(
            (
                one.logprob
                for one in self.answers
                if one.logprob is not None and one.tokens == 1 and not one.spanned
            ),
            default=math.inf,
        )
        return [
            one.logprob if one.logprob is not None else _most(one, edge) for one in self.answers
        ]

    @property
    def reasons(self) -> list[str | None]:
        """Why answers have no score: one reason for each of these, or None if it is unknown."""
        return [one.missing for one in self.answers if one.logprob is None]

    def __getitem__(self, answer: str) -> AnswerScore:
        """Return the score of one answer."""
        for score in self.answers:
            if score.answer == answer:
                return score
        raise KeyError(answer)


def _most(one: AnswerScore, edge: float) -> float:
    if one.missing == UNKNOWN:
        return -math.inf
    return edge if one.missing in {OUTSIDE, OUTSIDE_FIRST} and not one.spanned else math.inf


class ScoringKind(Kind[Prompt, Scores]):
    """The score of each answer is stored; a temporarily missing one is requested again."""

    folder = "scores"
    unsupported = "does not score answers and only returns sampled replies"
    parts, keyed, for_now = "answers", ("text", "separator", "answer"), FOR_NOW

    key = attrgetter("text", "separator")

    def schema(self) -> Mapping[str, Any]:
        """Return the stored columns; ``logprob`` is in nats, ``reason`` says why it is missing."""
        import polars as pl

        return {
            "text": pl.String,
            "separator": pl.String,
            "answer": pl.String,
            "logprob": pl.Float64,
            "tokens": pl.Int32,
            "spanned": pl.Boolean,
            "reason": pl.String,
        }

    def rows(self, request: Prompt, answer: Scores) -> Iterable[tuple[Any, ...]]:  # noqa: ARG002 - see Kind
        """Return the values of each ``AnswerScore``."""
        return map(attrgetter("answer", "logprob", "tokens", "spanned", "missing"), answer.answers)

    value = AnswerScore

    def answer(self, request: Prompt, stored: StoredValues) -> Scores:
        """Return the scores of the prompt's answers."""
        return Scores(tuple(map(stored[self.key(request)].__getitem__, request.answers)))

    def check(self, request: Prompt, answer: Scores) -> str | None:
        """Return an error message if the scored answers or their log-probabilities are invalid."""
        if tuple(map(attrgetter("answer"), answer.answers)) != request.answers:
            return f"scored answers other than those of {request.shown}"
        for one in answer.answers:
            if improper(one.logprob):
                return wrong(one.logprob, f"the answer {one.answer!r} to {request.shown}")
        return None

    def both_readings(
        self, request: Prompt, answers: Iterable[str] | None = None
    ) -> tuple[str, str] | None:
        """See ``Kind.both_readings``; without a separator, a prompt is meant as it is written."""
        text, separator, around = request.text, request.separator, request.around
        if not separator:
            return None
        if not around and _DOUBLED.match(text[-1:] + separator[:1]):
            first = request.answers[0]
            return text + separator + first, text + separator.lstrip() + first
        before, after = around or (text + separator, "")
        for answer in request.answers if answers is None else answers:
            bare = answer.strip()
            if bare == answer or not (
                _DOUBLED.match(before[-1:] + answer[:1]) or _DOUBLED.match(answer[-1:] + after[:1])
            ):
                continue
            if around:
                return before + answer + after, before + bare + after
            return before + answer, (before.rstrip() if separator.strip() else text) + answer
        return None

    def missing(self, request: Prompt, reason: str) -> Scores:
        """Return a missing score for each answer."""
        return Scores(tuple(AnswerScore(one, None, 0, missing=reason) for one in request.answers))


def missing_by_reason(scores: Iterable[Scores]) -> dict[str, int]:
    """Count, for each reason, the answers without a score; sort the reasons alphabetically."""
    reasons = (reason for score in scores for reason in score.reasons)
    counts = Counter(reason or "the reason was not recorded" for reason in reasons)
    return dict(sorted(counts.items()))


def log_sum_exp(values: Sequence[float]) -> float:
    """Return log(sum(exp(values))), in nats; minus infinity for an empty sequence."""
    if len(values) == 1:
        return values[0]
    top = max(values, default=-math.inf)
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
