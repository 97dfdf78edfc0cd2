"""What is believed, and the stages that repair makes of it; how far each contradicts itself."""

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
    """The raw beliefs, and the stage that each objective makes of them.

    Args:
        beliefs: thing, annotator, subject, relation, object, p_true, and one Boolean column per
            stage: what is true in it. A missing belief is not true before repair.
        before: The check of the raw beliefs.
        groups: For each stage, its check's counts by drawing.
        repairs: For each objective, how repair went.
    """

    beliefs: pl.DataFrame
    before: Check
    groups: Mapping[str, pl.DataFrame]
    repairs: Mapping[Objective, Repaired]


def check_and_repair(beliefs: pl.DataFrame, ontology: Ontology) -> RepairedBeliefs:
    """Checks the beliefs, and repairs them under each objective.

    Args:
        beliefs: thing, annotator, subject, relation, object, p_true (null = missing).
        ontology: The constraints.

    Raises:
        DataError: The beliefs are malformed.
    """
    from tacit.coherence.check import check
    from tacit.coherence.repair import repair

    before = check(beliefs, ontology)
    # Findings must not depend on how quick a machine is.
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


def violation(groups: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """Conditional violation by constraint type in each stage (Table 3).

    Args:
        groups: For each stage, the counts by drawing, as ``Check.groups`` has them.
        bootstrap: How intervals are made, over things.

    Returns:
        Columns constraint, stage, violated, applicable, undecided, rate, low, high. A rate is
        violated over applicable less undecided, and null where nothing is decided. ``macro``
        averages the types' defined rates and has no counts; ``micro`` is over all types.
    """
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
    return pl.DataFrame(sorted(rows, key=lambda row: rank[row[0]]), schema=schema, orient="row")


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
    """Measures of whole drawings, of ``Check.groups``; shares are None where there is none.

    Args:
        groups: The counts by drawing.
        bootstrap: How intervals are made, over things.

    Returns:
        ``drawings_with_violation``, the share ``consistent`` of drawings whose believed statements
        can all be true together, ``contradiction_density`` (violated over decided constraints of
        each drawing where any is decided, averaged), and an interval of each of the two shares.
    """
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
    """How repair went under each objective, and in how many drawings it changed accuracy.

    Args:
        repairs: For each objective, how repair went.
        by_drawing: ``accuracy_by_drawing``; no rows where there is no gold.

    Returns:
        Columns objective, groups, optimal, value, bound, turned_true, turned_false, free, and the
        drawings improved, same and worse; these are null where there is no gold.
    """
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
    """Drawings by what repair made of their accuracy; one without a known accuracy is in none."""
    if by_drawing.is_empty():
        return dict.fromkeys(("improved", "same", "worse"))
    # Both are counts over the same number, so that equal ones are equal to the last bit.
    before, after = by_drawing["before"], by_drawing[objective]
    return {
        "improved": int((after > before).sum()),
        "same": int((after == before).sum()),
        "worse": int((after < before).sum()),
    }


def repair_by_drawing(repairs: Mapping[Objective, Repaired]) -> pl.DataFrame:
    """The objective and the columns of ``Repaired.table``, one row per objective and drawing."""
    import polars as pl

    return pl.concat(
        repaired.table.select(pl.lit(objective).alias("objective"), pl.all())
        for objective, repaired in repairs.items()
    )
