"""Examples of false facts (negatives) by relation, as in Table 3 of Sahu et al. (2022)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tacit.probes.consistency.questions import FACT

if TYPE_CHECKING:
    import polars as pl

PER_RELATION = 3


def negative_examples(facts: pl.DataFrame) -> pl.DataFrame:
    """Select three facts of each relation by a hash, with the false versions of the facts."""
    import polars as pl

    keys = ["\t".join(fact).encode() for fact in facts.select(FACT).iter_rows()]
    ranks = [hashlib.blake2b(key).digest() for key in keys]
    return (
        facts.with_columns(rank=pl.Series(ranks, dtype=pl.Binary))
        .drop_nulls("negative_question")
        .sort("relation", "rank")
        .group_by("relation", maintain_order=True)
        .head(PER_RELATION)
        .select(
            "relation",
            fact="positive_question",
            fact_right="positive_right",
            negative="negative_question",
            negative_right="negative_right",
        )
    )
