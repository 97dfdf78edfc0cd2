"""A figure of one table column, with one panel per model and labelled rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.spec import FigureSpec

if TYPE_CHECKING:
    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart
    from tacit.findings.spec import TableSpec


def marks_by(
    spec: TableSpec, column: str, key: str, domain: tuple[float, float] = (0.0, 1.0)
) -> FigureSpec:
    """Return the ``FigureSpec`` of a figure that shows a table column with its 95 % CIs.

    Args:
        spec: The declaration of the table.
        column: The name of the column to draw.
        key: The name of the column whose values label the rows of the figure.
        domain: The lowest and the highest value on the axis.

    Examples:
        >>> from tacit import Column, TableSpec, marks_by
        >>> columns = (Column("word", "word"), Column("accuracy", "accuracy", "percent"))
        >>> spec = TableSpec("by_word", "Accuracy by word", "One row per word.", columns)
        >>> marks_by(spec, "accuracy", "word").name
        'by_word'
    """
    declared = spec.column(column)

    def draw(shown: Shown) -> Chart | None:
        from tacit.charts.marks import Axis, Rows, measured, page
        from tacit.charts.shown import titled

        table = shown.defined(spec.name, column)
        if table is None:
            return None
        table = table.with_columns(label=table[key].cast(str))
        order = table["label"].unique(maintain_order=True).to_list()
        chance = declared.chance
        drawn = measured(table, declared, chance if isinstance(chance, str) else None)
        line = chance if isinstance(chance, float) else None
        axis = Axis(declared.heading, domain, declared.kind == "percent", line)
        panels = [
            Rows(drawn.filter(model=label), axis, shown.look.colours, label, order).chart()
            for label in shown.labels.values()
        ]
        return page(titled(spec.title, spec.reading), panels)

    return FigureSpec(spec.name, spec.title, spec.reading, draw)
