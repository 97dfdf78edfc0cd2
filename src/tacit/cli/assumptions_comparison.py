"""How models differ in what they assume, for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.cli.assumptions_table import short

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_SHOWN_N = (1, 4, 10)


def echo_comparison(together: pl.DataFrame) -> None:
    """Prints each figure of two models and their difference; retrieval at 1, 4 and 10 properties.

    Args:
        together: What ``probes.assumptions.compare.compare`` gives.
    """
    import polars as pl
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(
        title="Differences between models, over what was measured of both",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    for heading in ("", "n", "first", "second", "second - first"):
        table.add_column(heading, justify="right" if heading else "left")
    shown = together.filter(pl.col("n").is_null() | pl.col("n").is_in(_SHOWN_N))
    for (first, second), rows in shown.group_by("model_a", "model_b", maintain_order=True):
        table.add_section()
        table.add_row(Text(f"{first} | {second}"))
        for row in rows.iter_rows(named=True):
            values = (_number(row["a"]), _number(row["b"]), _difference(row))
            table.add_row(Text(f"  {_label(row)}"), f"{row['pairs']:,}", *values)
    Console(highlight=False).print(table)


def _label(row: Mapping[str, Any]) -> str:
    """What a figure is of, and in which wordings where they are two."""
    if row["part"] == "elicitation":
        return f"{row['relation']}: {row['of']}"
    wordings = dict.fromkeys((row["wording_a"], row["wording_b"]))
    return f"{row['of']}, {row['n']} properties ({' | '.join(wordings)})"


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
