"""Compare models pairwise, with confidence intervals."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

from tacit.findings.compare import schema
from tacit.probes.parts import accuracy
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.findings.findings import Findings

_ACCURACIES = {
    f"accuracy, {name}, {when}": (name, stage)
    for name in accuracy.PAPER_SETS
    for when, stage in (("before repair", "before"), ("after repair", "paper"))
}
VIOLATION = "violation, micro, before repair"
"""The name of the constraint violation rate in the table of comparisons."""


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Compare the accuracy and the constraint violations of each pair of models."""
    import polars as pl

    bootstrap = bootstrap or Bootstrap.for_pairs(len(found))
    sums = {model: _sums(findings) for model, findings in found.items()}
    rows = []
    for first, second in combinations(found, 2):
        for figure in sums[first]:
            one, other = sums[first][figure], sums[second][figure]
            both = one.join(other, on="thing", how="full", coalesce=True, suffix="_2").fill_null(0)
            over = [both["over"].to_numpy(), both["over_2"].to_numpy()]
            under = [both["under"].to_numpy(), both["under_2"].to_numpy()]
            change = bootstrap.difference(both["thing"].to_numpy(), over, under)
            values = [
                a.sum() / b.sum() if b.sum() else None for a, b in zip(over, under, strict=True)
            ]
            undecided = (_undecided(found[model], figure) for model in (first, second))
            interval = (change.low, change.high, change.p_value)
            rows.append((figure, first, second, *values, change.value, *interval, *undecided))
    return pl.DataFrame(rows, schema(("first_undecided", "second_undecided")), orient="row")


def _undecided(findings: Findings, figure: str) -> int | None:
    """Count the undecided constraints; None if ``figure`` is not the violation rate."""
    by_drawing = findings.tables["violation_by_drawing"]
    return int(by_drawing["undecided"].sum()) if figure == VIOLATION else None


def _sums(findings: Findings) -> dict[str, pl.DataFrame]:
    """Return each measure as a table with a numerator and a denominator per everyday thing."""
    import polars as pl

    verdicts = accuracy.judge(findings.tables["beliefs"])
    sets = {"ParRoT": verdicts, "ParRoT++": verdicts.filter("agreed")}
    found = {
        figure: sets[name].select("thing", pl.col(stage).alias("over"), pl.col("n").alias("under"))
        for figure, (name, stage) in _ACCURACIES.items()
    }
    return {
        **{figure: _by_thing(rows) for figure, rows in found.items()},
        VIOLATION: violations(findings),
    }


def violations(findings: Findings) -> pl.DataFrame:
    """Count each thing's violated constraints, and its constraints with a known outcome."""
    import polars as pl

    return _by_thing(
        findings.tables["violation_by_drawing"].select(
            "thing",
            pl.col("violated").alias("over"),
            (pl.col("applicable") - pl.col("undecided")).alias("under"),
        )
    )


def _by_thing(rows: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return rows.group_by("thing").agg(pl.all().cast(pl.Int64).sum()).sort("thing")
