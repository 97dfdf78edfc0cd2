"""Compute conceptual consistency: how well background scores predict correct answers.

Conceptual consistency is the average precision of background scores as predictors of correct
answers to anchor questions (Sahu et al. 2022, equations 2 and 3). Conceptual consistency is
reported with its chance level, its lift above chance, the AUROC and a p-value. If background scores
contain no information about correct answers, their average precision is not 0, but about the share
of correct answers.
"""

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
    """Compute conceptual consistency over all anchor questions (Sahu et al. 2022, Figure 3).

    Args:
        anchors: Table with the columns ``background_score``, ``right`` and ``cluster``. Rows
            without a background score or without an answer are excluded.
        how: The parameters of the permutations from which the p-value and the confidence intervals
            are computed; None for the default parameters.

    Returns:
        Table with one row and the columns of the table that ``by_relation`` returns.
    """
    return _table([("all", "all", range(anchors.height))], anchors, how)


def by_relation(
    anchors: pl.DataFrame, asked: Asked, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each relation's conceptual consistency (Sahu et al. 2022, Figure 7a).

    For each relation, conceptual consistency is computed over the anchor questions that have at
    least one fact of the relation. The background score of an anchor question is computed from all
    of its facts, including facts of other relations.

    Returns:
        Table with one row per relation. ``subset`` is the constant "relation", and ``name`` is the
        name of the relation. ``n`` is the number of anchor questions, ``clusters`` is the number of
        question concepts, and ``right`` is the number of correct answers. ``background_score`` is
        the mean background score of the anchor questions that have a fact of the relation.
        ``consistency`` is the average precision, and ``chance`` is its chance level. ``lift_low``,
        ``lift_high``, ``auroc_low`` and ``auroc_high`` are the ends of the confidence intervals of
        ``lift`` and ``auroc``. ``p_corrected`` is the p-value after the Benjamini-Hochberg
        correction over all rows of the table. ``smallest_lift`` is the smallest lift that a test
        with ``n`` anchor questions would detect (significant at 5 % in 80 of 100 samples).
        ``no_interval`` is the reason why the lift has no confidence interval: one of the constants
        of ``tacit.statistics.prediction``. Undefined measures are null.
    """
    import polars as pl

    relations = asked.links.join(asked.facts.select("fact", "relation"), on="fact")
    chosen = relations.unique(["anchor", "relation"]).group_by("relation")
    members = dict(chosen.agg(pl.col("anchor").sort()).sort("relation").iter_rows())
    return _table([("relation", name, rows) for name, rows in members.items()], anchors, how)


def by_concept(
    anchors: pl.DataFrame, asked: Asked, how: Permutations | None = None
) -> pl.DataFrame:
    """Compute each frequent concept's conceptual consistency (Sahu et al. 2022, Figure 7b).

    For each concept, conceptual consistency is computed over the anchor questions with at least one
    background fact that contains the concept. A concept is used only if it occurs in the
    backgrounds of at least 28 anchor questions and is one of the 14 most frequent concepts.

    Returns:
        Table with the columns of ``by_relation`` and one row per concept, the most frequent concept
        first.
    """
    import polars as pl

    measures = anchors.select("background_score", "right", anchor=pl.int_range(pl.len()))
    frequent = frequent_concepts(asked, measures.drop_nulls()["anchor"])
    return _table([("concept", name, rows) for name, rows in frequent.iter_rows()], anchors, how)


def frequent_concepts(asked: Asked, among: pl.Series | None = None) -> pl.DataFrame:
    """Return the (at most 14) most frequent concepts in anchor questions' backgrounds.

    Args:
        asked: The facts of each anchor question.
        among: Indices of the anchor questions to include; None for all anchor questions.

    Returns:
        Table with the columns ``concept`` and ``anchors`` (the list of the anchor questions'
        indices). The concepts are sorted by decreasing frequency. Concepts in the backgrounds of
        fewer than 28 anchor questions are excluded. Concepts of equal frequency are sorted
        alphabetically.
    """
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
