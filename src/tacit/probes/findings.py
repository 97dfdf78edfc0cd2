"""What a probe finds: tables, and the few figures that a person reads first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.prompts import Votes


@dataclass(frozen=True)
class Findings:
    """The outcome of a probe.

    Args:
        questions: What was asked and answered, one row per distinct question.
        tables: The findings' tables by name.
        summary: Counts and figures, ready for JSON; None where a figure is undefined.
    """

    questions: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    summary: Mapping[str, Any]

    def obtained(self, how: str | None) -> Findings:
        """The same, whose summary says first how the beliefs were obtained; None says nothing."""
        return self if how is None else replace(self, summary={"obtained": how, **self.summary})

    def unscored(self, reasons: Mapping[str, int]) -> Findings:
        """The same, whose summary counts the answers that have no score, by why."""
        return replace(self, summary={**self.summary, "unscored": dict(reasons)})


def votes_summary(votes: Sequence[Votes]) -> dict[str, Any]:
    """How many replies there were, and how many could not be read."""
    return {
        "replies": sum(each.parsed + each.unparsed for each in votes),
        "unparsed": sum(each.unparsed for each in votes),
        "truncated": sum(each.truncated for each in votes),
    }
