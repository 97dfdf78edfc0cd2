"""The figure that plots a probe's measures against model size."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.charts.marks import Axis, Curves, bounds, measured, page
from tacit.charts.shown import titled
from tacit.charts.sizes import by_size
from tacit.charts.theme import series
from tacit.english import several
from tacit.findings.spec import Column
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from tacit.charts.shown import Shown
    from tacit.charts.theme import Chart
    from tacit.findings.measure import Measures

_VALUE = Column("value", "value", "score", ends=("low", "high"))
_PER_ROW = 2


def size_chart(shown: Shown, measures: Measures) -> Chart | None:
    """Plot each main measure against the number of parameters, with one line per model family."""
    how = Bootstrap()
    table = by_size(shown, measures, how)
    if table is None:
        return None
    table = table.rename({"model": "label", "family": "series", "parameters": "at"})
    panels = [
        _panel(str(name), part, shown)
        for (name,), part in table.drop_nulls("value").group_by("measure", maintain_order=True)
    ]
    if not panels:
        return None
    title = titled(
        "Size of models",
        "each mark is a model, each line a family; all models of a family are measured on the "
        "questions that all of them answered; number of parameters on a logarithmic scale",
        f"vertical lines: 95 % CIs (percentile bootstrap, {several(how.resamples, 'resample')} of "
        "the same clusters of questions for all models)",
    )
    return page(title, *(panels[at : at + _PER_ROW] for at in range(0, len(panels), _PER_ROW)))


def _panel(name: str, part: pl.DataFrame, shown: Shown) -> alt.LayerChart:
    drawn = measured(part.with_columns(at=part["at"].cast(float)), _VALUE)
    values = [value for column in ("value", "low", "high") for value in part[column]]
    families = series(part["series"].unique(maintain_order=True), shown.look.colours)
    axis = Axis(name.partition(",")[0], bounds(values, least=-1.0))
    return Curves(drawn, axis, shown.look.colours, name, "parameters", families, log=True).chart()
