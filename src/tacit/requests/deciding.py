"""Decisions: prompts whose answers a model is offered as options, and their probabilities."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from tacit.errors import PromptError
from tacit.requests.kind import Key, Kind, StoredValues, improper, wrong
from tacit.requests.scoring import REFUSED, ZERO, AnswerScore, Prompt, Scores, shown

_PAIRS = ({"yes": True, "no": False}, {"true": True, "false": False})


@dataclass(frozen=True, slots=True)
class Decision:
    """A text and its answers, which are offered to the model as options.

    Unlike the scores of a prompt's answers, the probabilities of options depend on one another, so
    decisions with different options have nothing in common.

    Raises:
        PromptError: If the text is blank, or the options cannot be offered together.
    """

    text: str
    options: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.text.strip():
            raise PromptError("an empty prompt cannot be put to a model that decides: give a text")
        if len(self.options) < 2:  # noqa: PLR2004 - there is nothing to decide
            raise PromptError(
                f"{self.shown} has one answer, and a model that decides needs at least two options"
            )
        if any(not one.strip() or not one.isprintable() for one in self.options):
            raise PromptError(
                f"{self.shown} has an answer that is blank or has several lines, which cannot be "
                "offered as an option"
            )
        read = [one.strip().casefold() for one in self.options]
        if again := next((one for one in read if read.count(one) > 1), None):
            raise PromptError(
                f"{self.shown} has answers that differ only in case or white space ({again!r}); a "
                "model that decides reads them as the same option: give each answer once"
            )

    @classmethod
    def of(cls, prompt: Prompt) -> Self:
        """Return the decision between a prompt's answers; the separator has no meaning in it."""
        return cls(prompt.text, prompt.answers)

    @property
    def shown(self) -> str:
        """The words "the prompt", followed by at most 80 characters of the text."""
        return shown(self.text)

    @property
    def positive(self) -> str | None:
        """The option that says yes or true, if the only other one says no or false."""
        read = {one.strip().casefold(): one for one in self.options}
        for pair in _PAIRS:
            if read.keys() == pair.keys():
                return next(read[word] for word, is_true in pair.items() if is_true)
        return None


@dataclass(frozen=True, slots=True)
class Decided(Scores):
    """The log-probabilities of a decision's options, which together have a probability of 1.

    ``label_mass`` is the probability of all options' labels among everything that the model could
    write, if known. ``batch`` identifies the decisions that were sent in one request, and
    ``position`` is the decision's position among them.
    """

    label_mass: float | None = None
    batch: str = ""
    position: int = 0

    @classmethod
    def from_probabilities(
        cls, asked: Decision, probabilities: Mapping[str, float] | None, mass: float | None = None
    ) -> Self:
        """Return the answer to a decision; without probabilities, the model refused to decide."""
        if probabilities is None:
            return cls(tuple(AnswerScore(one, None, 0, missing=REFUSED) for one in asked.options))
        values = ((one, probabilities[one]) for one in asked.options)
        return cls(
            tuple(
                AnswerScore(one, math.log(p), 0) if p else AnswerScore(one, None, 0, missing=ZERO)
                for one, p in values
            ),
            mass,
        )

    @property
    def probabilities(self) -> dict[str, float]:
        """The probability of each option; empty if the model refused to decide."""
        if all(one.logprob is None for one in self.answers):
            return {}
        return {
            one.answer: 0.0 if one.logprob is None else math.exp(one.logprob)
            for one in self.answers
        }

    def most(self) -> list[float]:
        """See ``Scores.most``; a probability that is reported as 0 is not above the others."""
        known = [one.logprob for one in self.answers if one.logprob is not None]
        edge = {ZERO: min(known, default=math.inf)}
        return [
            edge.get(one.missing or "", math.inf) if one.logprob is None else one.logprob
            for one in self.answers
        ]

    @property
    def reasons(self) -> list[str | None]:
        """See ``Scores.reasons``; a decision that was refused is one missing answer."""
        found = [one.missing for one in self.answers if one.logprob is None]
        return [REFUSED] if REFUSED in found else found


def distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the largest difference between the probabilities of options."""
    return max(abs(p - other.get(option, 0.0)) for option, p in one.items())


class DecisionKind(Kind[Decision, Decided]):
    """The probability of each option is stored with all options of its decision in the key."""

    folder = "decisions"
    unsupported = "does not decide between options, as servers with --api decisions do"
    parts, keyed = "options", ("text", "options", "option")

    def key(self, request: Decision) -> Key:
        """Return the text and all options."""
        return request.text, json.dumps(request.options, ensure_ascii=False)

    def with_parts(self, request: Decision, parts: Iterable[str]) -> Decision:  # noqa: ARG002 - see Kind
        """Return the whole request, since a decision cannot be asked in part."""
        return request

    def schema(self) -> Mapping[str, Any]:
        """Return the stored columns; ``batch`` and ``position`` say with what it was asked."""
        import polars as pl

        return {
            "text": pl.String,
            "options": pl.String,
            "option": pl.String,
            "logprob": pl.Float64,
            "reason": pl.String,
            "label_mass": pl.Float64,
            "batch": pl.String,
            "position": pl.Int32,
        }

    def rows(self, request: Decision, answer: Decided) -> Iterable[tuple[Any, ...]]:  # noqa: ARG002 - see Kind
        """Return the log-probability of each option, with what is known of the decision."""
        about = (answer.label_mass, answer.batch, answer.position)
        return ((one.answer, one.logprob, one.missing, *about) for one in answer.answers)

    def value(self, *row: Any) -> tuple[Any, ...]:  # noqa: ANN401 - see Kind
        """Return the values of a row."""
        return row

    def answer(self, request: Decision, stored: StoredValues) -> Decided:
        """Return the log-probabilities of the options."""
        values = stored[self.key(request)]
        rows = [values[option] for option in request.options]
        scores = tuple(AnswerScore(row[0], row[1], 0, missing=row[2]) for row in rows)
        return Decided(scores, *rows[0][3:])

    def check(self, request: Decision, answer: Decided) -> str | None:
        """Return an error message if the options or their log-probabilities are invalid."""
        if tuple(one.answer for one in answer.answers) != request.options:
            return f"decided between other options than those of {request.shown}"
        for one in answer.answers:
            if improper(one.logprob):
                return wrong(one.logprob, f"the option {one.answer!r} of {request.shown}")
        return None

    def missing(self, request: Decision, reason: str) -> Decided:
        """Return a missing score for each option."""
        return Decided(tuple(AnswerScore(one, None, 0, missing=reason) for one in request.options))
