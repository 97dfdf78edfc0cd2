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

    def draw(shown: Shown) -> Chart | None:
        from tacit.charts.marks import Rows
        from tacit.charts.panels import page

        table, drawn = shown.defined(spec.name, column), spec.column(column)
        if table is None:
            return None
        reference = spec.column(drawn.chance) if isinstance(drawn.chance, str) else None
        dotted = drawn.chance if isinstance(drawn.chance, float) else None
        rows = Rows(
            table,
            drawn,
            shown.colours,
            label=key,
            reference=reference,
            domain=domain,
            dotted=dotted,
        )
        return page(spec.title, [spec.reading], [rows.panels("model")])

    return FigureSpec(spec.name, spec.title, spec.reading, draw)
