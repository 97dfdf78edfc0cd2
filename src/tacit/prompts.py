"""What a model is asked, and two of the three shapes that its answers come in.

A prompt is a text with at most one blank, and its candidate answers. The answer follows the text
unless the text has a blank. Scores are raw: every normalisation is derived later, without a model.
The third shape is a ranking of many answers that prompts share (``tacit.rankings``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import PromptError
from tacit.strings import convert_strings

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BLANK = "___"
"""Three underscores stand for the blank; a longer or shorter run of them is plain text."""

_BLANK = re.compile(r"(?<!_)___(?!_)")

UNKNOWN = "holds a token that the model does not know"
OUTSIDE = "not among the most probable tokens that the server returns"
OUTSIDE_FIRST = (
    "not among the most probable first tokens that the server returns, or of several tokens"
)
"""Why an answer has no score, where that says how probable it is; models have other reasons too."""

UNSAID = "the server says nothing of one of its tokens"
UNSAID_FIRST = "the server says nothing of the reply's first token"
FOR_NOW = frozenset({UNSAID, UNSAID_FIRST})
"""Why an answer has no score yet: it is asked for again by the next run."""

TOO_LONG = "the prompt is longer than the model's window"
"""Why the answers to a skipped prompt have no score."""


def shown(text: str) -> str:
    """A prompt as an error message names it: its text, cut to 80 characters."""
    cut = 80
    return f"the prompt {text if len(text) <= cut else text[: cut - 1] + '…'!r}"


@dataclass(frozen=True, slots=True)
class Prompt:
    """A text with at most one blank, and its candidate answers.

    Args:
        text: The text; ``___`` in it is the blank. It may be empty.
        answers: The candidates, at least one, none of them empty. A list becomes a tuple.
        separator: Stands between text and answer when there is no blank; it is scored with the
            answer.

    Raises:
        PromptError: No answer, an empty one, more than one blank, or half a character.
        RequestError: The answers are one string.
    """

    text: str
    answers: tuple[str, ...]
    separator: str = " "

    def __post_init__(self) -> None:
        convert_strings(self, "answers")
        if not self.answers:
            raise PromptError(f"{self.shown} has no answers; give at least one")
        if not all(self.answers):
            raise PromptError(f"{self.shown} has an empty answer; every answer needs a character")
        blanks = len(_BLANK.findall(self.text))
        if blanks > 1:
            raise PromptError(f"{self.shown} has {blanks} blanks ({BLANK}); one is the most")
        try:
            "".join((self.text, self.separator, *self.answers)).encode()
        except UnicodeEncodeError as error:
            half = ascii(error.object[error.start])
            raise PromptError(
                f"{self.shown} or an answer holds {half}, half of a character: write all of it"
            ) from error

    @property
    def shown(self) -> str:
        """The prompt as an error message names it: its text, cut to 80 characters."""
        return shown(self.text)

    @property
    def around(self) -> tuple[str, str] | None:
        """The text before and after the blank, or None without a blank."""
        match = _BLANK.search(self.text)
        return match and (self.text[: match.start()], self.text[match.end() :])


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """The score of one answer.

    Args:
        answer: The answer.
        logprob: Sum of the log-probabilities, in nats, of the tokens that cover the separator and
            the answer, end token not included; None where it could not be had.
        tokens: How many tokens these are; 0 where unknown.
        spanned: Whether its first token also covers characters of the text, which were then
            scored with it.
        missing: Why there is no log-probability; None where there is one, or nobody knows.
    """

    answer: str
    logprob: float | None
    tokens: int
    spanned: bool = False
    missing: str | None = None

    @property
    def bytes(self) -> int:
        """The answer's length in UTF-8 bytes."""
        return len(self.answer.encode())


@dataclass(frozen=True, slots=True)
class LogProbs:
    """The scores of a prompt's answers, in the order of its answers."""

    answers: tuple[AnswerScore, ...]

    @classmethod
    def without(cls, prompt: Prompt, reason: str) -> LogProbs:
        """Scores of a prompt that are all missing, for one reason."""
        return cls(tuple(AnswerScore(one, None, 0, missing=reason) for one in prompt.answers))

    def __getitem__(self, answer: str) -> AnswerScore:
        """The score of one answer.

        Raises:
            KeyError: The prompt had no such answer.
        """
        for score in self.answers:
            if score.answer == answer:
                return score
        raise KeyError(answer)


@dataclass(frozen=True, slots=True)
class Votes:
    """How often each answer came among sampled ones, and how many could not be read.

    Args:
        counts: By the answer.
        unparsed: Samples that are no answer for certain.
        truncated: How many of the unparsed were cut before the model had ended its thought.
    """

    counts: Mapping[str, int]
    unparsed: int = 0
    truncated: int = 0

    @property
    def parsed(self) -> int:
        """How many samples could be read."""
        return sum(self.counts.values())

    def count(self, *answers: str) -> int:
        """How many samples were one of some answers."""
        return sum(self.counts.get(answer, 0) for answer in answers)

    def share(self, *answers: str) -> float | None:
        """The share of some answers among the readable samples; None where there are none."""
        return self.count(*answers) / self.parsed if self.parsed else None


def missing_by_reason(scores: Iterable[LogProbs]) -> dict[str, int]:
    """How many answers have no score, by why, in the order of the alphabet."""
    answers = (one for score in scores for one in score.answers if one.logprob is None)
    counts = Counter(one.missing or "why was not kept" for one in answers)
    return dict(sorted(counts.items()))


def log_sum_exp(values: Sequence[float]) -> float:
    """Log of the summed probabilities, in nats; of none, minus infinity."""
    top = max(values, default=-math.inf)
    if math.isinf(top):
        return top
    return top + math.log(math.fsum(math.exp(value - top) for value in values))
