"""The figure that plots a probe's measures against model size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.charts.panels import Curves, in_rows
from tacit.english import several
from tacit.findings.scale import by_family
from tacit.findings.spec import Column

if TYPE_CHECKING:
    from tacit.charts.figures import Drawn
    from tacit.charts.shown import Shown
    from tacit.findings.scale import Scaling


def sizes(shown: Shown, scaling: Scaling) -> Drawn | None:
    """Plot each measure against the number of parameters, with one line per model family."""
    import polars as pl

    from tacit.statistics import Bootstrap

    how, families = Bootstrap(), list(by_family(shown.sized))
    if all(len(set(sizes.values())) == 1 for _, sizes in families):
        return None
    rows: list[dict[str, Any]] = []
    for family, sizes in families:
        for measure in scaling({model: shown.found[model] for model in sizes}):
            for (model, at), of in zip(sizes.items(), measure.estimates(how), strict=True):
                key = {"measure": measure.name, "model": shown.labels[model], "family": family}
                value = {"value": of.value, "low": of.low, "high": of.high}
                rows.append({**key, "parameters": at, **value})
    table = pl.DataFrame(rows, infer_schema_length=None)
    if table.is_empty() or table["value"].is_null().all():
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
