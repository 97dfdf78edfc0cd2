"""The report's section on the paired differences between models."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import polars as pl

from tacit.findings.display import Details
from tacit.findings.findings import SHARED
from tacit.findings.spec import Column
from tacit.report.sections import Section, Tab
from tacit.runs.comparison import of_several, unsized, warnings_of_questions
from tacit.runs.run import Run


def differences(runs: Sequence[Run], only: Collection[str] | None = None) -> Section | None:
    """Return the report's section on paired differences; None if no probe has two runs."""
    runs = [run for run in runs if only is None or run.probe in only]
    tables = tables_of(runs)
    if tables["comparison"].is_empty():
        return None
    # Measures that only one of two models has come last.
    undefined = pl.col("difference").is_null()
    tables["comparison"] = tables["comparison"].sort(undefined, maintain_order=True)
    together = of_several(runs)
    warnings = [warning for mine in together for warning in warnings_of_questions(mine)]
    if not tables["slopes"].is_empty():
        warnings += unsized(run for mine in together for run in mine.runs)
    details = tuple(
        Details(replace(SHARED[name], columns=(_PROBE, *SHARED[name].columns)), table)
        for name, table in tables.items()
        if not table.is_empty()
    )
    return Section(
        id="differences",
        title="Differences",
        question="How do the models differ, and could chance explain the differences?",
        tabs=(Tab("Differences", tables=details),),
        warnings=tuple(dict.fromkeys(warnings)),
    )


_PROBE = Column("probe", "probe")


def tables_of(runs: Sequence[Run]) -> dict[str, pl.DataFrame]:
    """Return the paired differences and the slopes of all probes, with a column ``probe``."""
    tables: dict[str, list[pl.DataFrame]] = {"comparison": [], "flips": [], "slopes": []}
    for mine in of_several(runs):
        for name, table in mine.compared.items():
            tables[name].append(table.select(pl.lit(mine.probe).alias("probe"), pl.all()))
    return {
        name: pl.concat(some, how="diagonal_relaxed") if some else pl.DataFrame()
        for name, some in tables.items()
    }
