"""Conceptual consistency: how well background scores predict correct answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import mean_of
from tacit.statistics import Bootstrap
from tacit.statistics.lift import LEAST_ROWS, Lift, measure_lift, strata_of
from tacit.statistics.permutation import Permutations
from tacit.statistics.tests import benjamini_hochberg

# Figure 7b: maximum number of concepts, and minimum number of anchors per concept.
CONCEPTS = 14
LEAST_ANCHORS = 28

_MOST_BINS = 10
_MEASURED = ("background_score", "right")
_PREDICTED = ("right", "background_score", "cluster")


def overall(anchors: pl.DataFrame, how: Permutations) -> pl.DataFrame:
    """Compute conceptual consistency over all anchor questions (Sahu et al. 2022, Figure 3).

    It is the average precision of the background score as a predictor of correct answers.
    """
    return _by_subset("consistency", "all", {"all": anchors}, how)


def by_relation(answered: ModelAnswers, how: Permutations) -> pl.DataFrame:
    """Compute each relation's conceptual consistency (Sahu et al. 2022, Figure 7a)."""
    members = answered.links.join(answered.facts, on="fact").select("anchor", "relation")
    parts = {
        name: answered.anchors.join(members.filter(relation=name), on="anchor", how="semi")
        for name in members["relation"].unique().sort()
    }
    return _by_subset("consistency_by_relation", "relation", parts, how)


def by_concept(answered: ModelAnswers, how: Permutations) -> pl.DataFrame:
    """Compute each frequent concept's conceptual consistency (Sahu et al. 2022, Figure 7b)."""
    among = answered.links.join(answered.anchors.drop_nulls(_MEASURED), on="anchor", how="semi")
    parts = {
        name: answered.anchors.join(pl.DataFrame({"anchor": members}), on="anchor", how="semi")
        for name, members in frequent_concepts(among, answered.facts).iter_rows()
    }
    return _by_subset("consistency_by_concept", "concept", parts, how)


def frequent_concepts(links: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return the (at most 14) most frequent concepts in anchor questions' backgrounds."""
    ends = pl.concat([facts.select("fact", concept=end) for end in ("head", "tail")])
    return (
        links.join(ends, on="fact")
        .unique(["anchor", "concept"])
        .group_by("concept")
        .agg("anchor")
        .filter(pl.col("anchor").list.len() >= LEAST_ANCHORS)
        .sort(pl.col("anchor").list.len(), "concept", descending=[True, False])
        .head(CONCEPTS)
    )


def _by_subset(
    table: str, subset: str, parts: Mapping[str, pl.DataFrame], how: Permutations
) -> pl.DataFrame:
    rows = []
    for name, part in parts.items():
        measured, row = lift_columns(part, how)
        row |= {"subset": subset, "name": name, "clusters": measured.clusters}
        row |= {"right": measured.right, "auroc": measured.auroc}
        row |= {"smallest_lift": measured.smallest, "no_interval": measured.lift.why}
        rows.append(row)
    corrected = benjamini_hochberg([row["p_value"] for row in rows])
    return TABLES[table].frame(rows, p_corrected=corrected)


def _lift(anchors: pl.DataFrame, how: Permutations, *, by_facts: bool = False) -> Lift:
    rows = anchors.drop_nulls(_MEASURED)
    right, score, cluster = (rows[name].to_numpy() for name in _PREDICTED)
    strata = strata_of(rows["facts"].to_numpy()) if by_facts else None
    return measure_lift(right, score, cluster, how, strata=strata)


def lift_columns(anchors: pl.DataFrame, how: Permutations) -> tuple[Lift, dict[str, Any]]:
    """Measure how well background scores predict correct answers; return its columns in tables."""
    measured, rows = _lift(anchors, how), anchors.drop_nulls(_MEASURED)
    return measured, {
        "n": measured.n,
        "accuracy": mean_of(rows["right"]),
        "background_score": mean_of(rows["background_score"]),
        "consistency": measured.average_precision,
        "chance": measured.chance,
        "lift": measured.lift,
        "p_value": measured.p_value,
    }


def within_strata(anchors: pl.DataFrame, how: Permutations) -> dict[str, Any]:
    """Compute the lift within strata of anchor questions with similar numbers of facts."""
    measured = _lift(anchors, how, by_facts=True)
    return {
        "strata": measured.strata,
        "chance_adjusted": measured.chance,
        "lift_adjusted": measured.lift,
        "p_adjusted": measured.p_value,
    }


def adjusted(anchors: pl.DataFrame, how: Permutations) -> pl.DataFrame:
    row = within_strata(anchors, how)
    n = anchors.drop_nulls(_MEASURED).height
    return TABLES["adjusted"].frame(
        [{"n": n, **row, "no_adjusted_interval": row["lift_adjusted"].why}]
    )


def accuracy_by_score(anchors: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Group anchor questions by background score, and return the accuracy in each group."""
    scored = anchors.drop_nulls(_MEASURED).sort("background_score")
    scores = scored["background_score"].to_numpy()
    least = max(LEAST_ROWS, -(-len(scores) // _MOST_BINS))
    bins = strata_of(scores, least) if len(scores) else np.empty(0, np.intp)
    return TABLES["accuracy_by_score"].frame(
        {
            "lowest": part["background_score"][0],
            "highest": part["background_score"][-1],
            "background_score": part["background_score"].mean(),
            "n": part.height,
            "right": part["right"].sum(),
            "accuracy": bootstrap.ratio(part["cluster"], part["right"], np.ones(part.height)),
        }
        for part in (scored.filter(bins == each) for each in np.unique(bins))
    )
