"""What is compared between models: accuracy and violated constraints, by everyday thing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl

from tacit.findings.findings import Findings
from tacit.findings.measure import Measure, ratio
from tacit.probes.parts import accuracy
from tacit.probes.parts.tables import AGREED, ALL

VIOLATION = "violation, micro, before repair"
_PARTS = ("over", "under")


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """The accuracy on each set of statements, before and after repair, and the violation rate."""
    sums = (_sums(each).with_columns(model=pl.lit(model)) for model, each in found.items())
    every = pl.concat(sums).partition_by("measure", as_dict=True, maintain_order=True)

    def divided(name: str, rows: pl.DataFrame) -> Measure:
        own = [(rows["model"] == model).to_numpy() for model in found]
        return ratio(name, rows["thing"], *(np.array(own) * rows[of].to_numpy() for of in _PARTS))

    drawings = [each.tables["violation_by_drawing"] for each in found.values()]
    undecided = [int(each["undecided"].sum()) for each in drawings]
    listed = ", ".join(f"{n:,} for {model}" for model, n in zip(found, undecided, strict=True))
    note = f"undecided constraints are left out: {listed}" if any(undecided) else None
    measured = [divided(str(name), rows) for (name,), rows in every.items()]
    return [*measured[:-1], replace(measured[-1], main=True, note=note)]


def _sums(findings: Findings) -> pl.DataFrame:
    """The numerator and denominator of each measure for each thing; the violation rate is last."""
    right = accuracy.judge(findings.tables["beliefs"])
    stages = {"before repair": pl.col("before"), "after repair": pl.col("paper")}
    sums = [
        rows.group_by("thing")
        .agg(of.sum().alias("over"), of.count().alias("under"))
        .filter(pl.col("under") > 0)
        .with_columns(measure=pl.lit(f"accuracy, {name}, {when}"))
        for name, rows in ((ALL, right), (AGREED, right.filter("agreed")))
        for when, of in stages.items()
    ]
    decided = pl.col("applicable") - pl.col("undecided")
    drawings = findings.tables["violation_by_drawing"]
    sums.append(drawings.select("thing", over="violated", under=decided, measure=pl.lit(VIOLATION)))
    return pl.concat(sums, how="vertical_relaxed")
