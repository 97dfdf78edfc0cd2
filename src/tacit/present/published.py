"""A paper's tables beside one's own figures, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import typer

from tacit.english import several
from tacit.present.tables import print_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

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
        print_cells(title, [("", True), *((heading, False) for heading in headings)], rows)
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
