"""The figure that plots a probe's measures against model size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import polars as pl

from tacit.charts.marks import Curves
from tacit.charts.panels import in_rows
from tacit.charts.shown import Shown
from tacit.english import several
from tacit.findings.comparison import by_family
from tacit.findings.measure import Measures
from tacit.findings.spec import Column
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from tacit.charts.figures import Drawn


def sizes(shown: Shown, measures: Measures) -> Drawn | None:
    """Plot each main measure against the number of parameters, with one line per model family."""
    how = Bootstrap()
    table = by_size(shown, measures, how)
    if table is None:
        return None
    panels = [
        Curves(
            part,
            Column("value", name.partition(",")[0], "score", ends=("low", "high")),
            shown.colours,
            across=Column("parameters", "parameters", "count"),
            by="family",
            log=True,
        ).chart(name)
        for (name,), part in table.drop_nulls("value").group_by("measure", maintain_order=True)
    ]
    return in_rows(panels, 2), {"resamples": several(how.resamples, "resample")}


def by_size(shown: Shown, measures: Measures, how: Bootstrap) -> pl.DataFrame | None:
    """Return the main measures of the models of each family; None if no family has two sizes."""
    families = {model: shown.known_families.get(model) for model in shown.found}
    rows: list[dict[str, Any]] = []
    for family, models in by_family(families, shown.sizes).items():
        found = {model: shown.found[model] for model in models}
        for measure in (each for each in measures(found) if each.main and not each.apart):
            for (model, at), of in zip(models.items(), measure.estimates(how), strict=True):
                key = {"measure": measure.name, "model": shown.labels[model], "family": family}
                value = {"value": of.value, "low": of.low, "high": of.high}
                rows.append({**key, "parameters": at, **value})
    table = pl.DataFrame(rows, infer_schema_length=None)
    return None if table.is_empty() or table["value"].is_null().all() else table
