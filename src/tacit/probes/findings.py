"""What a probe finds: tables, and the few figures that a person reads first."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl

    from tacit.prompts import Prompt, Votes
    from tacit.rankings import RankingPrompt


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

    def skipped(
        self, prompts: Collection[tuple[Prompt, str] | tuple[RankingPrompt, str]]
    ) -> Findings:
        """The same, with the prompts that were too long: counted in the summary, and as a table.

        Args:
            prompts: The prompts, each with the message that says how long it is.

        Returns:
            The findings. Their table ``skipped`` (text, separator, reason) exists only if a prompt
            was skipped.
        """
        import polars as pl

        found = replace(self, summary={**self.summary, "skipped": len(prompts)})
        if not prompts:
            return found
        rows = [(one.text, one.separator, reason) for one, reason in prompts]
        columns = dict.fromkeys(("text", "separator", "reason"), pl.String)
        table = pl.DataFrame(rows, columns, orient="row")
        return replace(found, tables={**found.tables, "skipped": table})


def votes_summary(votes: Sequence[Votes]) -> dict[str, Any]:
    """How many replies there were, and how many could not be read."""
    return {
        "replies": sum(each.parsed + each.unparsed for each in votes),
        "unparsed": sum(each.unparsed for each in votes),
        "truncated": sum(each.truncated for each in votes),
    }
