"""What a person reads first about a run: the verdict, the main figures, the control, an example."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.numbers import bounds, formatted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tacit.findings.findings import Findings
    from tacit.findings.spec import Column, Headline, TableSpec
    from tacit.findings.verdict import Verdict


@dataclass(frozen=True)
class Entry:
    """A measured value in a table; as text, the value with its interval in the column's format."""

    row: Mapping[str, Any]
    column: Column

    @property
    def value(self) -> Any:  # noqa: ANN401 - a cell of any type
        """The value."""
        return self.row[self.column.name]

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """The ends of the interval; None if there is none."""
        low, high = (self.row[name] for name in self.column.ends or ("", ""))
        return low, high

    def __str__(self) -> str:
        text = formatted(self.value, self.column.kind)
        low, high = self.ends if self.column.ends else (None, None)
        if low is None or high is None:
            return text
        return f"{text} (95\N{NO-BREAK SPACE}% CI {bounds(low, high, self.column.kind)})"

    def of(self, name: str) -> str:
        """Return another value of the row in the format of this value, such as its chance level."""
        return formatted(self.row[name], self.column.kind)

    def above(self, value: float) -> bool:
        """Whether the interval, or the value if there is no interval, lies above a value."""
        low = self.ends[0] if self.column.ends else None
        return bool((self.value if low is None else low) > value)


@dataclass(frozen=True)
class Entries:
    """The measured values of findings, found by table, column and the values of key columns."""

    findings: Findings
    tables: Mapping[str, TableSpec]

    def __call__(self, table: str, column: str, **where: Any) -> Entry | None:  # noqa: ANN401 - keys
        """Return a value; None if there is no such table or row, or the value is not defined."""
        import polars as pl

        found = self.findings.tables.get(table)
        keys = [pl.col(name).eq_missing(pl.lit(value)) for name, value in where.items()]
        rows = () if found is None else found.filter(*keys).head(1).to_dicts()
        for row in rows:
            if row[column] is not None:
                return Entry(row, self.tables[table].column(column))
        return None


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
        """The lines, from the verdict to the example."""
        first = self.asked if self.verdict is None else f"{self.verdict} {self.asked}"
        lines = (first, self.main, self.control, self.example)
        return tuple(line[0].upper() + line[1:] for line in lines if line)

    def __str__(self) -> str:
        return "\n".join(self.lines)


def block_of(cell: Entries, headlines: Iterable[Headline]) -> Block | None:
    """Return a block of the headlines' values; None if none is measured."""
    found = [
        (one, value) for one in headlines if (value := cell(one.table, one.column, **one.where))
    ]
    main = [f"{one.label} {value}{_beside(one, value)}" for one, value in found]
    return Block(None, "", f"{'; '.join(main)}.") if main else None


def _beside(headline: Headline, value: Entry) -> str:
    """Return the chance level and the sample size of a value."""
    chance = value.column.chance
    level = value.row[chance] if isinstance(chance, str) else chance
    beside = [] if level is None else [f"chance {formatted(level, value.column.kind)}"]
    if headline.n is not None:
        n = headline.n
        beside.append(
            f"n = {several(value.row[n[0]], n[1])}" if isinstance(n, tuple) else n(value.row)
        )
    return "".join(f", {one}" for one in beside)
