"""Compute measures of concept retrieval (Weir et al. 2020, Figures 2, 3a and 3b).

A concept has no rank if the model's tokenizer cannot encode the concept's word. A concept without a
rank is counted as missing and is excluded from means.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.assumptions import elicitation_measures
from tacit.probes.assumptions.candidates import chance_of, chance_range, with_chance
from tacit.probes.assumptions.elicitation_measures import mean_of
from tacit.statistics import Bootstrap

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl


MAIN = "top-decreasing"
"""The name of the property order that Weir et al. (2020) use in Figures 1, 2 and 3a."""

RANDOM = "random"
"""The value of the column ``order`` for means over all random orders of properties."""

FIGURES = ("mrr", "probability", "renormalised", "first")
"""The names of the measures that are averaged over concepts."""

_GROUP = ("wording", "order", "category")


def reads_sentences(kind: str | None, wording: str) -> bool:
    """Check whether a model's retrieval scores are log-probabilities of whole sentences."""
    return kind == "causal" and wording == "sentence"


def shown_probability(kind: str | None, wording: str) -> str:
    """Return the name of the column to show: ``probability`` or ``renormalised``."""
    return "renormalised" if reads_sentences(kind, wording) else "probability"


def by_concept(retrieval: pl.DataFrame) -> pl.DataFrame:
    """Compute the retrieval measures of each concept, before averaging over concepts."""
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
    """Compute the mean of each measure for each number of properties in the prompt."""
    import polars as pl

    rows = []
    for group, some in by_concept(retrieval).group_by(_GROUP, maintain_order=True):
        for (n,), every in some.sort("n", maintain_order=True).group_by("n", maintain_order=True):
            missing = every["mrr"].null_count()
            means = (mean_of(every, figure, bootstrap) for figure in FIGURES)
            figures = (value for estimate in means for value in estimate)
            ranked = every.filter(pl.col("mrr").is_not_null())["candidates"]
            # With random orders, a concept's value is a mean over several rankings.
            single = len(ranked) > 0 and RANDOM not in group
            span = chance_range(tuple(sorted(ranked))) if single else (None, None)
            chance = ranked.max(), chance_of(ranked).mean(), *span
            rows.append((*group, n, every.height - missing, missing, *chance, *figures))
    text = dict.fromkeys(_GROUP, pl.String)
    counts = dict.fromkeys(("n", "concepts", "missing", "candidates"), pl.Int64)
    names = (
        "chance_mrr",
        "chance_mrr_low",
        "chance_mrr_high",
        *(f"{f}{end}" for f in FIGURES for end in ("", "_low", "_high")),
    )
    schema = {**text, **counts, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema, orient="row")


NEAR_THE_TOP = 5
"""The function ``favoured`` counts in how many prompts a word ranks among the top five."""

_PROMPT_GROUP = ("relation", "preface")
_PROMPT = (*_PROMPT_GROUP, "concept")


def favoured(elicitation: pl.DataFrame, top: pl.DataFrame) -> pl.DataFrame:
    """Count how often each word ranks first, and how often it ranks among the top five."""
    import polars as pl

    best = top.filter(pl.col("over") == "vocabulary").join(
        _accepted(elicitation), on=[*_PROMPT, "word"], how="left", maintain_order="left"
    )
    asked = best.group_by(_PROMPT_GROUP, maintain_order=True).agg(
        prompts=pl.col("concept").n_unique()
    )
    first = pl.col("place") == 1
    words = best.group_by(*_PROMPT_GROUP, "word", maintain_order=True).agg(
        first=first.sum(),
        right=(first & pl.col("accepted").is_not_null()).sum(),
        in_top5=(pl.col("place") <= NEAR_THE_TOP).sum(),
        probability=pl.col("logprob").exp().mean(),
        stored=pl.len(),
    )
    counts = ("prompts", "first", "right", "in_top5", "stored")
    return (
        asked.with_row_index("at")
        .join(words, on=_PROMPT_GROUP)
        .filter(pl.col("in_top5") > 0)
        .sort("at", "first", "word", descending=[False, True, False])
        .with_columns(pl.col(counts).cast(pl.Int64))
        .with_columns(share=pl.col("first") / pl.col("prompts"))
        .select(
            *(*_PROMPT_GROUP, "word", "prompts", "first", "share", "right", "in_top5"),
            *("probability", "stored"),
        )
    )


def _accepted(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Return people's responses to each prompt, as spelled by people and by the model."""
    import polars as pl

    spelt = [elicitation.select(*_PROMPT, word=pl.col(column)) for column in ("word", "spelling")]
    return pl.concat(spelt).drop_nulls("word").unique().with_columns(accepted=pl.lit(value=True))


STANDINGS = ("retrieval", "retrieval_top", "elicitation", "elicitation_top")
"""The names of the tables from which ``measures`` computes all measures."""


def measures(standings: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Compute the measures of a run from its tables of ranks."""
    bootstrap = Bootstrap()
    elicitation = standings["elicitation"]
    return {
        "retrieval_by_number": by_number(standings["retrieval"], bootstrap),
        "elicitation_by_relation": with_chance(
            elicitation_measures.by_relation(elicitation, bootstrap), elicitation
        ),
        "agreement": elicitation_measures.agreement(elicitation, bootstrap),
        "ablation": elicitation_measures.ablation(elicitation, bootstrap),
        "favoured": favoured(elicitation, standings["elicitation_top"]),
    }


def intervals() -> dict[str, Any]:
    """Return the settings of the confidence intervals, for a run's manifest."""
    return {**Bootstrap().to_json(), "clusters": "concept"}
