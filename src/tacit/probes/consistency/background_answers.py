"""How often a model says yes to background questions, and whether it tells facts from negatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from tacit.findings.spec import Column
from tacit.probes.consistency.tables import TABLES

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap


def _estimate(
    name: str,
    heading: str,
    meaning: str,
    kind: Literal["percent", "score"] = "percent",
    chance: float | None = None,
) -> Column:
    return Column(name, heading, kind, meaning, (f"{name}_low", f"{name}_high"), chance=chance)


_ESTIMATES = (
    _estimate("yes", "yes", "The share of background questions that the model answers “yes”."),
    _estimate("yes_facts", "yes to facts", "The share of “yes” if the right answer is “yes”."),
    _estimate(
        "yes_negatives", "yes to negatives", "The share of “yes” if the right answer is “no”."
    ),
    _estimate(
        "auroc",
        "AUROC",
        "How well the margin of “yes” over “no” tells facts from negatives.",
        "score",
        0.5,
    ),
    _estimate(
        "balanced_accuracy",
        "balanced accuracy",
        "The mean of the accuracy on facts and the accuracy on negatives.",
        chance=0.5,
    ),
)


def answered(facts: pl.DataFrame, links: pl.DataFrame, anchors: pl.DataFrame) -> pl.DataFrame:
    """Return the distinct answered background questions, from the tables of a run."""
    import polars as pl

    clusters = anchors.select("cluster", anchor=pl.int_range(pl.len(), dtype=pl.Int64))
    first = links.sort("anchor", maintain_order=True).unique("fact", keep="first")
    of = facts.join(first.join(clusters, on="anchor"), on="fact", maintain_order="left")
    sides = [
        of.select(
            "cluster",
            question=f"{side}_question",
            margin=f"{side}_margin",
            gold=pl.lit(gold),
            yes=pl.col(f"{side}_right") == gold,
        )
        for side, gold in (("positive", True), ("negative", False))
    ]
    every = pl.concat(sides).unique(["question", "gold"], keep="first", maintain_order=True)
    return every.drop_nulls("yes")


def background_answers(answers: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the table ``background_answers`` from the frame that ``answered`` returns."""
    import polars as pl

    gold, yes, cluster = (answers[name].to_numpy() for name in ("gold", "yes", "cluster"))
    of, right = np.stack([gold, ~gold]), np.stack([gold & yes, ~gold & ~yes])
    known = answers.drop_nulls("margin")
    found = (
        bootstrap.ratio(cluster, yes, np.ones_like(yes)),
        bootstrap.ratio(cluster, gold & yes, gold),
        bootstrap.ratio(cluster, ~gold & yes, ~gold),
        bootstrap.auroc(known["cluster"], known["gold"], known["margin"]),
        bootstrap.mean_of_ratios(cluster, right, of, all_defined=True),
    )
    row: dict[str, object] = {"n": len(gold), "facts": int(gold.sum())}
    for column, one in zip(_ESTIMATES, found, strict=True):
        row |= dict(zip(column.names, (one.value, one.low, one.high), strict=True))
    return pl.DataFrame([row], schema=TABLES["background_answers"].schema)
