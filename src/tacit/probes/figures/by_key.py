"""The figure of a declared column: one row of marks per key, one panel per model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.numbers import cell, interval
from tacit.findings.spec import FigureSpec

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.spec import Column, TableSpec
    from tacit.probes.figures.charts import Chart
    from tacit.probes.figures.panels import Shown
    from tacit.probes.figures.rows import Measure


def marks_by(
    spec: TableSpec, column: str, key: str, domain: tuple[float, float] = (0.0, 1.0)
) -> FigureSpec:
    """A figure of one column of a table, with its interval, by one of its keys.

    Args:
        spec: The table.
        column: The column that is drawn.
        key: The column whose values are the rows of the figure.
        domain: The ends of the axis.
    """
    declared = next(each for each in spec.columns if each.name == column)

    def draw(shown: Shown) -> Chart | None:
        from tacit.probes.figures.panels import below, titled
        from tacit.probes.figures.rows import rows

        table = shown.defined(spec.name, column)
        if table is None:
            return None
        order = table[key].cast(str).unique(maintain_order=True).to_list()
        panels = [
            (label, _measure(declared, key, table.filter(model=label), domain))
            for label in shown.labels.values()
        ]
        return below([rows(panels, order, shown.look)], titled(spec.title, spec.reading))

    return FigureSpec(spec.name, spec.title, spec.reading, draw)


def _measure(column: Column, key: str, table: pl.DataFrame, domain: tuple[float, float]) -> Measure:
    import polars as pl

    from tacit.probes.figures.rows import Measure, marks

    low, high = column.ends or (None, None)
    tips = [_tip(column, key, row) for row in table.iter_rows(named=True)]
    ends = {} if low is None or high is None else {"low": low, "high": high}
    chance = {"reference": column.chance} if isinstance(column.chance, str) else {}
    drawn = marks(
        table.with_columns(pl.col(key).cast(pl.String).alias("label")),
        tips,
        sure=low,
        value=column.name,
        **ends,
        **chance,
    )
    line = column.chance if isinstance(column.chance, float) else None
    return Measure(column.heading, drawn, domain, line, percent=column.kind == "percent")


def _tip(column: Column, key: str, row: dict[str, float | None]) -> str:
    """What a pointer that rests on a mark reads."""
    text = f"{row[key]}: {cell(row[column.name], column.kind)}"
    if column.ends is None:
        return text
    low, high = (row[end] for end in column.ends)
    return f"{text}, {interval(low, high, lambda value: cell(value, column.kind))}"
