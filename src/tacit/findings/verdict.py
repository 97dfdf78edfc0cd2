"""The verdict on a run: one rule for every probe, applied before any other result is reported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from tacit.english import several
from tacit.findings.numbers import percent

Name = Literal["constant", "too few data", "no signal", "weak", "clear"]

CONSTANT = 0.95
"""The share of equal answers from which a model counts as constant."""

_NEXT_STEPS: Mapping[Name, str] = {
    "constant": "Next: other prompts, or the chat format, may lead to other answers.",
    "too few data": "Next: use more data, for example without --limit or with a longer list.",
}

WIDEST = 0.5
"""The largest width of an interval, as a share of its scale, from which a verdict is made."""


@dataclass(frozen=True, slots=True)
class TopAnswer:
    """The most frequent answer of a model, and its share of the ``n`` answers."""

    answer: str
    share: float
    n: int

    @classmethod
    def of(cls, answers: Iterable[str]) -> TopAnswer | None:
        """Count answers; None if there are none."""
        counts = Counter(answers)
        n = counts.total()
        if not n:
            return None
        answer, count = max(counts.items(), key=lambda item: (item[1], item[0]))
        return cls(answer, count / n, n)


@dataclass(frozen=True, slots=True)
class Measured:
    """A measure with its 95 % interval and its chance level."""

    name: str
    low: float | None
    high: float | None
    chance: float
    scale: float = 1.0
    why: str | None = None

    @property
    def usable(self) -> bool:
        """Whether the interval exists and is narrow enough for a verdict."""
        if self.low is None or self.high is None:
            return False
        return self.high - self.low <= WIDEST * self.scale

    @property
    def above(self) -> bool:
        """Whether the whole interval lies above chance."""
        return self.low is not None and self.low > self.chance


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a run shows, and why, as a clause ready to print."""

    name: Name
    reason: str

    @property
    def shows_something(self) -> bool:
        """Whether a gain or a prediction may be announced."""
        return self.name in {"weak", "clear"}

    @property
    def next_step(self) -> str | None:
        """What may lead to another verdict; None if that is unknown."""
        return _NEXT_STEPS.get(self.name)

    @classmethod
    def of(cls, written: Mapping[str, Any]) -> Verdict:
        """Return the verdict that ``to_json`` wrote."""
        return cls(written["verdict"], written["reason"])

    def to_json(self) -> dict[str, Any]:
        """Return the verdict for the summary of the findings."""
        return {"verdict": self.name, "reason": self.reason}

    def __str__(self) -> str:
        return f"Verdict: {self.name} ({self.reason})."


def verdict(  # noqa: PLR0913 - all of the rule in one call
    top: TopAnswer | None,
    clusters: int,
    fewest: int,
    measures: Sequence[Measured],
    *,
    noun: tuple[str, ...],
    also: Sequence[Measured] = (),
    control: str | None = None,
) -> Verdict:
    """Return the first of the five verdicts that holds; ``noun`` is a cluster, and its plural."""
    if top is not None and top.share >= CONSTANT:
        return Verdict("constant", f"{percent(top.share)} of {top.n:,} answers are “{top.answer}”")
    if clusters < fewest:
        return Verdict("too few data", f"{several(clusters, *noun)}; at least {fewest} are needed")
    for one in measures:
        if not one.usable:
            reason = one.why or f"the interval of {one.name} is missing or too wide"
            return Verdict("too few data", reason)
    return _signal(measures, also, control)


def _signal(measures: Sequence[Measured], also: Sequence[Measured], control: str | None) -> Verdict:
    above = [one.name for one in measures if one.above]
    below = [one.name for one in measures if not one.above]
    exceeding = above or [one.name for one in also if one.above]
    if not exceeding:
        not_above = "do" if len(below) > 1 else "does"
        return Verdict("no signal", f"{' and '.join(below)} {not_above} not exceed chance")
    if below:
        return Verdict("weak", f"{exceeding[0]} exceeds chance, but {below[0]} does not")
    if control is not None:
        return Verdict("weak", control)
    return Verdict("clear", f"{' and '.join(above)} exceed{'' if len(above) > 1 else 's'} chance")
