"""How models differ, as a terminal shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.findings.compare import COMPARISON
from tacit.findings.numbers import cell
from tacit.present import terminal
from tacit.present.tables import print_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

_MARKS = "*\N{DAGGER}\N{DOUBLE DAGGER}\N{SECTION SIGN}\N{PILCROW SIGN}"


def print_comparison(together: pl.DataFrame) -> None:
    """Prints a table for each two models, and the notes of its rows below it.

    Args:
        together: The columns of ``COMPARISON``; rows that are not to be printed are left out.
    """
    import polars as pl

    shown = together.filter("printed") if "printed" in together.columns else together
    noted = shown["note"].drop_nulls().unique(maintain_order=True) if "note" in shown else ()
    marks = {
        note: _MARKS[at % len(_MARKS)] * (at // len(_MARKS) + 1) for at, note in enumerate(noted)
    }
    for (first, second), rows in shown.group_by("first", "second", maintain_order=True):
        figures = ["\n  ".join(_lines(row, marks)) for row in rows.iter_rows(named=True)]
        table = rows.with_columns(figure=pl.Series(figures, dtype=pl.String))
        print_table(COMPARISON, table, f"{COMPARISON.title}: {first} | {second}")
    for note, mark in marks.items():
        terminal.console().print(f"{mark} {note}", markup=False)


def _lines(row: Mapping[str, Any], marks: Mapping[str, str]) -> Iterator[str]:
    """The figure with the mark of its note; of ranks, the candidates and the chance level."""
    mark = marks.get(row.get("note") or "")
    yield f"{row['figure']} {mark}" if mark else str(row["figure"])
    if row.get("first_candidates") is not None and row.get("second_candidates") is not None:
        yield f"of {_sides(row, 'candidates')}, chance {_sides(row, 'chance')}"


def _sides(row: Mapping[str, Any], name: str) -> str:
    """A number of both models, once where it is the same; nothing where there is none."""
    columns = {column.name: column for column in COMPARISON.columns}
    kind = columns[f"first_{name}"].kind
    values = [row[f"{side}_{name}"] for side in ("first", "second")]
    return " | ".join(dict.fromkeys(cell(each, kind) for each in values if each is not None))
