"""Sampling prompts: texts for which a model generates several replies."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.requests.kind import Key, Kind, StoredValues

State = Literal["whole", "cut", "thinking"]
"""How a reply ended: complete, truncated, or truncated before the reasoning ended."""


@dataclass(frozen=True, slots=True)
class SamplingPrompt:
    """A text for which several replies are sampled from a model.

    Args:
        text: The text, which is sent as the user's message.
        numbers: The numbers that identify the sampled replies, such as 0, 1 and 2; the model
            generates one reply per number.

    Examples:
        >>> from tacit import SamplingPrompt
        >>> SamplingPrompt("Is ice cold?", numbers=(0, 1, 2)).numbers
        (0, 1, 2)
    """

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One reply that was sampled from a model.

    Args:
        reply: The text of the reply, without the reasoning that precedes it.
        state: The way in which the reply ended; see ``State``.

    Examples:
        >>> from tacit import Sample
        >>> Sample("Yes, it is.").state
        'whole'
    """

    reply: str
    state: State = "whole"


@dataclass(frozen=True, slots=True)
class Samples:
    """The sampled replies to a text, one for each element of ``SamplingPrompt.numbers``.

    Examples:
        >>> from tacit import Sample, Samples
        >>> len(Samples((Sample("Yes."), Sample("No."))).replies)
        2
    """

    replies: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Votes:
    """The number of sampled replies per answer, and the number of replies that cannot be parsed.

    Args:
        counts: Number of parsed replies for each answer.
        unparsed: Number of replies that do not clearly match one of the candidate answers.
        truncated: Number of unparsed replies that were truncated before the model's reasoning
            ended.

    Examples:
        >>> from tacit import Votes
        >>> Votes({"Yes": 8, "No": 2}, unparsed=1).counts["Yes"]
        8
    """

    counts: Mapping[str, int]
    unparsed: int = 0
    truncated: int = 0

    @property
    def parsed(self) -> int:
        """The number of parsed replies."""
        return sum(self.counts.values())

    def count(self, *answers: str) -> int:
        """Return the number of replies that match any of the given answers."""
        return sum(self.counts.get(answer, 0) for answer in answers)

    def share(self, *answers: str) -> float | None:
        """Return the share of parsed replies that match any of the given answers.

        The result is None if no reply could be parsed.
        """
        return self.count(*answers) / self.parsed if self.parsed else None

    def belief(self, positive: str, negative: str) -> float | None:
        """Return positive/(positive + negative), counted in replies; None if both counts are 0."""
        n = self.count(positive, negative)
        return self.count(positive) / n if n else None


class SamplingKind(Kind[SamplingPrompt, Samples]):
    """Each sampled reply is stored."""

    folder = "votes"
    unsupported = "does not return sampled replies, as servers with --api chat --samples N do"
    parts, keyed = "numbers", ("text", "number")

    def key(self, request: SamplingPrompt) -> Key:
        """Return the prompt's text."""
        return (request.text,)

    def schema(self) -> Mapping[str, Any]:
        """Return the stored columns; ``state`` is how a reply ended (see ``State``)."""
        import polars as pl

        return {"text": pl.String, "number": pl.Int32, "reply": pl.String, "state": pl.String}

    def rows(self, request: SamplingPrompt, answer: Samples) -> Iterable[tuple[Any, ...]]:
        """Return the number, text and state of each reply."""
        pairs = zip(request.numbers, answer.replies, strict=True)
        return ((number, one.reply, one.state) for number, one in pairs)

    def value(self, *row: Any) -> Sample:  # noqa: ANN401 - see Kind
        """Return a reply."""
        return Sample(*row[1:])

    def answer(self, request: SamplingPrompt, stored: StoredValues) -> Samples:
        """Return the replies of the requested numbers."""
        return Samples(tuple(map(stored[self.key(request)].__getitem__, request.numbers)))

    def check(self, request: SamplingPrompt, answer: Samples) -> str | None:
        """Return an error message if the number of replies differs from the number requested."""
        if len(answer.replies) != len(request.numbers):
            return "returned a different number of replies than requested"
        return None

    def missing(self, request: SamplingPrompt, reason: str) -> Samples:  # noqa: ARG002 - see Kind
        """Return no replies."""
        return Samples(())
