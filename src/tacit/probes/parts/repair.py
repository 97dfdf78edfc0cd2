"""Check beliefs, repair them under each objective, and do the same with shuffled beliefs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any, get_args

import numpy as np
import polars as pl

from tacit.coherence import Objective
from tacit.coherence.beliefs import Beliefs
from tacit.coherence.check import Check, check
from tacit.coherence.components import distinct, families
from tacit.coherence.ontology import Ontology
from tacit.coherence.problems import best_assignment
from tacit.coherence.repair import Repaired, repair, weights_of, whole_weights
from tacit.probes.parts import ALL, TABLES, WITHOUT_SYMMETRIC
from tacit.probes.parts.beliefs import DRAWING, STATEMENT
from tacit.statistics import Bootstrap

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
STAGES = ("before", *OBJECTIVES)

SHUFFLES = 5
"""Number of permutations over which the violation rate of shuffled beliefs is averaged."""
SEED = 0

_COUNTS = ("violated", "applicable", "undecided")


@dataclass(frozen=True)
class RepairedBeliefs:
    """The raw beliefs, and the repaired beliefs for each objective of repair."""

    beliefs: pl.DataFrame
    before: Check
    groups: Mapping[str, pl.DataFrame]
    repairs: Mapping[Objective, Repaired]


def check_and_repair(beliefs: pl.DataFrame, ontology: Ontology) -> RepairedBeliefs:
    """Check beliefs for constraint violations, and repair the beliefs under each objective."""
    held = Beliefs(beliefs, ontology, DRAWING)
    before = check(held)
    # Findings must not depend on the speed of the machine.
    repairs = {objective: repair(held, objective, time_limit=None) for objective in OBJECTIVES}
    true = {objective: one.beliefs["repaired"] for objective, one in repairs.items()}
    groups = {"before": before.groups}
    groups |= {objective: check(held, truth).groups for objective, truth in true.items()}
    table = beliefs.select(*STATEMENT, "p_true").with_columns(before=held.believed(), **true)
    return RepairedBeliefs(table, before, groups, repairs)


def violation(made: RepairedBeliefs, ontology: Ontology) -> pl.DataFrame:
    """Return the table ``violation``; the raw beliefs are compared with the baselines."""
    knowing_nothing = baselines(made.beliefs, ontology)
    none = dict.fromkeys(("shuffled", "always_true"))
    order, rows = list(knowing_nothing), []
    for stage, groups in made.groups.items():
        for name, row in _rates(groups, ontology.kinds).items():
            beside = knowing_nothing[name] if stage == "before" else none
            rows.append({"constraint": name, "stage": stage, **row, **beside})
    return TABLES["violation"].frame(sorted(rows, key=lambda row: order.index(row["constraint"])))


def _rates(groups: pl.DataFrame, kinds: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return the violation rate of each constraint type, and of all types together."""
    things, rows = groups["thing"], {}
    over, under = [], []
    for name, prefix in (*((name, f"{name}_") for name in kinds), ("micro", "")):
        violated, applicable, undecided = (groups[f"{prefix}{of}"] for of in _COUNTS)
        over.append(violated)
        under.append(applicable - undecided)
        rate = Bootstrap().ratio(things, over[-1], under[-1])
        rows[name] = {**{of: groups[f"{prefix}{of}"].sum() for of in _COUNTS}, "rate": rate}
    macro = Bootstrap().mean_of_ratios(things, over[:-1], under[:-1])
    return rows | {"macro": {**dict.fromkeys(_COUNTS), "rate": macro}}


def baselines(
    beliefs: pl.DataFrame, ontology: Ontology, shuffles: int = SHUFFLES, seed: int = SEED
) -> dict[str, dict[str, float | None]]:
    """Return the violation rates of two baselines without knowledge, by constraint type."""
    held = Beliefs(in_order(beliefs), ontology, DRAWING)
    known = held.table["p_true"].is_not_null()

    def rates(truth: pl.Series) -> dict[str, float | None]:
        checked = check(held, truth)
        each = {name: checked.counts[name].rate for name in ontology.kinds}
        return {**each, "macro": checked.macro, "micro": checked.micro}

    true = rates(known.replace_strict({True: True, False: None}))
    generator = np.random.default_rng(seed)
    drawn = [rates(shuffled(held.table, generator)["p_true"] > 1 / 2) for _ in range(shuffles)]
    return {
        name: {"always_true": rate, "shuffled": _mean([of[name] for of in drawn])}
        for name, rate in true.items()
    }


def in_order(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Sort beliefs, so that shuffling does not depend on their order; missing ones last."""
    return beliefs.sort(pl.col("p_true").is_null(), *STATEMENT)


def shuffled(beliefs: pl.DataFrame, generator: np.random.Generator) -> pl.DataFrame:
    """Shuffle the known beliefs among the statements about the same drawing."""
    p_true = beliefs["p_true"].cast(pl.Float64)
    known = p_true.is_not_null().arg_true().to_numpy()
    first = beliefs.with_row_index("first").select(pl.col("first").cast(int).min().over(DRAWING))
    drawing = distinct(first.to_series().to_numpy()[known])[1]
    # Small numbers are sorted faster.
    drawing = drawing.astype(np.min_scalar_type(drawing.max(initial=0)))
    drawn = np.argsort(generator.permutation(len(known)))
    drawn = drawn[np.argsort(drawing[drawn], kind="stable")]
    values = p_true.to_numpy().copy()
    values[known[np.argsort(drawing, kind="stable")]] = values[known[drawn]]
    return beliefs.with_columns(p_true=pl.Series(values).fill_nan(None))


def repaired_shuffled(
    judged: pl.DataFrame, ontology: Ontology, shuffles: int = 20, seed: int = 1
) -> pl.DataFrame:
    """Return the accuracy that repair reaches from shuffled beliefs, if there are gold labels."""
    names, divided = list(ontology.relations), families(ontology.rules)
    family = {names[r]: number for number, (members, _) in enumerate(divided) for r in members}
    numbered = pl.col("relation").replace_strict(family, return_dtype=pl.Int64)
    needed = pl.col("label").is_not_null().any().over(*DRAWING, numbered)
    # Families of relations are repaired separately, so the others need no repair.
    rows = in_order(judged.select(*STATEMENT, "p_true", "label")).with_columns(needed=needed)
    if not rows["needed"].any():
        return TABLES["repaired_shuffled"].frame([])
    held = Beliefs(rows.filter("needed"), ontology, DRAWING)
    generator = np.random.default_rng(seed)
    each: list[pl.DataFrame] = []
    for _ in range(shuffles):
        drawn = shuffled(rows, generator).filter("needed")
        weights = weights_of(drawn["p_true"].cast(pl.Float64).to_numpy(), "paper")
        made = best_assignment(held, whole_weights(weights, "paper"))
        each += _accuracies(drawn, pl.Series(made.row_true), ontology)
    figures = pl.concat(each).with_columns(gain=pl.col("after") - pl.col("before"))
    means = (
        figures.filter(pl.col("n") > 0)
        .group_by("set", maintain_order=True)
        .agg(
            pl.col("n").first(),
            pl.col("before", "after", "gain").mean(),
            pl.col("after", "gain").min().name.suffix("_least"),
            pl.col("after", "gain").max().name.suffix("_most"),
        )
    )
    return TABLES["repaired_shuffled"].frame(means)


def _accuracies(
    drawn: pl.DataFrame, repaired: pl.Series, ontology: Ontology
) -> Iterator[pl.DataFrame]:
    """Yield the accuracy of shuffled beliefs before and after repair, by set of statements."""
    right = drawn.select(
        "relation",
        before=(pl.col("p_true") > 1 / 2) == pl.col("label"),
        after=repaired == drawn["label"],
    ).drop_nulls("before")  # no label, or no belief
    without = ~pl.col("relation").is_in(ontology.symmetric)
    for name, rows in ((ALL, right), (WITHOUT_SYMMETRIC, right.filter(without))):
        yield rows.select(
            pl.lit(name).alias("set"), pl.len().alias("n"), pl.col("before", "after").mean()
        )


def _mean(rates: Sequence[float | None]) -> float | None:
    defined = [rate for rate in rates if rate is not None]
    return fmean(defined) if defined else None


def set_level(groups: pl.DataFrame) -> dict[str, Any]:
    """Compute summary measures over annotators' drawings; an undefined share is None."""
    things, density = groups["thing"], groups["density"]
    consistent = Bootstrap().ratio(things, groups["consistent"], [1] * groups.height)
    share = Bootstrap().ratio(things, density.fill_null(0.0), density.is_not_null())
    return {
        "drawings_with_violation": int((groups["violated"] > 0).sum()),
        "consistent": consistent.value,
        "consistent_interval": consistent.interval,
        "contradiction_density": share.value,
        "contradiction_density_interval": share.interval,
    }


def repair_effects(repairs: Mapping[Objective, Repaired], by_drawing: pl.DataFrame) -> pl.DataFrame:
    """Return the table ``repair``: what repair changes, and the drawings that it makes better."""
    rows = []
    names = ("groups", "optimal", "value", "bound", "turned_true", "turned_false", "free")
    for objective, repaired in repairs.items():
        counts = repaired.to_json()
        # Both shares have the same denominator, so equal shares are exactly equal.
        before, after = by_drawing["before"], by_drawing[objective]
        compared = {"improved": after > before, "same": after == before, "worse": after < before}
        drawings = {name: int(which.sum()) for name, which in compared.items()}
        rows.append(
            {"objective": objective}
            | {name: counts[name] for name in names}
            | (drawings if by_drawing.height else dict.fromkeys(drawings))
        )
    return TABLES["repair"].frame(rows)


def repair_by_drawing(repairs: Mapping[Objective, Repaired]) -> pl.DataFrame:
    """Return the repair results, with one row per drawing and objective of repair."""
    return pl.concat(
        repaired.table.select(pl.lit(objective).alias("objective"), pl.all())
        for objective, repaired in repairs.items()
    )
