"""What a person reads first about a run: the verdict, the main figures, the control, an example."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from tacit.english import several
from tacit.findings.display import Headline
from tacit.findings.findings import Findings
from tacit.findings.numbers import bracketed, formatted
from tacit.findings.spec import Column, TableSpec, selected
from tacit.findings.verdict import Verdict


@dataclass(frozen=True)
class Entry:
    """A measured value in a table; as text, the value with its interval in brackets."""

    row: Mapping[str, Any]
    column: Column
    against: float | None = None

    @property
    def value(self) -> Any:  # noqa: ANN401 - a cell of any type
        return self.row[self.column.name]

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval; None if there is none."""
        low, high = self.column.ends or (None, None)
        return (self.row[low], self.row[high]) if low and high else (None, None)

    @property
    def chance(self) -> float | None:
        """The chance level; None if there is none."""
        level = self.column.chance
        if level is None:
            return self.against
        return self.row[level] if isinstance(level, str) else level

    def __str__(self) -> str:
        return bracketed(self.value, *self.ends, self.column.kind)

    def of(self, name: str) -> str:
        """Return another value of the row in the format of this value, such as its chance level."""
        return formatted(self.row[name], self.column.kind)


@dataclass(frozen=True)
class Entries:
    """The measured values of findings, found by table, column and the values of key columns."""

    findings: Findings
    tables: Mapping[str, TableSpec]

    def __call__(self, table: str, column: str, **where: Any) -> Entry | None:  # noqa: ANN401 - keys
        """Return a value; None if there is no such table or row, or the value is not defined."""
        headline = Headline("", "", table, column, where)
        entry = next(measured(headline, self.findings, self.tables), None)
        return None if entry is None or entry.value is None else entry


def sure_ends(entry: Entry | None) -> tuple[float | None, float | None]:
    """Return the interval of a value with enough clusters; without one, all resamples are equal."""
    if entry is None:
        return None, None
    return (entry.value, entry.value) if entry.ends[0] is None else entry.ends


@dataclass(frozen=True)
class Block:
    """At most four lines on a run, of which those that do not apply are None.

    Args:
        verdict: The verdict; None for a probe that makes none.
        asked: What was asked, and how often the model says yes.
        main: The main results, each with its interval and chance level.
        control: The control, or the first caution that holds.
        example: An example, or the next step.

    Examples:
        >>> from tacit import Block
        >>> Block(None, "12 pairs", "accuracy 75.0 % (chance 50 %)").lines
        ('12 pairs', 'Accuracy 75.0 % (chance 50 %)')
    """

    verdict: Verdict | None
    asked: str
    main: str
    control: str | None = None
    example: str | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The lines, from what was asked to the example."""
        first = " ".join(str(part) for part in (self.asked, self.verdict) if part)
        lines = (first, self.main, self.control, self.example)
        return tuple(line[0].upper() + line[1:] for line in lines if line)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def measured(
    headline: Headline, findings: Findings, tables: Mapping[str, TableSpec]
) -> Iterator[Entry]:
    """Yield the values that a headline shows, those that are not defined included."""
    spec = tables[headline.table]
    table = findings.table(headline.table)
    if table is not None:
        rows = selected(table, headline.where)
        other = measured(headline.against, findings, tables) if headline.against else iter(())
        against = next((entry.value for entry in other), None)
        for row in (rows if headline.by else rows.head(1)).iter_rows(named=True):
            yield Entry(row, spec.column(headline.column), against)


def block_of(
    headlines: Iterable[Headline], findings: Findings, tables: Mapping[str, TableSpec]
) -> Block | None:
    """Return a block of the verdict and the headlines' values; None if there are none."""
    main = [
        ", ".join([f"{one.label} {entry}", *_beside(one, entry)])
        for one in headlines
        for entry in islice(measured(one, findings, tables), 1)
        if entry.value is not None
    ]
    verdict = findings.summary.get("verdict")
    made = Verdict.of(verdict) if verdict else None
    return Block(made, "", sentence(main)) if main or made else None


def sentence(clauses: Sequence[str]) -> str:
    """Return clauses as one sentence; empty if there are none."""
    return f"{'; '.join(clauses)}." if clauses else ""


def _beside(headline: Headline, entry: Entry) -> Iterator[str]:
    """Yield why a value has no interval, its chance level and its sample size."""
    if entry.column.ends and entry.ends == (None, None):
        yield "no interval (too few clusters, or no variation)"
    if entry.chance is not None:
        yield f"chance {formatted(entry.chance, entry.column.kind)}"
    if headline.n is not None:
        yield f"n = {counted(headline, entry.row)}"


def counted(headline: Headline, row: Mapping[str, Any]) -> str:
    """Return the sample size of a headline's value as text."""
    n = headline.size(row)
    return several(n, headline.n[1]) if headline.n and n is not None else ""
