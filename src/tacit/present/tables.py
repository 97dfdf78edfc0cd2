"""Tables of findings on a terminal: one run's, several models', and a paper's beside one's own."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Any, TypeAlias

import typer

from tacit.english import several
from tacit.findings.compare import COMPARISON
from tacit.findings.numbers import bounds, formatted
from tacit.findings.spec import Layout
from tacit.present import terminal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

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
    print_texts(title, headings, rows)
    if len(rows) == MOST_ROWS < table.height:
        terminal.console().print(f"{MOST_ROWS} of {table.height:,} rows are shown")


def print_texts(
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


Grid: TypeAlias = tuple[list[tuple[str, bool]], list[list[str]]]
"""Headings, each with whether it stands over words, and rows of texts."""


def _plain(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Grid:
    columns = [column for column in spec.in_table(table) if column.shown and column.kind != "list"]
    if layout.columns:
        by_name = {column.name: column for column in columns}
        columns = [by_name[name] for name in layout.columns if name in by_name]
    headings = [(_heading(column), column.kind in _WORDS) for column in columns]
    rows = table.head(MOST_ROWS).iter_rows(named=True)
    return headings, [[_text(column, row) for column in columns] for row in rows]


def _across(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> Grid:
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
        [*(formatted(value, "text") for value in key), *(of.get(side, "") for side in sides)]
        for key, of in found.items()
    ]
    return headings, rows[:MOST_ROWS]


_TIGHT: dict[str, Any] = {"padding": 0, "pad_edge": False, "show_edge": False}
_SPACE = "\N{NO-BREAK SPACE}"
_LEAST_WIDE = len("95 % CI")  # of a heading
_WORDS = frozenset({"text", "truth"})


def _fitted(heading: str, cells: Sequence[str]) -> str:
    """A heading, broken into lines about as wide as the cells, so that these need no breaking."""
    lines = [line for cell in cells for line in cell.splitlines()]
    width = max([_LEAST_WIDE, *map(len, lines)])
    return "\n".join(fill(line, width, break_long_words=False) for line in heading.splitlines())


def _heading(column: Column) -> str:
    return f"{column.heading}\n95 % CI" if column.ends else column.heading


def _text(column: Column, row: Mapping[str, Any]) -> str:
    """A cell, with its interval in a line of its own; the heading says what are points."""
    text = formatted(row[column.name], column.kind).removesuffix(" points")
    low, high = (row[end] for end in column.ends) if column.ends else (None, None)
    if low is None or high is None:
        return text
    ends = bounds(low, high, column.kind).removesuffix(" points").removesuffix(f"{_SPACE}%")
    return f"{text}\n{ends}"


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
    return " | ".join(dict.fromkeys(formatted(each, kind) for each in values if each is not None))


MOST = 50
"""Of a table with more rows, only those that differ are printed."""


def print_published(table: pl.DataFrame) -> None:
    """Prints ours, published and difference, a table of the paper after the other.

    Args:
        table: As ``tacit.findings.published`` makes it.
    """
    keys = [name for name in ("table", "model") if name in table.columns]
    for (name, *model), cells in table.group_by(keys, maintain_order=True):
        titled = f"Table {name}" if str(name).isdecimal() else str(name)
        titled = "In the text" if name == "text" else titled
        _echo(f"{titled}, beside {model[0]}" if model and model[0] else titled, cells)


def _echo(title: str, cells: pl.DataFrame) -> None:
    """Prints a table of a paper and its notes; of a long one only the rows that differ."""
    shown = cells if cells.height <= MOST else cells.filter(cells["difference"] != 0)
    ranked = "chance" in cells.columns and not cells["candidates"].is_null().all()
    headings = ["ours", *(["chance"] if ranked else []), "published", "difference"]
    rows = [
        [
            ", ".join(filter(None, (row["row"], row.get("column")))),
            _figure(row["ours"]),
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
        typer.echo(f"{title}: {equal} of {several(cells.height, 'row')} are as published\n")
    for line in _noted(cells):
        typer.echo(line)


def _published(row: Mapping[str, Any]) -> str:
    if row.get("low") is None:
        return _figure(row["published"])
    return f"{_figure(row['low'])} to {_figure(row['high'])}"


def _chance(row: Mapping[str, Any]) -> str:
    """What random ranks give and among how many words; nothing for what is not made of ranks."""
    chance = "" if row.get("chance") is None else f"{_figure(row['chance'])} "
    return "" if row.get("candidates") is None else f"{chance}of {row['candidates']:,}"


def _noted(cells: pl.DataFrame) -> Iterator[str]:
    """Each note of a table's rows, with the rows that it is of."""
    import polars as pl

    if "note" not in cells.columns:
        return
    for (note, left_out), rows in cells.drop_nulls("note").group_by(
        "note", pl.col("difference").is_null(), maintain_order=True
    ):
        figures = pl.when(table="2").then("column").otherwise("row")
        of = ", ".join(rows.select(figures).to_series().unique(maintain_order=True))
        yield f"{'No difference' if left_out else 'Note'} ({of}): {note}"


def _figure(value: float | None, sign: str = "") -> str:
    """A count as a whole number, any other figure with up to three decimals."""
    if value is None:
        return "missing"
    sign = sign if value else ""
    text = f"{value:{sign},.0f}" if value == int(value) else f"{value:{sign},.3f}"
    return text.replace("-", "\N{MINUS SIGN}")
