"""Print tables of findings: results of a run, comparisons of models, published values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from textwrap import fill
from typing import TYPE_CHECKING, Any

import typer

from tacit.english import several
from tacit.findings.findings import SHARED_DETAILS
from tacit.findings.numbers import bounds, bracketed, formatted
from tacit.findings.spec import Column, Layout, TableSpec, selected
from tacit.present import terminal

if TYPE_CHECKING:
    import polars as pl


_SPACE = "\N{NO-BREAK SPACE}"

MOST_ROWS = 40
"""The maximum number of printed rows; the total number of rows is printed below a longer table."""


def print_table(
    spec: TableSpec, table: pl.DataFrame, title: str, most: int | None = MOST_ROWS
) -> None:
    """Print a table of findings in its declared layout."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    columns, texts = _texts(spec, table, _in_two_lines)
    rows = texts if most is None else texts.head(most)
    printed = Table(box=box.SIMPLE_HEAD, **_TIGHT)
    by_name = {column.name: column for column in columns}
    for name in texts.columns:
        column = by_name.get(name)
        worded = column is not None and column.kind in _WORDS
        heading = _fitted(name if column is None else _heading(column), rows[name])
        justify: Any = "left" if worded else "right"
        printed.add_column(Text(heading), justify=justify, no_wrap=not worded, overflow="fold")
    for row in rows.iter_rows():
        printed.add_row(*map(Text, row))
    terminal.console().print(Text(title), printed, "", sep="\n")
    if rows.height < texts.height:
        terminal.console().print(f"{rows.height} of {texts.height:,} rows are shown")


def laid_out(spec: TableSpec, table: pl.DataFrame) -> tuple[list[list[str]], list[bool]]:
    """Return the headings and the rows of a table in its declared layout, intervals in brackets.

    Also return of each column whether it contains numbers.
    """
    columns, texts = _texts(spec, table, _in_one_line)
    headings = {column.name: column.heading for column in columns}
    words = {column.name for column in columns if column.kind in _WORDS}
    rows = [[headings.get(name, name) for name in texts.columns], *map(list, texts.iter_rows())]
    return rows, [name not in words for name in texts.columns]


def _in_one_line(column: Column, row: Mapping[str, Any]) -> str:
    """Return a cell's text without the unit ``points``, with any interval in brackets."""
    low, high = (row[end] for end in column.ends) if column.ends else (None, None)
    text = bracketed(row[column.name], low, high, column.kind)
    return text.replace(" points", "") if column.kind == "points" else text


def markdown(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return rows, the first of which are the headings, as a Markdown table."""
    head, *others = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---:" if number else "---" for number in numbers], *others]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "%&$#_{}"}
    | {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
    | {"\N{MINUS SIGN}": "$-$", _SPACE: "~", "\N{EN DASH}": "--"}
    | {"\N{LEFT DOUBLE QUOTATION MARK}": "``", "\N{RIGHT DOUBLE QUOTATION MARK}": "''"}
)


def latex(rows: Sequence[Sequence[str]], numbers: Sequence[bool]) -> str:
    """Return rows, the first of which are the headings, as a LaTeX table in the style booktabs."""
    head, *others = [" & ".join(cell.translate(_LATEX) for cell in row) + r" \\" for row in rows]
    columns = "".join("r" if number else "l" for number in numbers)
    begin, end = rf"\begin{{tabular}}{{{columns}}}", r"\end{tabular}"
    return "\n".join([begin, r"\toprule", head, r"\midrule", *others, r"\bottomrule", end])


def print_rows(title: str, rows: pl.DataFrame, most: int | None = MOST_ROWS) -> None:
    """Print a table of texts and counts that no findings declare; headings are column names."""
    columns = tuple(
        Column(name, name.replace("_", " "), "count" if kind.is_integer() else "text")
        for name, kind in rows.schema.items()
    )
    print_table(TableSpec("rows", title, "", columns), rows, title, most)


def _columns(spec: TableSpec, layout: Layout, table: pl.DataFrame) -> list[Column]:
    """Return the columns to print; those without any interval declare none."""
    columns = [column for column in spec.in_table(table) if column.shown and column.kind != "list"]
    if layout.columns:
        by_name = {column.name: column for column in columns}
        names = dict.fromkeys((*layout.columns, layout.across))
        columns = [by_name[name] for name in names if name in by_name]
    return [
        column
        if all(name in table.columns and table[name].count() for name in column.ends or ())
        else replace(column, ends=None)
        for column in columns
    ]


def _texts(
    spec: TableSpec, table: pl.DataFrame, text: Callable[[Column, Mapping[str, Any]], str]
) -> tuple[list[Column], pl.DataFrame]:
    """Return the columns and cells as text; each value of ``Layout.across`` becomes a column."""
    import polars as pl

    layout = spec.printed or Layout()
    table = selected(table, layout.where)
    columns = _columns(spec, layout, table)
    cells = {
        column.name: [text(column, row) for row in table.iter_rows(named=True)]
        for column in columns
    }
    texts = pl.DataFrame(cells, dict.fromkeys(cells, pl.String))
    if layout.across is None:
        return columns, texts
    *beside, last = (name for name in cells if name != layout.across)
    across = texts.pivot(layout.across, index=beside, values=last, aggregate_function="last")
    return columns, across.fill_null("")


_TIGHT: dict[str, Any] = {"padding": 0, "pad_edge": False, "show_edge": False}
_LEAST_WIDE = len("95 % CI")  # the minimum width of a heading
_WORDS = frozenset({"text", "truth"})


def _fitted(heading: str, cells: Iterable[str]) -> str:
    """Break a heading into lines that are about as wide as the cells of the column."""
    lines = [line for cell in cells for line in cell.splitlines()]
    width = max([_LEAST_WIDE, *map(len, lines)])
    return "\n".join(fill(line, width, break_long_words=False) for line in heading.splitlines())


def _heading(column: Column) -> str:
    return f"{column.heading}\n95 % CI" if column.ends else column.heading


def _in_two_lines(column: Column, row: Mapping[str, Any]) -> str:
    """Return a cell's text without the unit ``points``, with any interval on a second line."""
    text = formatted(row[column.name], column.kind).removesuffix(" points")
    low, high = (row[end] for end in column.ends) if column.ends else (None, None)
    if low is None or high is None:
        return text
    ends = bounds(low, high, column.kind).removesuffix(" points").removesuffix(f"{_SPACE}%")
    return f"{text}\n{ends}"


def print_published(table: pl.DataFrame) -> None:
    """Print Tacit's values next to the published values, one table per table of the paper.

    Of a long table, only the rows in which the values differ are printed.
    """
    import polars as pl

    keys = [name for name in ("table", "model") if name in table.columns]
    for (name, *model), cells in table.group_by(keys, maintain_order=True):
        title = f"Table {name}" if str(name).isdecimal() else str(name)
        title = "In the text" if name == "text" else title
        title = f"{title}, compared with {model[0]}" if model and model[0] else title
        is_long = cells.height > MOST_ROWS
        printed = cells.filter(pl.col("difference") != 0) if is_long else cells
        if not printed.is_empty():
            print_table(SHARED_DETAILS["published"], _published(printed), title, most=None)
        if is_long:
            equal = int((cells["difference"] == 0).sum())
            typer.echo(
                f"{title}: {equal} of {several(cells.height, 'row')} match the published values\n"
            )
        for line in _noted(cells):
            typer.echo(line)


def _published(cells: pl.DataFrame) -> pl.DataFrame:
    """Return the rows with labels, and with chance levels and published values as text."""
    import polars as pl

    def texts(row: Mapping[str, Any]) -> dict[str, str | None]:
        low, value, n = row.get("low"), formatted(row["published"], "number"), row.get("candidates")
        chance = "" if row.get("chance") is None else f"{formatted(row['chance'], 'number')} "
        return {
            "row": ", ".join(filter(None, (row["row"], row.get("column")))),
            "chance": None if n is None else f"{chance}among {n:,}",
            "published": value if low is None else bounds(low, row["high"], "number"),
        }

    made = pl.DataFrame(map(texts, cells.to_dicts()), dict.fromkeys(_TEXTS, pl.String))
    return cells.with_columns(*made.iter_columns())


_TEXTS = ("row", "chance", "published")


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
