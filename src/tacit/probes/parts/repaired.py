"""Check beliefs for constraint violations, and repair the beliefs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, get_args

from tacit.coherence.repair import Objective
from tacit.probes.parts.beliefs import STATEMENT

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.coherence.check import Check
    from tacit.coherence.constraints import Integers as Counts
    from tacit.coherence.ontology import Ontology
    from tacit.coherence.repair import Repaired
    from tacit.statistics import Bootstrap

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
STAGES = ("before", *OBJECTIVES)
TYPES = ("symmetric", "asymmetric", "inverse", "transitive")


@dataclass(frozen=True)
class RepairedBeliefs:
    """The raw beliefs, and the repaired beliefs for each objective of repair."""

    beliefs: pl.DataFrame
    before: Check
    groups: Mapping[str, pl.DataFrame]
    repairs: Mapping[Objective, Repaired]


def check_and_repair(beliefs: pl.DataFrame, ontology: Ontology) -> RepairedBeliefs:
    """Check beliefs for constraint violations, and repair the beliefs under each objective."""
    from tacit.coherence.check import check
    from tacit.coherence.repair import repair

    before = check(beliefs, ontology)
    # Findings must not depend on the speed of the machine.
    repairs = {
        objective: repair(beliefs, ontology, objective, time_limit=None) for objective in OBJECTIVES
    }
    groups = {"before": before.groups} | {
        objective: check(repaired.beliefs, ontology, believed="repaired").groups
        for objective, repaired in repairs.items()
    }
    true = {"before": repairs["paper"].beliefs["believed"]} | {
        objective: repaired.beliefs["repaired"] for objective, repaired in repairs.items()
    }
    table = beliefs.select(*STATEMENT, "p_true").with_columns(
        values.alias(stage) for stage, values in true.items()
    )
    return RepairedBeliefs(table, before, groups, repairs)


def violation(
    groups: Mapping[str, pl.DataFrame], baselines: pl.DataFrame, bootstrap: Bootstrap
) -> pl.DataFrame:
    """Compute the violation rate of each constraint type before and after repair."""
    import polars as pl

    rows = [row for stage, counts in groups.items() for row in _violation(stage, counts, bootstrap)]
    rank = {name: number for number, name in enumerate((*TYPES, "macro", "micro"))}
    schema = {
        "constraint": pl.String,
        "stage": pl.String,
        "violated": pl.Int64,
        "applicable": pl.Int64,
        "undecided": pl.Int64,
        **dict.fromkeys(("rate", "low", "high"), pl.Float64),
    }
    table = pl.DataFrame(sorted(rows, key=lambda row: rank[row[0]]), schema=schema, orient="row")
    before = baselines.select("constraint", "shuffled", "always_true", stage=pl.lit("before"))
    return table.join(before, on=["constraint", "stage"], how="left", maintain_order="left")


def _violation(stage: str, counts: pl.DataFrame, bootstrap: Bootstrap) -> list[tuple[Any, ...]]:
    things = counts["thing"]
    violated = counts.select(f"{name}_violated" for name in TYPES).to_numpy().T
    applicable = counts.select(f"{name}_applicable" for name in TYPES).to_numpy().T
    undecided = counts.select(f"{name}_undecided" for name in TYPES).to_numpy().T

    def row(name: str, over: Counts, of: Counts, unknown: Counts) -> tuple[Any, ...]:
        rate = bootstrap.ratio(things, over, of - unknown)
        sums = (int(each.sum()) for each in (over, of, unknown))
        return name, stage, *sums, rate.value, rate.low, rate.high

    rows = [
        row(name, *each) for name, *each in zip(TYPES, violated, applicable, undecided, strict=True)
    ]
    macro = bootstrap.mean_of_ratios(things, violated, applicable - undecided)
    micro = (each.sum(axis=0) for each in (violated, applicable, undecided))
    return [
        *rows,
        ("macro", stage, None, None, None, macro.value, macro.low, macro.high),
        row("micro", *micro),
    ]


def set_level(groups: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Compute summary measures over annotators' drawings; an undefined share is None."""
    import polars as pl

    one = pl.Series([1] * groups.height, dtype=pl.Int64)
    consistent = bootstrap.ratio(groups["thing"], groups["consistent"], one)
    density = bootstrap.ratio(
        groups["thing"], groups["density"].fill_null(0.0), groups["density"].is_not_null()
    )
    return {
        "drawings_with_violation": int((groups["violated"] > 0).sum()),
        "consistent": consistent.value,
        "consistent_interval": consistent.interval,
        "contradiction_density": density.value,
        "contradiction_density_interval": density.interval,
    }


def repair(repairs: Mapping[Objective, Repaired], by_drawing: pl.DataFrame) -> pl.DataFrame:
    """Return each objective's repair result and its effect on the accuracy of drawings."""
    import polars as pl

    rows = []
    for objective, repaired in repairs.items():
        told = repaired.to_json()
        rows.append(
            {"objective": objective}
            | {name: told[name] for name in ("groups", "optimal", "value", "bound")}
            | {name: told[name] for name in ("turned_true", "turned_false", "free")}
            | _changed(by_drawing, objective)
        )
    schema = {name: pl.Int64() for name in rows[0]} | {
        "objective": pl.String(),
        "value": pl.Float64(),
        "bound": pl.Float64(),
    }
    return pl.DataFrame(rows, schema=schema, strict=False)


def _changed(by_drawing: pl.DataFrame, objective: str) -> dict[str, int | None]:
    """Count the drawings for which repair raises, preserves or lowers the accuracy of beliefs."""
    if by_drawing.is_empty():
        return dict.fromkeys(("improved", "same", "worse"))
    # Both shares have the same denominator, so equal shares are exactly equal.
    before, after = by_drawing["before"], by_drawing[objective]
    return {
        "improved": int((after > before).sum()),
        "same": int((after == before).sum()),
        "worse": int((after < before).sum()),
    }


def repair_by_drawing(repairs: Mapping[Objective, Repaired]) -> pl.DataFrame:
    """Return the repair results, with one row per drawing and objective of repair."""
    import polars as pl

    return pl.concat(
        repaired.table.select(pl.lit(objective).alias("objective"), pl.all())
        for objective, repaired in repairs.items()
    )
