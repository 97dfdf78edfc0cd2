"""Sampling prompts: texts for which a model generates several replies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from tacit.requests.kind import Key

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


class SamplingKind:
    """Defines how sampled replies are stored: each reply is stored separately. See ``Kind``."""

    folder = "votes"
    unsupported = "does not return sampled replies, as servers with --api chat --samples N do"

    def merge(self, requests: Iterable[SamplingPrompt]) -> list[SamplingPrompt]:
        """Merge prompts with the same text into one prompt that requests all their replies."""
        numbers: dict[str, dict[int, None]] = {}
        for prompt in requests:
            numbers.setdefault(prompt.text, {}).update(dict.fromkeys(prompt.numbers))
        return [SamplingPrompt(text, tuple(of)) for text, of in numbers.items()]

    def keys(self, request: SamplingPrompt) -> list[Key]:
        """Return the key of each reply in the score store."""
        return [(request.text, number) for number in request.numbers]

    def without(self, request: SamplingPrompt, cached: Collection[Key]) -> SamplingPrompt | None:
        """Return a prompt for the uncached replies only; None if all replies are cached."""
        lacking = tuple(n for n in request.numbers if (request.text, n) not in cached)
        return SamplingPrompt(request.text, lacking) if lacking else None

    def text(self, request: SamplingPrompt) -> tuple[str, ...]:
        """Return the prompt's text, as a tuple with one element."""
        return (request.text,)

    def shared(self, requests: Iterable[SamplingPrompt]) -> Mapping[str, Any]:  # noqa: ARG002 - see Kind
        """Return an empty mapping: sampling prompts share no objects, such as vocabularies."""
        return {}

    def row(self, request: SamplingPrompt) -> dict[str, Any]:
        """Return a dictionary with the prompt's ``text`` and its reply ``numbers``."""
        return {"text": request.text, "numbers": list(request.numbers)}

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> SamplingPrompt:  # noqa: ARG002 - see Kind
        """Restore the prompt from a dictionary that the method ``row`` returned."""
        return SamplingPrompt(row["text"], tuple(row["numbers"]))

    def check(self, request: SamplingPrompt, answer: Samples) -> str | None:
        """Return an error message if the number of replies differs from the number requested."""
        if len(answer.replies) != len(request.numbers):
            return "returned a different number of replies than requested"
        return None

    def missing(self, request: SamplingPrompt, reason: str) -> Samples:  # noqa: ARG002 - see Kind
        """Return ``Samples`` without replies, as the answer to a skipped prompt."""
        return Samples(())

    def schema(self) -> Mapping[str, Any]:
        """Return the columns of a table with one row per reply.

        The column ``state`` contains the way in which a reply ended; see ``State``.
        """
        import polars as pl

        return {"text": pl.String, "number": pl.Int32, "reply": pl.String, "state": pl.String}

    def frame(self, requests: Sequence[SamplingPrompt], answers: Sequence[Samples]) -> pl.DataFrame:
        """Return the replies to several texts as a table with one row per reply."""
        import polars as pl

        rows = [
            (prompt.text, number, one.reply, one.state)
            for prompt, samples in zip(requests, answers, strict=True)
            for number, one in zip(prompt.numbers, samples.replies, strict=True)
        ]
        return pl.DataFrame(rows, schema=dict(self.schema()), orient="row")

    def files(self, requests: Iterable[SamplingPrompt]) -> Mapping[str, bytes]:  # noqa: ARG002 - see Kind
        """Return an empty mapping, because stored rows with sampled replies refer to no files."""
        return {}

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the reply that was stored first for each pair of text and reply number."""
        return rows.unique(subset=("text", "number"), keep="first", maintain_order=True)

    def cached(self, rows: pl.DataFrame) -> CachedSamples:
        """Convert rows of the score store to an object that looks up sampled replies."""
        columns = rows.select("text", "number", "reply", "state").iter_rows()
        return CachedSamples(
            {(text, number): Sample(reply, state) for text, number, reply, state in columns}
        )


class CachedSamples:
    """Cached replies, which can be looked up by text and reply number. See ``Cached``."""

    def __init__(self, samples: Mapping[Key, Sample]) -> None:
        self._samples = samples

    @property
    def keys(self) -> Collection[Key]:
        """The keys of all cached replies."""
        return self._samples.keys()

    def answer(self, request: SamplingPrompt) -> Samples:
        """Return the cached replies to a prompt's text."""
        return Samples(tuple(self._samples[request.text, n] for n in request.numbers))
