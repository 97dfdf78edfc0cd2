"""The findings of a probe: tables, and a summary of the main results."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from tacit.findings.declared import Tables
from tacit.findings.spec import QUESTIONS, TableSpec, check_tables

if TYPE_CHECKING:
    import polars as pl

    from tacit.requests import Votes


SHARED = Tables("shared")
"""The tables of every probe."""

SHARED_DETAILS = Tables("shared", "details")
"""Tables that are printed and not stored."""

SKIPPED = "skipped"


@dataclass(frozen=True, repr=False)
class Findings:
    """The findings of a probe: the questions, the tables of results, and a summary.

    Args:
        questions: The questions and their answers, one row per distinct question.
        tables: The tables of results, by name.
        summary: Counts and main results as values that JSON can represent; an undefined result is
            None.

    Examples:
        >>> import polars as pl
        >>> from tacit import Findings
        >>> found = Findings(pl.DataFrame(), {"accuracy": pl.DataFrame({"n": [12]})})
        >>> found.tables["accuracy"]["n"].to_list()
        [12]
    """

    questions: pl.DataFrame
    tables: Mapping[str, pl.DataFrame]
    summary: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        tables = ", ".join(f"{name} {len(table)}" for name, table in self.tables.items())
        return f"Findings({len(self.questions)} questions; rows of tables: {tables})"

    def _repr_html_(self) -> str:
        """Return the first rows of each table as HTML, for display in notebooks."""
        return "".join(
            f"<b>{escape(name)}</b>{table.head()._repr_html_()}"
            for name, table in self.tables.items()
        )

    def check(self, declared: Iterable[TableSpec]) -> Findings:
        """Return the findings, or raise an error if a table does not match its declaration.

        If ``declared`` contains no table declarations, no table is checked.

        Raises:
            FindingsError: If a table is missing, is not declared, or does not match its
                declaration.
        """
        specs = {spec.name: spec for spec in declared}
        if specs:
            if QUESTIONS in specs:
                specs[QUESTIONS].check(self.questions)
            check_tables(self.tables, {**specs, SKIPPED: SHARED[SKIPPED]})
        return self

    def table(self, name: str) -> pl.DataFrame | None:
        """Return a table or the questions by name; None if the table is missing."""
        return self.questions if name == QUESTIONS else self.tables.get(name)

    def summarised(self, declared: Iterable[TableSpec]) -> Findings:
        """Return a copy of the findings whose summary contains the rows of all printed tables."""
        rows = {
            spec.name: self.tables[spec.name].to_dicts()
            for spec in declared
            if spec.printed and spec.name in self.tables and spec.name not in self.summary
        }
        return self.with_summary(**rows)

    def with_summary(self, **entries: Any) -> Findings:  # noqa: ANN401 - JSON
        """Return a copy with more entries in the summary."""
        return replace(self, summary={**self.summary, **entries})

    def skipped(self, prompts: Collection[tuple[Any, str]]) -> Findings:
        """Return a copy with a table and a count of the skipped prompts, each with the reason."""
        counted = self.with_summary(skipped=len(prompts))
        if not prompts:
            return counted
        table = SHARED[SKIPPED].frame(
            {"text": one.text, "separator": one.separator, "reason": reason}
            for one, reason in prompts
        )
        return replace(counted, tables={**counted.tables, SKIPPED: table})


def votes_summary(votes: Sequence[Votes]) -> dict[str, Any]:
    """Count all replies, the unparsed replies and the truncated replies."""
    return {
        "replies": sum(each.parsed + each.unparsed for each in votes),
        "unparsed": sum(each.unparsed for each in votes),
        "truncated": sum(each.truncated for each in votes),
    }
