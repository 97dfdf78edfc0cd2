"""What is compared between models: accuracy and violated constraints, by everyday thing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.measure import Measure, ratio
from tacit.probes.parts import accuracy
from tacit.probes.parts.tables import AGREED, ALL

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.findings.findings import Findings

VIOLATION = "violation, micro, before repair"


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """The accuracy on each set of statements, before and after repair, and the violation rate."""
    import polars as pl

    sums = [_sums(findings) for findings in found.values()]
    things = pl.concat(each.select("thing") for each in sums).unique().sort("thing")
    every = [things.join(each, on="thing", how="left", maintain_order="left") for each in sums]

    def divided(name: str, over: str, under: str) -> Measure:
        parts = (np.stack([each[of].fill_null(0) for each in every]) for of in (over, under))
        return ratio(name, things["thing"], *parts)

    agreed = any(each[f"n {AGREED}"].sum() for each in sums)
    undecided = [int(each["undecided"].sum()) for each in sums]
    listed = ", ".join(f"{n:,} for {model}" for model, n in zip(found, undecided, strict=True))
    note = f"undecided constraints are left out: {listed}" if any(undecided) else None
    return [
        *(
            divided(f"accuracy, {name}, {when}", f"{stage} {name}", f"n {name}")
            for name in ((ALL, AGREED) if agreed else (ALL,))
            for when, stage in (("before repair", "before"), ("after repair", "paper"))
        ),
        replace(divided(VIOLATION, "violated", "decided"), main=True, note=note),
    ]


def _sums(findings: Findings) -> pl.DataFrame:
    """Statements and correct answers of each set, and constraints, of each thing."""
    import polars as pl

    sets = {ALL: pl.lit(value=True), AGREED: pl.col("agreed")}
    columns = {"n": pl.col("before").is_not_null()}
    columns |= {stage: pl.col(stage) for stage in ("before", "paper")}
    right = (
        accuracy.judge(findings.tables["beliefs"])
        .group_by("thing")
        .agg(
            of.filter(chosen).sum().alias(f"{stage} {name}")
            for name, chosen in sets.items()
            for stage, of in columns.items()
        )
    )
    constraints = (
        findings.tables["violation_by_drawing"]
        .group_by("thing")
        .agg(
            pl.col("violated", "undecided").sum(),
            decided=(pl.col("applicable") - pl.col("undecided")).sum(),
        )
    )
    return right.join(constraints, on="thing", how="full", coalesce=True)
