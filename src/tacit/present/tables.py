"""Declared tables of findings, as a terminal shows them."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

from tacit.findings.numbers import bounds, cell
from tacit.findings.spec import Layout
from tacit.present import terminal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Column, TableSpec

MOST_ROWS = 40
"""Of a longer table, the first rows are printed, and how many there are."""


def print_table(spec: TableSpec, table: pl.DataFrame, title: str) -> None:
    """Prints a table as it is declared to be printed.

    Numbers are written by the kinds of their columns, each interval below its number.

    Args:
        spec: Its declaration.
        table: Its rows.
        title: What stands over it.
    """
    layout = spec.printed or Layout()
    for name, values in layout.where.items():
        table = table.filter(table[name].is_in(values))
    headings, rows = _across(spec, layout, table) if layout.across else _plain(spec, layout, table)
    print_cells(title, headings, rows)
    if len(rows) == MOST_ROWS < table.height:
        terminal.console().print(f"{MOST_ROWS} of {table.height:,} rows are shown")


def print_cells(
    title: str, headings: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]
) -> None:
    """Prints texts in columns, with a title above them.

    Args:
        title: What stands over them.
        headings: Of each column, with whether it holds words, which stand to the left.
        rows: The texts.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    shown = Table(box=box.SIMPLE_HEAD, **_TIGHT)
    for at, (heading, worded) in enumerate(headings):
        justify: Any = "left" if worded else "right"
        fitted = _fitted(heading, [row[at] for row in rows])
        shown.add_column(Text(fitted), justify=justify, no_wrap=not worded, overflow="fold")
    for row in rows:
        shown.add_row(*map(Text, row))
    terminal.console().print(Text(title), shown, "", sep="\n")


Cells: TypeAlias = tuple[list[tuple[str, bool]], list[list[str]]]
"""Headings, each with whether it stands over words, and rows of texts."""


def _plain(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Cells:
    columns = [column for column in spec.in_table(table) if column.shown and column.kind != "list"]
    if layout.columns:
        by_name = {column.name: column for column in columns}
        columns = [by_name[name] for name in layout.columns if name in by_name]
    headings = [(_heading(column), column.kind in _WORDS) for column in columns]
    rows = table.head(MOST_ROWS).iter_rows(named=True)
    return headings, [[_text(column, row) for column in columns] for row in rows]


def _across(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Cells:
    """The values of one key side by side."""
    across = str(layout.across)
    keys = [name for name in layout.columns if name in spec.key_names and name != across]
    (shown,) = (
        column
        for column in spec.columns
        if column.name in layout.columns and column.name not in spec.key_names
    )
    by_name = {column.name: column for column in spec.columns}
    sides = table[across].unique(maintain_order=True).to_list()
    headings = [(by_name[name].heading, True) for name in keys]
    headings += [(str(side), False) for side in sides]
    found: dict[tuple[object, ...], dict[object, str]] = {}
    for row in table.iter_rows(named=True):
        key = tuple(row[name] for name in keys)
        found.setdefault(key, {})[row[across]] = _text(shown, row)
    rows = [
        [*(cell(value, "text") for value in key), *(of.get(side, "") for side in sides)]
        for key, of in found.items()
    ]
    return headings, rows[:MOST_ROWS]


_TIGHT: dict[str, Any] = {"padding": 0, "pad_edge": False, "show_edge": False}
_SPACE = "\N{NO-BREAK SPACE}"
_LEAST_WIDE = len("95 % interval")  # of a heading
_WORDS = frozenset({"text", "truth"})


def _fitted(heading: str, cells: Sequence[str]) -> str:
    """A heading, broken into lines about as wide as the cells, so that these need no breaking."""
    lines = [line for cell in cells for line in cell.splitlines()]
    width = max([_LEAST_WIDE, *map(len, lines)])
    return "\n".join(fill(line, width, break_long_words=False) for line in heading.splitlines())


def _heading(column: Column) -> str:
    return f"{column.heading}\n95 % interval" if column.ends else column.heading


def _text(column: Column, row: Mapping[str, Any]) -> str:
    """A cell, with its interval in a line of its own; the heading says what are points."""
    text = cell(row[column.name], column.kind).removesuffix(" points")
    low, high = (row[end] for end in column.ends) if column.ends else (None, None)
    if low is None or high is None:
        return text
    ends = bounds(low, high, column.kind).removesuffix(" points").removesuffix(f"{_SPACE}%")
    return f"{text}\n{ends}"
