"""How well models find a concept from its properties (Weir et al. 2020, Figures 2, 3a and 3b).

A concept that the model cannot write has no rank: it is missing, counted, and in no mean.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.assumptions.candidates import chance_of
from tacit.probes.assumptions.means import mean

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap

MAIN = "top-decreasing"
"""The order of Figures 1, 2 and 3a."""

RANDOM = "random"
"""The order that stands for all random draws."""

FIGURES = ("mrr", "probability", "renormalised", "first")
"""What is averaged over concepts."""

_GROUP = ("wording", "order", "category")


def reads_sentences(kind: str | None, wording: str) -> bool:
    """Whether a model's log-probabilities of retrieval are of whole sentences.

    Those of a causal model in the wording ``sentence`` are: their probability, such as 1e-127, is
    comparable with nothing, and only the one among the candidates is shown to people.
    """
    return kind == "causal" and wording == "sentence"


def shown_probability(kind: str | None, wording: str) -> str:
    """The probability that people are shown: the column ``probability`` or ``renormalised``."""
    return "renormalised" if reads_sentences(kind, wording) else "probability"


def by_concept(retrieval: pl.DataFrame) -> pl.DataFrame:
    """What each concept contributes to the means.

    Of the random orders a concept has the mean over its draws, so that each counts once.

    Args:
        retrieval: wording, order, category, concept, n, rank, logprob, renormalised and
            candidates.

    Returns:
        wording, order, category, n, concept, and the figures: ``mrr`` (1/rank), ``probability``
        (of the full softmax), ``renormalised`` (over the candidates), ``first`` (1 for rank 1,
        else 0), null where the concept is missing; and ``candidates``, how many were ranked.
    """
    import polars as pl

    order = pl.col("order")
    drawn = order.str.starts_with(f"{RANDOM}-")
    keys = (*_GROUP, "n", "concept")
    return (
        retrieval.with_columns(order=pl.when(drawn).then(pl.lit(RANDOM)).otherwise(order))
        .group_by(keys, maintain_order=True)
        .agg(
            mrr=(1 / pl.col("rank")).mean(),
            probability=pl.col("logprob").exp().mean(),
            renormalised=pl.col("renormalised").exp().mean(),
            first=(pl.col("rank") == 1).cast(pl.Float64).mean(),
            candidates=pl.col("candidates").max().cast(pl.Int64),
        )
    )


def by_number(retrieval: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Each figure by the number of properties that the prompt states.

    A concept counts at n when it has a prompt of n properties (of the category).

    Args:
        retrieval: As for ``by_concept``.
        bootstrap: How intervals are made, over concepts.

    Returns:
        wording, order (``random``: the mean over a concept's draws, then over concepts), category
        (null: of all), n, ``concepts`` (with a rank), ``missing`` (without), ``candidates`` (the
        most that were ranked), ``chance_mrr`` (the mean reciprocal rank of random ranks among
        them), and of each of ``mrr``, ``probability``, ``renormalised`` and ``first`` the mean
        with ``_low`` and ``_high``. Groups keep the order of the input, each by n. Null where
        nothing has a rank.
    """
    import polars as pl

    rows = []
    for group, some in by_concept(retrieval).group_by(_GROUP, maintain_order=True):
        for (n,), every in some.sort("n", maintain_order=True).group_by("n", maintain_order=True):
            missing = every["mrr"].null_count()
            means = (mean(every, figure, bootstrap) for figure in FIGURES)
            figures = (value for estimate in means for value in estimate)
            ranked = every.filter(pl.col("mrr").is_not_null())["candidates"]
            chance = ranked.max(), chance_of(ranked).mean()
            rows.append((*group, n, every.height - missing, missing, *chance, *figures))
    text = dict.fromkeys(_GROUP, pl.String)
    counts = dict.fromkeys(("n", "concepts", "missing", "candidates"), pl.Int64)
    names = ("chance_mrr", *(f"{f}{end}" for f in FIGURES for end in ("", "_low", "_high")))
    schema = {**text, **counts, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row")
