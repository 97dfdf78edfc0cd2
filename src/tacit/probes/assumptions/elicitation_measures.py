"""Agreement of elicited properties with people's responses (Weir et al. 2020, Table 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.findings.measure import mean, shared

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tacit.statistics import Bootstrap


LEAST_RESPONSES = 3
"""Minimum number of ranked responses for which Spearman's rho is computed."""

_PROMPT = ("relation", "preface", "over", "concept")


def precisions(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Compute the average precision of each prompt for each candidate set."""
    import polars as pl

    rank = pl.col("rank")
    ranked = rank.is_not_null()
    up_to = rank.rank("max").over(_PROMPT)
    return (
        elicitation.with_columns(precision=up_to / rank)
        .group_by(_PROMPT, maintain_order=True)
        .agg(
            responses=ranked.sum().cast(pl.Int64),
            absent=(~ranked & pl.col("spelling").is_null()).sum().cast(pl.Int64),
            missing=(~ranked & pl.col("spelling").is_not_null()).sum().cast(pl.Int64),
            candidates=pl.col("candidates").max().cast(pl.Int64),
            value=pl.col("precision").mean(),
        )
    )


def correlations(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Compute Spearman's rho between production frequency and log-probability for each prompt."""
    import polars as pl

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
        elicitation.filter(pl.col("over") == "vocabulary")
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


def mean_of(
    values: pl.DataFrame, of: str, bootstrap: Bootstrap
) -> tuple[float | None, float | None, float | None]:
    """Return a column's mean over concepts and the ends of its interval; None if undefined."""
    known = values.drop_nulls(of)
    (found,) = mean(of, known["concept"], known[of].to_numpy()[None]).estimates(bootstrap)
    return found.value, found.low, found.high


def by_relation(elicitation: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the mean average precision for each relation, preface and candidate set."""
    import polars as pl

    rows = []
    grouped = precisions(elicitation).group_by(_PROMPT[:3], maintain_order=True)
    for group, every in grouped:
        without = every["value"].null_count()
        lost = (every["absent"].sum(), every["missing"].sum(), without)
        rows.append((*group, every.height - without, *lost, *mean_of(every, "value", bootstrap)))
    counts = dict.fromkeys(("prompts", "absent", "missing", "without"), pl.Int64)
    figures = dict.fromkeys(("map", "map_low", "map_high"), pl.Float64)
    group_schema = {"relation": pl.String, "preface": pl.Boolean, "over": pl.String}
    return pl.DataFrame(rows, {**group_schema, **counts, **figures}, orient="row")


def agreement(elicitation: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the mean Spearman correlation of frequency and probability per relation."""
    import polars as pl

    rows = []
    grouped = correlations(elicitation).group_by(_PROMPT[:2], maintain_order=True)
    for group, every in grouped:
        used = every["value"].count()
        counts = (every.height, used, every["too_few"].sum(), every["constant"].sum())
        rows.append((*group, *counts, *mean_of(every, "value", bootstrap)))
    names = dict.fromkeys(("prompts", "used", "too_few", "constant"), pl.Int64)
    figures = dict.fromkeys(("spearman", "spearman_low", "spearman_high"), pl.Float64)
    schema = {"relation": pl.String, "preface": pl.Boolean, **names, **figures}
    return pl.DataFrame(rows, schema, orient="row")


def ablation(elicitation: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Measure the effect of omitting the preface "Everyone knows that" from prompts."""
    import polars as pl

    names = ("with_preface", "without_preface", "difference", "low", "high")
    schema = {
        "relation": pl.String,
        "measure": pl.String,
        "prompts": pl.Int64,
        **dict.fromkeys(names, pl.Float64),
    }
    rows = list(_ablated(measured(elicitation), bootstrap))
    order = elicitation["relation"].unique(maintain_order=True).to_list()
    rows.sort(key=lambda row: order.index(row[0]))
    return pl.DataFrame(rows, schema, orient="row")


def measured(elicitation: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """Return, for each measure in Table 2 of Weir et al. (2020), the value of each prompt."""
    import polars as pl

    precision = precisions(elicitation)
    columns = ("relation", "preface", "concept", "value", "candidates")
    tables = {
        f"map {over}": precision.filter(pl.col("over") == over)
        for over in ("vocabulary", "sensible")
    }
    rho = correlations(elicitation).with_columns(candidates=pl.lit(None, pl.Int64))
    return {name: table.select(columns) for name, table in {**tables, "spearman": rho}.items()}


def _ablated(
    values: dict[str, pl.DataFrame], bootstrap: Bootstrap
) -> Iterator[tuple[str, str, *tuple[float | None, ...]]]:
    for name, every in values.items():
        sides = [every.filter(preface=preface) for preface in (True, False)]
        for relation in sides[0]["relation"].unique(maintain_order=True):
            if relation in sides[1]["relation"]:
                asked = [side.filter(relation=relation) for side in sides]
                rows, found = shared(asked, ["concept"], ["value"])
                both = mean(name, rows["concept"], found["value"])
                change = both.difference(bootstrap)
                ends = (change.value, change.low, change.high)
                yield relation, name, both.n, *both.values, *ends
