"""What a run finds: averages over concepts, with chance levels (Weir et al. 2020, Figures 2 and 3).

A concept or a response without a rank is counted as missing and is excluded from means.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from tacit.probes.assumptions import TABLES
from tacit.probes.assumptions.ranks import chance_mrr, chance_precision
from tacit.probes.assumptions.retrieval import MOST
from tacit.sources.norms import Norms
from tacit.statistics import Bootstrap, Estimate

RANDOM = "random"
"""The value of the column ``order`` for means over all random orders of properties."""

LEAST_RESPONSES = 3
"""Minimum number of ranked responses for which Spearman's rho is computed."""

MEASURES = ("map vocabulary", "map sensible", "spearman")
"""The measures in Table 2 of Weir et al. (2020)."""

NEAR_THE_TOP = 5
"""The rank up to which a word counts as favoured."""

POOLED: Mapping[str, frozenset[str]] = {
    "perceptual": frozenset({"visual perceptual", "other perceptual"}),
    "non-perceptual": frozenset({"functional", "encyclopaedic", "taxonomic"}),
}
"""The two pooled categories of properties in Weir et al. (2020)."""

_GROUP = ("wording", "order", "category", "n")
_PROMPT = ("relation", "preface", "over", "concept")


def averages(ranks: Mapping[str, pl.DataFrame]) -> dict[str, pl.DataFrame]:
    """Compute the measures of a run from its tables of ranks."""
    how, elicitation = Bootstrap(), ranks["elicitation"]
    return {
        "retrieval_by_number": retrieval_by_number(ranks["retrieval"], how),
        "elicitation_by_relation": elicitation_by_relation(elicitation, how),
        "agreement": agreement(elicitation, how),
        "ablation": ablation(elicitation, how),
        "favoured": favoured(elicitation, ranks["elicitation_top"]),
    }


def _mean(values: pl.DataFrame, of: str, how: Bootstrap) -> Estimate:
    """Return the mean of a column over the rows in which it is defined."""
    there = values.drop_nulls(of)
    return how.ratio(there["concept"].to_numpy(), there[of].to_numpy(), [1] * there.height)


def _averaged(
    name: str,
    values: pl.DataFrame,
    keys: Sequence[str],
    counts: Mapping[str, pl.Expr],
    means: Mapping[str, str],
    how: Bootstrap,
) -> pl.DataFrame:
    """Make a table with a row per group of values: the counts, and the means of columns."""
    return TABLES[name].frame(
        {
            **dict(zip(keys, group, strict=True)),
            **every.select(**counts).row(0, named=True),
            **{mean: _mean(every, of, how) for mean, of in means.items()},
        }
        for group, every in values.group_by(keys, maintain_order=True)
    )


def by_concept(retrieval: pl.DataFrame) -> pl.DataFrame:
    """Return the retrieval measures of each concept, beside chance; random orders are averaged."""
    order = pl.col("order")
    random = order.str.starts_with(f"{RANDOM}-")
    ranked = pl.when(pl.col("mrr").is_not_null()).then("candidates")
    return (
        retrieval.with_columns(order=pl.when(random).then(pl.lit(RANDOM)).otherwise(order))
        .group_by(*_GROUP, "concept", maintain_order=True)
        .agg(
            mrr=(1 / pl.col("rank")).mean(),
            probability=pl.col("logprob").filter(~pl.col("whole_sentence")).exp().mean(),
            renormalised=pl.col("renormalised").exp().mean(),
            first=(pl.col("rank") == 1).cast(pl.Float64).mean(),
            candidates=pl.col("candidates").max(),
        )
        .with_columns(chance=ranked.map_elements(chance_mrr, pl.Float64))
    )


def retrieval_by_number(retrieval: pl.DataFrame, how: Bootstrap) -> pl.DataFrame:
    """Average the retrieval measures for each number of properties in the prompt."""
    mrr = pl.col("mrr")
    counts = {
        "concepts": mrr.count(),
        "missing": mrr.null_count(),
        "candidates": pl.col("candidates").filter(mrr.is_not_null()).max(),
        "chance_mrr": pl.col("chance").mean(),
    }
    means = {name: name for name in ("mrr", "probability", "renormalised", "first")}
    return _averaged("retrieval_by_number", by_concept(retrieval), _GROUP, counts, means, how)


def precisions(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Return the average precision of each prompt for each candidate set, beside chance."""
    rank = pl.col("rank")
    ranked = rank.is_not_null()
    by_prompt = (
        elicitation.with_columns(precision=rank.rank("max").over(_PROMPT) / rank)
        .group_by(_PROMPT, maintain_order=True)
        .agg(
            responses=ranked.sum().cast(pl.Int64),
            absent=(~ranked & pl.col("spelling").is_null()).sum().cast(pl.Int64),
            missing=(~ranked & pl.col("spelling").is_not_null()).sum().cast(pl.Int64),
            candidates=pl.col("candidates").max(),
            value=pl.col("precision").mean(),
        )
    )
    counts = by_prompt.select("responses", "candidates").iter_rows()
    chance = [chance_precision(m, n) if m else None for m, n in counts]
    return by_prompt.with_columns(chance=pl.Series(chance, dtype=pl.Float64))


def correlations(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Compute Spearman's rho between production frequency and log-probability for each prompt."""
    ranked = pl.col("rank").is_not_null() & pl.col("logprob").is_not_null()
    sides = {"x": "frequency", "y": "logprob"}
    # Doubled ranks are integers even with ties: sums are exact, and a perfect order has rho 1.
    twice = {
        side: (2 * pl.when(ranked).then(name).rank("average").over(_PROMPT)).cast(pl.Int64)
        for side, name in sides.items()
    }
    x, y, n = pl.col("x"), pl.col("y"), pl.col("x").count().cast(pl.Int64)
    spread = {"xx": n * (x * x).sum() - x.sum() ** 2, "yy": n * (y * y).sum() - y.sum() ** 2}
    return (
        elicitation.filter(over="vocabulary")
        .with_columns(**twice)
        .group_by(_PROMPT, maintain_order=True)
        .agg(n=n, xy=n * (x * y).sum() - x.sum() * y.sum(), **spread)
        .with_columns(too_few=pl.col("n") < LEAST_RESPONSES)
        .with_columns(constant=~pl.col("too_few") & (pl.col("xx") * pl.col("yy") == 0))
        .with_columns(
            value=pl.when(~pl.col("too_few") & ~pl.col("constant")).then(
                pl.col("xy") / (pl.col("xx") * pl.col("yy")).sqrt()
            )
        )
        .select("relation", "preface", "concept", "too_few", "constant", "value")
    )


def elicitation_by_relation(elicitation: pl.DataFrame, how: Bootstrap) -> pl.DataFrame:
    """Average the precision for each relation, preface and candidate set."""
    counts = {
        "prompts": pl.col("value").count(),
        "candidates": pl.col("candidates").max(),
        "chance_map": pl.col("chance").mean(),
        "absent": pl.col("absent").sum(),
        "missing": pl.col("missing").sum(),
        "without": pl.col("value").null_count(),
    }
    values, keys = precisions(elicitation), _PROMPT[:3]
    return _averaged("elicitation_by_relation", values, keys, counts, {"map": "value"}, how)


def agreement(elicitation: pl.DataFrame, how: Bootstrap) -> pl.DataFrame:
    """Average Spearman's rho for each relation and preface."""
    counts = {
        "prompts": pl.len(),
        "used": pl.col("value").count(),
        "too_few": pl.col("too_few").sum(),
        "constant": pl.col("constant").sum(),
    }
    values, keys = correlations(elicitation), _PROMPT[:2]
    return _averaged("agreement", values, keys, counts, {"spearman": "value"}, how)


def measured(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Return the value of each prompt for each measure in Table 2 of Weir et al. (2020)."""
    columns = ("measure", "relation", "preface", "concept", "value", "chance")
    precision = precisions(elicitation).with_columns(measure=pl.format("map {}", "over"))
    rho = correlations(elicitation).with_columns(
        measure=pl.lit("spearman"), chance=pl.lit(None, pl.Float64)
    )
    order = pl.col("measure").cast(pl.Enum(MEASURES))
    long = pl.concat([precision.select(columns), rho.select(columns)])
    return long.sort(order, maintain_order=True)


def ablation(elicitation: pl.DataFrame, how: Bootstrap) -> pl.DataFrame:
    """Measure the effect of omitting the preface "Everyone knows that" from prompts."""
    values = measured(elicitation)
    return TABLES["ablation"].frame(
        {"relation": relation, "measure": measure, **_ablated(some, how)}
        for relation in elicitation["relation"].unique(maintain_order=True)
        for (measure,), some in values.filter(relation=relation).group_by(
            "measure", maintain_order=True
        )
        if some["preface"].n_unique() > 1
    )


def _ablated(prompts: pl.DataFrame, how: Bootstrap) -> dict[str, Any]:
    """Return the means of the same prompts with and without the preface, and their difference."""
    with_preface, bare = prompts.filter("preface"), prompts.filter(preface=False)
    pairs = with_preface.join(bare, on="concept", suffix="_bare", maintain_order="left")
    pairs = pairs.drop_nulls(["value", "value_bare"])
    values = pairs.select("value", "value_bare").to_numpy().T
    first, second = values.mean(axis=1).tolist() if pairs.height else (None, None)
    change = how.difference(pairs["concept"].to_numpy(), values, np.ones_like(values))
    return {
        "prompts": pairs.height,
        "with_preface": first,
        "without_preface": second,
        "difference": change.estimate,
    }


def favoured(elicitation: pl.DataFrame, top: pl.DataFrame) -> pl.DataFrame:
    """Count how often each word ranks first, and how often it ranks among the top five."""
    group, prompt = ("relation", "preface"), ("relation", "preface", "concept")
    spelt = [elicitation.select(*prompt, word=pl.col(name)) for name in ("word", "spelling")]
    accepted = pl.concat(spelt).drop_nulls("word").unique().with_columns(accepted=True)
    best = top.filter(over="vocabulary").join(
        accepted, on=[*prompt, "word"], how="left", maintain_order="left"
    )
    asked = best.group_by(group, maintain_order=True).agg(prompts=pl.col("concept").n_unique())
    first = pl.col("place") == 1
    words = best.group_by(*group, "word", maintain_order=True).agg(
        first=first.sum(),
        right=(first & pl.col("accepted").is_not_null()).sum(),
        in_top5=(pl.col("place") <= NEAR_THE_TOP).sum(),
        probability=pl.col("logprob").exp().mean(),
        stored=pl.len(),
    )
    rows = (
        asked.with_row_index("at")
        .join(words, on=group)
        .filter(pl.col("in_top5") > 0)
        .sort("at", "first", "word", descending=[False, True, False])
        .with_columns(share=pl.col("first") / pl.col("prompts"))
    )
    return TABLES["favoured"].frame(rows)


def categories(norms: Norms) -> dict[str, pl.DataFrame]:
    """Count properties and concepts by category of property (Weir et al. 2020, Figure 3a)."""
    rows = [(p.category, p.concept, p.feature) for p in norms.properties if p.category is not None]
    names = dict.fromkeys(("category", "concept", "feature"), pl.String)
    whole = pl.DataFrame(rows, names, orient="row").sort("category", maintain_order=True)
    pooled = [
        whole.filter(pl.col("category").is_in(parts)).with_columns(category=pl.lit(name))
        for name, parts in POOLED.items()
    ]
    every = pl.concat([whole, *pooled])
    features, concepts = pl.col("feature").n_unique(), pl.col("concept").n_unique()
    sizes = every.group_by("category", maintain_order=True).agg(
        # The norms contain each pair of a concept and a feature once.
        properties=features,
        concepts_per_property=pl.len() / features,
        usable=concepts,
    )
    has = every.group_by("category", "concept", maintain_order=True).agg(has=pl.len())
    numbers = pl.DataFrame({"n": range(1, MOST + 1)})
    counts = (
        has.join(numbers, how="cross", maintain_order="left")
        .group_by("category", "n", maintain_order=True)
        .agg(concepts=(pl.col("has") >= pl.col("n")).sum())
    )
    return {
        "categories": TABLES["categories"].frame(sizes),
        "category_counts": TABLES["category_counts"].frame(counts),
    }
