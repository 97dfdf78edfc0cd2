"""The accuracy that repair reaches without knowledge: from shuffled beliefs."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from tacit.coherence.beliefs import Beliefs
from tacit.coherence.constraints import families_of
from tacit.coherence.ontology import Ontology
from tacit.coherence.problems import best_assignment
from tacit.coherence.repair import weights_of, whole_weights
from tacit.probes.parts.beliefs import DRAWING, STATEMENT
from tacit.probes.parts.repair import in_order, shuffled
from tacit.probes.parts.tables import ALL, TABLES, WITHOUT_SYMMETRIC

SHUFFLES = 20
SEED = 1


def repaired_shuffled(
    judged: pl.DataFrame, ontology: Ontology, shuffles: int = SHUFFLES, seed: int = SEED
) -> pl.DataFrame:
    """Return the table ``repaired_shuffled``, empty if no labelled statement has a belief."""
    family, _, _ = families_of(ontology).places
    families = dict(zip(ontology.relations, family.tolist(), strict=True))
    numbered = pl.col("relation").replace_strict(families, return_dtype=pl.Int64)
    needed = pl.col("label").is_not_null().any().over(*DRAWING, numbered)
    rows = (
        in_order(judged.select(*STATEMENT, "p_true", "label"))
        # Families of relations are repaired separately, so the others need no repair.
        .with_columns(needed=needed)
    )
    spec = TABLES["repaired_shuffled"]
    if not rows["needed"].any():
        return spec.frame([])
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
    return spec.frame(means.iter_rows(named=True))


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
