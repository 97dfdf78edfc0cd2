"""The accuracy that repair reaches without knowledge: from shuffled beliefs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.coherence.constraints import compile_ontology
from tacit.coherence.repair import repair
from tacit.probes.parts.accuracy import WITHOUT_SYMMETRIC
from tacit.probes.parts.beliefs import DRAWING, STATEMENT
from tacit.probes.parts.tables import BY_NAME
from tacit.probes.parts.violation_baselines import shuffled

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tacit.coherence.ontology import Ontology

SHUFFLES = 20
SEED = 1


def repaired_shuffled(
    judged: pl.DataFrame, ontology: Ontology, shuffles: int = SHUFFLES, seed: int = SEED
) -> pl.DataFrame:
    """Return the table ``repaired_shuffled``, without rows if no labelled statement has a belief.

    Args:
        judged: The statements of all drawings, with ``p_true`` and ``label``.
        ontology: The relations and their constraints.
        shuffles: The number of permutations of the beliefs.
        seed: Seed of the permutations.
    """
    import polars as pl

    families = {name: of.family for name, of in compile_ontology(ontology)[1].items()}
    family = pl.col("relation").replace_strict(families, return_dtype=pl.Int64)
    rows = (
        judged.select(*STATEMENT, "p_true", "label")
        .sort(STATEMENT)
        # Families of relations are repaired separately, so the others need no repair.
        .with_columns(needed=pl.col("label").is_not_null().any().over(*DRAWING, family))
    )
    generator = np.random.default_rng(seed)
    drawn = [
        each
        for _ in range(shuffles if rows["needed"].any() else 0)
        for each in _accuracies(shuffled(rows, generator).filter("needed"), ontology)
    ]
    schema = BY_NAME["repaired_shuffled"].schema
    if not drawn:
        return pl.DataFrame(schema=schema)
    figures = pl.concat(drawn).with_columns(gain=pl.col("after") - pl.col("before"))
    return (
        figures.group_by("set", maintain_order=True)
        .agg(
            pl.col("n").first(),
            pl.col("before", "after", "gain").mean(),
            pl.col("after", "gain").min().name.suffix("_least"),
            pl.col("after", "gain").max().name.suffix("_most"),
        )
        .select(pl.col(name).cast(kind) for name, kind in schema.items())
    )


def _accuracies(drawn: pl.DataFrame, ontology: Ontology) -> Iterator[pl.DataFrame]:
    """Yield the accuracy of shuffled beliefs before and after repair, by set of statements."""
    import polars as pl

    made = repair(drawn.select(*STATEMENT, "p_true"), ontology, time_limit=None).beliefs
    right = drawn.select(
        "relation",
        before=made["believed"] == drawn["label"],
        after=made["repaired"] == drawn["label"],
    ).drop_nulls("before")  # no label, or no belief
    without = ~pl.col("relation").is_in(ontology.symmetric)
    for name, rows in (("ParRoT", right), (WITHOUT_SYMMETRIC, right.filter(without))):
        if rows.height:
            yield rows.select(
                pl.lit(name).alias("set"), pl.len().alias("n"), pl.col("before", "after").mean()
            )
