"""Declared tables of findings, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.numbers import cell
from tacit.present import terminal

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.spec import Column, TableSpec

MOST_ROWS = 40
"""Of a longer table, the first rows are printed, and how many there are."""


def print_table(spec: TableSpec, table: pl.DataFrame, title: str) -> None:
    """Prints a table with its intervals, numbers written by the kinds of their columns.

    Args:
        spec: Its declaration.
        table: Its rows.
        title: What stands over it.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns = [each for each in spec.in_table(table) if each.shown and each.kind != "list"]
    shown = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        worded = column.kind in {"text", "truth"}
        shown.add_column(Text(column.heading), justify="left" if worded else "right")
        if column.ends:
            shown.add_column("95 % interval", justify="right", no_wrap=True)
    for row in table.head(MOST_ROWS).iter_rows(named=True):
        shown.add_row(*(Text(text) for column in columns for text in _cells(column, row)))
    terminal.console().print(shown)
    if table.height > MOST_ROWS:
        terminal.console().print(f"{MOST_ROWS} of {table.height:,} rows are shown")


def _cells(column: Column, row: dict[str, object]) -> list[str]:
    texts = [cell(row[column.name], column.kind)]
    if column.ends:
        low, high = (row.get(end) for end in column.ends)
        there = low is not None and high is not None
        texts.append(f"{cell(low, column.kind)} to {cell(high, column.kind)}" if there else "")
    return texts
