"""What a probe finds: tables, and the few figures that a person reads first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from typing import TYPE_CHECKING, Any

from tacit.findings.spec import QUESTIONS, Column, TableSpec, check_tables

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import polars as pl

    from tacit.requests import Votes


SKIPPED = TableSpec(
    "skipped",
    "Prompts that were skipped",
    "Prompts that are longer than the model's window; their answers are missing.",
    columns=(
        Column("text", "prompt", meaning="What was to be asked."),
        Column("separator", "separator", meaning="What stands between the prompt and an answer."),
        Column("reason", "reason", meaning="How long it is, and how long the window."),
    ),
    optional=True,
)


@dataclass(frozen=True, repr=False)
class Findings:
    """What a probe finds: its tables and a summary.

    Args:
        questions: What was asked and answered, one row per distinct question.
        tables: The findings' tables by name.
        summary: Counts and figures, ready for JSON; None where a figure is undefined.

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
        """What a notebook shows: each table's first rows."""
        return "".join(
            f"<b>{escape(name)}</b>{table.head()._repr_html_()}"
            for name, table in self.tables.items()
        )

    def check(self, declared: Iterable[TableSpec]) -> Findings:
        """The same, whose tables are as a probe declares them; without a declaration, they are.

        Raises:
            FindingsError: A table is missing, not declared, or not as it is declared.
        """
        specs = {spec.name: spec for spec in declared}
        if specs:
            if QUESTIONS in specs:
                specs[QUESTIONS].check(self.questions)
            check_tables(self.tables, {**specs, SKIPPED.name: SKIPPED})
        return self

    def table(self, spec: TableSpec) -> pl.DataFrame | None:
        """The rows of a declared table; None where there is none."""
        if spec.made is not None:
            return spec.made(self)
        return self.questions if spec.name == QUESTIONS else self.tables.get(spec.name)

    def summarised(self, declared: Iterable[TableSpec]) -> Findings:
        """The same, whose summary holds the rows of each table that is printed."""
        rows = {
            spec.name: self.tables[spec.name].to_dicts()
            for spec in declared
            if spec.printed and spec.name in self.tables and spec.name not in self.summary
        }
        return replace(self, summary={**self.summary, **rows}) if rows else self

    def with_elicitation(self, how: str | None) -> Findings:
        """The same, whose summary says first how the beliefs were elicited; None says nothing."""
        return self if how is None else replace(self, summary={"elicitation": how, **self.summary})

    def unscored(self, reasons: Mapping[str, int]) -> Findings:
        """The same, whose summary counts the answers that have no score, by why."""
        return replace(self, summary={**self.summary, "unscored": dict(reasons)})

    def skipped(self, prompts: Collection[tuple[Any, str]]) -> Findings:
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
        columns = {column.name: pl.String for column in SKIPPED.columns}
        table = pl.DataFrame(rows, columns, orient="row")
        return replace(found, tables={**found.tables, SKIPPED.name: table})


def votes_summary(votes: Sequence[Votes]) -> dict[str, Any]:
    """How many replies there were, and how many could not be read."""
    return {
        "replies": sum(each.parsed + each.unparsed for each in votes),
        "unparsed": sum(each.unparsed for each in votes),
        "truncated": sum(each.truncated for each in votes),
    }
