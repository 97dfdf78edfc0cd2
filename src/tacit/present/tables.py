"""Print tables of findings: results of a run, comparisons of models, published values."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from tacit.english import several
from tacit.findings.findings import SHARED
from tacit.findings.numbers import bounds, formatted, score
from tacit.findings.spec import Layout, selected
from tacit.present import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.findings.spec import Column, TableSpec


MOST_ROWS = 40
"""The maximum number of printed rows; the total number of rows is printed below a longer table."""


def print_table(spec: TableSpec, table: pl.DataFrame, title: str) -> None:
    """Print a table of findings in its declared layout."""
    layout = spec.printed or Layout()
    table = selected(table, layout.where)
    headings, rows = _across(spec, layout, table) if layout.across else _plain(spec, layout, table)
    print_texts(title, headings, rows)
    if len(rows) == MOST_ROWS < table.height:
        terminal.console().print(f"{MOST_ROWS} of {table.height:,} rows are shown")


def print_texts(
    title: str, headings: Sequence[tuple[str, bool]], rows: Sequence[Sequence[str]]
) -> None:
    """Print a table of text cells, with a title above the table."""
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


Grid: TypeAlias = tuple[list[tuple[str, bool]], list[list[str]]]
"""The column headings and the rows of a table.

Each column heading is a pair: its text, and a Boolean value that is true if the column contains
words.
"""


def _plain(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Grid:
    columns = [column for column in spec.in_table(table) if column.shown and column.kind != "list"]
    if layout.columns:
        by_name = {column.name: column for column in columns}
        columns = [by_name[name] for name in layout.columns if name in by_name]
    headings = [(_heading(column), column.kind in _WORDS) for column in columns]
    rows = table.head(MOST_ROWS).iter_rows(named=True)
    return headings, [[_text(column, row) for column in columns] for row in rows]


def _across(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Grid:
    """Return a table in which each value of one key column becomes a column of text."""
    across = str(layout.across)
    by_name = {column.name: column for column in spec.columns}
    *beside, shown = (by_name[name] for name in layout.columns if name != across)
    sides = table[across].unique(maintain_order=True).to_list()
    headings = [(_heading(column), column.kind in _WORDS) for column in beside]
    headings += [(str(side), False) for side in sides]
    found: dict[tuple[str, ...], dict[object, str]] = {}
    for row in table.iter_rows(named=True):
        start = tuple(_text(column, row) for column in beside)
        found.setdefault(start, {})[row[across]] = _text(shown, row)
    rows = [[*start, *(of.get(side, "") for side in sides)] for start, of in found.items()]
    return headings, rows[:MOST_ROWS]


_TIGHT: dict[str, Any] = {"padding": 0, "pad_edge": False, "show_edge": False}
_SPACE = "\N{NO-BREAK SPACE}"
_LEAST_WIDE = len("95 % CI")  # the minimum width of a heading
_WORDS = frozenset({"text", "truth"})


def _fitted(heading: str, cells: Sequence[str]) -> str:
    """Break a heading into lines that are about as wide as the cells of the column."""
    lines = [line for cell in cells for line in cell.splitlines()]
    width = max([_LEAST_WIDE, *map(len, lines)])
    return "\n".join(fill(line, width, break_long_words=False) for line in heading.splitlines())


def _heading(column: Column) -> str:
    return f"{column.heading}\n95 % CI" if column.ends else column.heading


def _text(column: Column, row: Mapping[str, Any]) -> str:
    """Return a cell's text without the unit ``points``, with any interval on a second line."""
    text = formatted(row[column.name], column.kind).removesuffix(" points")
    low, high = (row[end] for end in column.ends) if column.ends else (None, None)
    if low is None or high is None:
        return text
    ends = bounds(low, high, column.kind).removesuffix(" points").removesuffix(f"{_SPACE}%")
    return f"{text}\n{ends}"


_MARKS = "*\N{DAGGER}\N{DOUBLE DAGGER}\N{SECTION SIGN}\N{PILCROW SIGN}"


def print_comparison(table: pl.DataFrame) -> None:
    """Print the differences of each pair of models, followed by the notes on the rows."""
    import polars as pl

    spec = SHARED["comparison"]
    noted = table["note"].drop_nulls().unique(maintain_order=True)
    marks = {
        note: _MARKS[at % len(_MARKS)] * (at // len(_MARKS) + 1) for at, note in enumerate(noted)
    }
    for (first, second), rows in table.group_by("first", "second", maintain_order=True):
        labels = [_labelled(row, marks) for row in rows.iter_rows(named=True)]
        shown = rows.with_columns(measure=pl.Series(labels, dtype=pl.String))
        print_table(spec, shown, f"{spec.title}: {first} | {second}")
    for note, mark in marks.items():
        terminal.console().print(f"{mark} {note}", markup=False)


def _labelled(row: Mapping[str, Any], marks: Mapping[str, str]) -> str:
    """Return the measure with the mark of its note, and a line with the chance levels."""
    label = f"{row['measure']} {marks.get(row['note'], '')}".rstrip()
    levels = (row.get(f"{side}_chance") for side in ("first", "second"))
    chance = dict.fromkeys(score(level) for level in levels if level is not None)
    return f"{label}\n  chance {' | '.join(chance)}" if chance else label


MOST = 50
"""The number of rows above which a comparison with a paper is not printed in full.

If a table has more than ``MOST`` rows, only the rows in which Tacit's value differs from the
published value are printed.
"""


def print_published(table: pl.DataFrame) -> None:
    """Print Tacit's values next to the published values, one table per table of the paper."""
    keys = [name for name in ("table", "model") if name in table.columns]
    for (name, *model), cells in table.group_by(keys, maintain_order=True):
        titled = f"Table {name}" if str(name).isdecimal() else str(name)
        titled = "In the text" if name == "text" else titled
        _echo(f"{titled}, compared with {model[0]}" if model and model[0] else titled, cells)


def _echo(title: str, cells: pl.DataFrame) -> None:
    """Print a comparison with a paper's table; if it is long, only the rows that differ."""
    shown = cells if cells.height <= MOST else cells.filter(cells["difference"] != 0)
    ranked = "chance" in cells.columns and not cells["candidates"].is_null().all()
    headings = ["ours", *(["chance"] if ranked else []), "published", "difference"]
    rows = [
        [
            ", ".join(filter(None, (row["row"], row.get("column")))),
            _ours(row),
            *([_chance(row)] if ranked else []),
            _published(row),
            "" if row["difference"] is None else _figure(row["difference"], "+"),
        ]
        for row in shown.iter_rows(named=True)
    ]
    if rows:
        print_texts(title, [("", True), *((heading, False) for heading in headings)], rows)
    if cells.height > MOST:
        equal = int((cells["difference"] == 0).sum())
        typer.echo(
            f"{title}: {equal} of {several(cells.height, 'row')} match the published values\n"
        )
    for line in _noted(cells):
        typer.echo(line)


def _ours(row: Mapping[str, Any]) -> str:
    """Return Tacit's value as text, with any confidence interval on a second line."""
    text = _figure(row["ours"])
    if row.get("ours_low") is None:
        return text
    return f"{text}\n{_figure(row['ours_low'])} to {_figure(row['ours_high'])}"


def _published(row: Mapping[str, Any]) -> str:
    if row.get("low") is None:
        return _figure(row["published"])
    return f"{_figure(row['low'])} to {_figure(row['high'])}"


def _chance(row: Mapping[str, Any]) -> str:
    """Return the chance level and the number of candidates as text; empty if unknown."""
    chance = "" if row.get("chance") is None else f"{_figure(row['chance'])} "
    return "" if row.get("candidates") is None else f"{chance}among {row['candidates']:,}"


def _noted(cells: pl.DataFrame) -> Iterator[str]:
    """Yield each note of a comparison, with the rows to which the note applies."""
    import polars as pl

    if "note" not in cells.columns:
        return
    for (note, left_out), rows in cells.drop_nulls("note").group_by(
        "note", pl.col("difference").is_null(), maintain_order=True
    ):
        figures = pl.when(table="2").then("column").otherwise("row")
        of = ", ".join(rows.select(figures).to_series().unique(maintain_order=True))
        yield f"{'Not compared' if left_out else 'Note'} ({of}): {note}"


def _figure(value: float | None, sign: str = "") -> str:
    """Return a whole number without decimals, and any other number with three decimals."""
    if value is None:
        return "missing"
    sign = sign if value else ""
    text = f"{value:{sign},.0f}" if value == int(value) else f"{value:{sign},.3f}"
    return text.replace("-", "\N{MINUS SIGN}")
