"""Compute conceptual consistency: how well background scores predict correct answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency.background_scores import mean_of
from tacit.statistics.prediction import benjamini_hochberg, predict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.probes.consistency.questions import Asked
    from tacit.statistics.studentised import Permutations

# Figure 7b: maximum number of concepts, and minimum number of anchors per concept.
CONCEPTS = 14
LEAST_ANCHORS = 28


def overall(anchors: pl.DataFrame, how: Permutations | None = None) -> pl.DataFrame:
    """Compute conceptual consistency over all anchor questions (Sahu et al. 2022, Figure 3)."""
    return _table([("all", "all", range(anchors.height))], anchors, how)


def by_relation(
    anchors: pl.DataFrame, asked: Asked, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each relation's conceptual consistency (Sahu et al. 2022, Figure 7a)."""
    import polars as pl

    relations = asked.links.join(asked.facts.select("fact", "relation"), on="fact")
    chosen = relations.unique(["anchor", "relation"]).group_by("relation")
    members = dict(chosen.agg(pl.col("anchor").sort()).sort("relation").iter_rows())
    return _table([("relation", name, rows) for name, rows in members.items()], anchors, how)


def by_concept(
    anchors: pl.DataFrame, asked: Asked, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each frequent concept's conceptual consistency (Sahu et al. 2022, Figure 7b)."""
    import polars as pl

    measures = anchors.select("background_score", "right", anchor=pl.int_range(pl.len()))
    frequent = frequent_concepts(asked, measures.drop_nulls()["anchor"])
    return _table([("concept", name, rows) for name, rows in frequent.iter_rows()], anchors, how)


def frequent_concepts(asked: Asked, among: pl.Series | None = None) -> pl.DataFrame:
    """Return the (at most 14) most frequent concepts in anchor questions' backgrounds."""
    import polars as pl

    ends = pl.concat([asked.facts.select("fact", concept=end) for end in ("head", "tail")])
    links = (
        asked.links
        if among is None
        else asked.links.filter(pl.col("anchor").is_in(among.implode()))
    )
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
    subsets: Sequence[tuple[str, str, Sequence[int]]],
    anchors: pl.DataFrame,
    how: Permutations | None,
) -> pl.DataFrame:
    import polars as pl

    rows = list(_rows(subsets, anchors, how))
    text = dict.fromkeys(("subset", "name"), pl.String)
    counts = dict.fromkeys(("n", "clusters", "right"), pl.Int64)
    figures = dict.fromkeys(_FIGURES, pl.Float64)
    schema = {**text, **counts, **figures, "no_interval": pl.String}
    table = pl.DataFrame(rows, schema, orient="row")
    corrected = benjamini_hochberg(table["p_value"].to_list())
    place = table.columns.index("p_value") + 1
    return table.insert_column(place, pl.Series("p_corrected", corrected, pl.Float64))


_FIGURES = (
    "accuracy",
    "background_score",
    "consistency",
    "chance",
    "lift",
    "lift_low",
    "lift_high",
    "auroc",
    "auroc_low",
    "auroc_high",
    "p_value",
    "smallest_lift",
)


def _rows(
    subsets: Sequence[tuple[str, str, Sequence[int]]],
    anchors: pl.DataFrame,
    how: Permutations | None,
) -> Iterator[tuple[str | int | float | None, ...]]:
    for subset, name, members in subsets:
        part = anchors[list(members)].drop_nulls(["background_score", "right"])
        score, right = part["background_score"], part["right"]
        found = predict(right.to_numpy(), score.to_numpy(), part["cluster"].to_numpy(), how)
        yield (
            *(subset, name, found.n, found.clusters, found.right),
            *(mean_of(right), mean_of(score), found.average_precision, found.chance),
            *(found.lift.value, found.lift.low, found.lift.high),
            *(found.auroc.value, found.auroc.low, found.auroc.high),
            *(found.p_value, found.smallest, found.no_interval),
        )
