"""Sampling: what a model replies to a text, several times.

A reply is kept as the model wrote it. Which answer it is, is read off it later: other answers ask
nothing, and more samples ask only those that are lacking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from tacit.requests.kind import Key

State = Literal["whole", "cut", "thinking"]
"""Whether a reply ended by itself, was cut, or was cut before its thought had ended."""


@dataclass(frozen=True, slots=True)
class SamplingPrompt:
    """A text for which several replies are sampled.

    Args:
        text: What the user says.
        numbers: Which samples, counted from 0; another number is another sample.

    Examples:
        >>> from tacit import SamplingPrompt
        >>> SamplingPrompt("Is ice cold?", numbers=(0, 1, 2)).numbers
        (0, 1, 2)
    """

    text: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Sample:
    """One sampled reply.

    Args:
        reply: Its text, without the thought before it.
        state: How it ended.

    Examples:
        >>> from tacit import Sample
        >>> Sample("Yes, it is.").state
        'whole'
    """

    reply: str
    state: State = "whole"


@dataclass(frozen=True, slots=True)
class Samples:
    """The sampled replies to a text, one for each number of the prompt.

    Examples:
        >>> from tacit import Sample, Samples
        >>> len(Samples((Sample("Yes."), Sample("No."))).replies)
        2
    """

    replies: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class Votes:
    """The number of sampled replies that give each answer, and of those that cannot be read.

    Args:
        counts: By the answer.
        unparsed: Samples that are no answer for certain.
        truncated: How many of the unparsed were cut before the model had ended its thought.

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
        """How many samples could be read."""
        return sum(self.counts.values())

    def count(self, *answers: str) -> int:
        """How many samples were one of some answers."""
        return sum(self.counts.get(answer, 0) for answer in answers)

    def share(self, *answers: str) -> float | None:
        """The share of some answers among the readable samples; None where there are none."""
        return self.count(*answers) / self.parsed if self.parsed else None

    def belief(self, positive: str, negative: str) -> float | None:
        """The share of an answer among the samples that are this or another one."""
        n = self.count(positive, negative)
        return self.count(positive) / n if n else None


class SamplingKind:
    """How sampling is handled; each reply is a part. See ``Kind``."""

    folder = "votes"
    unsupported = "gives no sampled replies: leave --samples off"

    def merge(self, requests: Iterable[SamplingPrompt]) -> list[SamplingPrompt]:
        """Those of one text are one, with all their numbers."""
        numbers: dict[str, dict[int, None]] = {}
        for prompt in requests:
            numbers.setdefault(prompt.text, {}).update(dict.fromkeys(prompt.numbers))
        return [SamplingPrompt(text, tuple(of)) for text, of in numbers.items()]

    def keys(self, request: SamplingPrompt) -> list[Key]:
        """One for each reply."""
        return [(request.text, number) for number in request.numbers]

    def without(self, request: SamplingPrompt, cached: Collection[Key]) -> SamplingPrompt | None:
        """Without the replies that are cached."""
        lacking = tuple(n for n in request.numbers if (request.text, n) not in cached)
        return SamplingPrompt(request.text, lacking) if lacking else None

    def text(self, request: SamplingPrompt) -> tuple[str, ...]:
        """The text."""
        return (request.text,)

    def shared(self, requests: Iterable[SamplingPrompt]) -> Mapping[str, Any]:  # noqa: ARG002 - see Kind
        """Nothing."""
        return {}

    def row(self, request: SamplingPrompt) -> dict[str, Any]:
        """Text and numbers."""
        return {"text": request.text, "numbers": list(request.numbers)}

    def request(self, row: Mapping[str, Any], shared: Mapping[str, Any]) -> SamplingPrompt:  # noqa: ARG002 - see Kind
        """The prompt of a row."""
        return SamplingPrompt(row["text"], tuple(row["numbers"]))

    def check(self, request: SamplingPrompt, answer: Samples) -> str | None:
        """Whether these are as many replies as were asked for."""
        if len(answer.replies) != len(request.numbers):
            return "gave another number of replies than asked"
        return None

    def missing(self, request: SamplingPrompt, reason: str) -> Samples:  # noqa: ARG002 - see Kind
        """No replies."""
        return Samples(())

    def schema(self) -> Mapping[str, Any]:
        """A row for each reply; ``state`` says how it ended."""
        import polars as pl

        return {"text": pl.String, "number": pl.Int32, "reply": pl.String, "state": pl.String}

    def frame(self, requests: Sequence[SamplingPrompt], answers: Sequence[Samples]) -> pl.DataFrame:
        """The rows of some texts' replies."""
        import polars as pl

        rows = [
            (prompt.text, number, one.reply, one.state)
            for prompt, samples in zip(requests, answers, strict=True)
            for number, one in zip(prompt.numbers, samples.replies, strict=True)
        ]
        return pl.DataFrame(rows, schema=dict(self.schema()), orient="row")

    def files(self, requests: Iterable[SamplingPrompt]) -> Mapping[str, bytes]:  # noqa: ARG002 - see Kind
        """None."""
        return {}

    def settled(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The reply that was stored first."""
        return rows.unique(subset=("text", "number"), keep="first", maintain_order=True)

    def cached(self, rows: pl.DataFrame) -> CachedSamples:
        """The replies that rows hold."""
        columns = rows.select("text", "number", "reply", "state").iter_rows()
        return CachedSamples(
            {(text, number): Sample(reply, state) for text, number, reply, state in columns}
        )


class CachedSamples:
    """Replies by text and number; see ``Cached``."""

    def __init__(self, samples: Mapping[Key, Sample]) -> None:
        self._samples = samples

    @property
    def keys(self) -> Collection[Key]:
        """All."""
        return self._samples.keys()

    def answer(self, request: SamplingPrompt) -> Samples:
        """The replies to a text."""
        return Samples(tuple(self._samples[request.text, n] for n in request.numbers))
