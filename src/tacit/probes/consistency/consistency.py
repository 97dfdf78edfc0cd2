"""Conceptual consistency: how well background scores predict correct answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.background import mean_of
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.lift import LEAST_ROWS, predict, strata_of
from tacit.statistics.tests import benjamini_hochberg

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from tacit.statistics import Bootstrap
    from tacit.statistics.permutation import Permutations

# Figure 7b: maximum number of concepts, and minimum number of anchors per concept.
CONCEPTS = 14
LEAST_ANCHORS = 28

_MOST_BINS = 10
_MEASURED = ("background_score", "right")


def overall(anchors: pl.DataFrame, how: Permutations | None = None) -> pl.DataFrame:
    """Compute conceptual consistency over all anchor questions (Sahu et al. 2022, Figure 3)."""
    return _table("consistency", "all", [("all", range(anchors.height))], anchors, how)


def by_relation(
    anchors: pl.DataFrame, links: pl.DataFrame, facts: pl.DataFrame, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each relation's conceptual consistency (Sahu et al. 2022, Figure 7a)."""
    import polars as pl

    relations = links.join(facts.select("fact", "relation"), on="fact")
    chosen = relations.unique(["anchor", "relation"]).group_by("relation")
    members = chosen.agg(pl.col("anchor").sort()).sort("relation").iter_rows()
    return _table("consistency_by_relation", "relation", members, anchors, how)


def by_concept(
    anchors: pl.DataFrame, links: pl.DataFrame, facts: pl.DataFrame, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each frequent concept's conceptual consistency (Sahu et al. 2022, Figure 7b)."""
    import polars as pl

    measures = anchors.select(*_MEASURED, anchor=pl.int_range(pl.len()))
    among = links.join(measures.drop_nulls(), on="anchor", how="semi")
    members = frequent_concepts(among, facts).iter_rows()
    return _table("consistency_by_concept", "concept", members, anchors, how)


def frequent_concepts(links: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return the (at most 14) most frequent concepts in anchor questions' backgrounds."""
    import polars as pl

    ends = pl.concat([facts.select("fact", concept=end) for end in ("head", "tail")])
    return (
        links.join(ends, on="fact")
        .unique(["anchor", "concept"])
        .group_by("concept")
        .agg(anchors=pl.col("anchor").sort())
        .filter(pl.col("anchors").list.len() >= LEAST_ANCHORS)
        .sort(pl.col("anchors").list.len(), "concept", descending=[True, False])
        .head(CONCEPTS)
    )


def _table(
    table: str,
    subset: str,
    members: Iterable[tuple[str, Sequence[int]]],
    anchors: pl.DataFrame,
    how: Permutations | None,
) -> pl.DataFrame:
    rows: list[dict[str, Any]] = []
    for name, places in members:
        part = anchors[list(places)].drop_nulls(_MEASURED)
        score, right = part["background_score"], part["right"]
        found = predict(right.to_numpy(), score.to_numpy(), part["cluster"].to_numpy(), how)
        rows.append(
            {
                "subset": subset,
                "name": name,
                "n": found.n,
                "clusters": found.clusters,
                "right": found.right,
                "accuracy": mean_of(right),
                "background_score": mean_of(score),
                "consistency": found.average_precision,
                "chance": found.chance,
                "lift": found.lift,
                "auroc": found.auroc,
                "p_value": found.p_value,
                "smallest_lift": found.smallest,
                "no_interval": found.lift.why,
            }
        )
    corrected = benjamini_hochberg([row["p_value"] for row in rows])
    return TABLES[table].frame(rows, p_corrected=corrected)


def within_strata(rows: pl.DataFrame, how: Permutations | None = None) -> dict[str, Any]:
    """Compute the lift within strata of anchor questions with similar numbers of facts."""
    right, score, facts, cluster = (
        rows[name].to_numpy() for name in ("right", "background_score", "facts", "cluster")
    )
    found = predict(right, score, cluster, how, strata=strata_of(facts))
    return {
        "strata": found.strata,
        "chance_adjusted": found.chance,
        "lift_adjusted": found.lift,
        "p_adjusted": found.p_value,
    }


def adjusted(anchors: pl.DataFrame, how: Permutations | None = None) -> pl.DataFrame:
    """Compute the lift of background scores, adjusted for the number of facts."""
    rows = anchors.drop_nulls(_MEASURED)
    row = {"n": rows.height, **within_strata(rows, how)}
    why = [row["lift_adjusted"].why]
    return TABLES["adjusted"].frame([row], no_adjusted_interval=why)


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
