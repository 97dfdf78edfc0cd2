"""How models differ in what they assume, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.assumptions_table import short
from tacit.english import several
from tacit.present import terminal
from tacit.probes.assumptions.compare import AMONG_COMMON, NO_DIFFERENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl

_SHOWN_N = (1, 4, 10)
_OTHER_QUESTION = "*"
_NOTED = {AMONG_COMMON: "\N{DAGGER}", NO_DIFFERENCE: "\N{DOUBLE DAGGER}"}


def echo_comparison(together: pl.DataFrame) -> None:
    """Prints each figure of two models and their difference; retrieval at 1, 4 and 10 properties.

    Args:
        together: What ``probes.assumptions.compare.compare`` gives.
    """
    import polars as pl
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="Differences between models, over what was measured of both",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("")
    for heading in ("n", "first", "second", "second - first"):
        table.add_column(heading, justify="right", no_wrap=True)
    shown = together.filter(pl.col("n").is_null() | pl.col("n").is_in(_SHOWN_N))
    for (first, second), rows in shown.group_by("model_a", "model_b", maintain_order=True):
        table.add_section()
        table.add_row(Text(f"{first} | {second}"))
        for row in rows.iter_rows(named=True):
            values = (_number(row["a"]), _number(row["b"]), _difference(row))
            label = Text("\n    ".join([f"  {_label(row)}", *_among(row)]))
            table.add_row(label, f"{row['pairs']:,}", *values)
    console = terminal.console()
    console.print(table)
    for note in _notes(shown):
        console.print(note, markup=False)


def _label(row: Mapping[str, Any]) -> str:
    """What a figure is of, in which wordings where they are two, and the marks of its notes."""
    if row["part"] == "elicitation":
        label = f"{row['relation']}: {row['of']}"
    else:
        wordings = dict.fromkeys((row["wording_a"], row["wording_b"]))
        label = f"{row['of']}, {several(row['n'], 'property', 'properties')} "
        label += f"({' | '.join(wordings)})"
    marks = [] if row["same_question"] else [_OTHER_QUESTION]
    return " ".join([label, *marks, *([_NOTED[row["note"]]] if row["note"] else [])])


def _notes(shown: pl.DataFrame) -> Iterator[str]:
    """What the marks of the rows mean."""
    if not shown["same_question"].all():
        yield f"{_OTHER_QUESTION} the wordings ask different questions"
    held = set(shown["note"])
    yield from (f"{mark} {note}" for note, mark in _NOTED.items() if note in held)


def _among(row: Mapping[str, Any]) -> Iterator[str]:
    """The number of candidates and the chance level of a figure that is made of ranks."""
    if row["candidates_a"] is not None and row["candidates_b"] is not None:
        candidates = _sides(row, "candidates", "{:,}".format)
        yield f"of {candidates}, chance {_sides(row, 'chance', _number)}"


def _sides(row: Mapping[str, Any], name: str, how: Callable[[Any], str]) -> str:
    """A figure of both models, once where it is the same; nothing where there is none."""
    values = [row[f"{name}_{side}"] for side in "ab"]
    return " | ".join(dict.fromkeys(how(value) for value in values if value is not None))


def _number(value: float | None) -> str:
    return "-" if value is None else short(value, 3)


def _difference(row: Mapping[str, Any]) -> str:
    """The difference and its interval."""
    if row["difference"] is None:
        return "-"
    told = f"{row['difference']:+.3f}"
    if row["low"] is None:
        return told
    return f"{told} ({row['low']:+.3f} to {row['high']:+.3f})"
