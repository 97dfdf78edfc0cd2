"""Examples of false facts (negatives) by relation, as in Table 3 of Sahu et al. (2022)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from tacit.findings.spec import Column, TableSpec

if TYPE_CHECKING:
    import polars as pl

    from tacit.findings.findings import Findings

PER_RELATION = 3


def negative_examples(findings: Findings) -> pl.DataFrame | None:
    """Select three facts of each relation by a hash, with the false versions of the facts."""
    import polars as pl

    facts = findings.tables.get("facts")
    if facts is None:
        return None
    texts = facts.select(pl.concat_str("head", "relation", "tail", separator="\t"))
    keys = [hashlib.blake2b(text.encode()).digest() for text in texts.to_series()]
    return (
        facts.with_columns(key=pl.Series(keys, dtype=pl.Binary))
        .drop_nulls("negative_question")
        .sort("relation", "key")
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


NEGATIVE_EXAMPLES = TableSpec(
    "negative_examples",
    "Examples of negatives",
    "For each relation, three random facts and their negatives, all worded as yes/no questions "
    "(as in Table 3 of Sahu et al. 2022). A good negative is false and yet plausible.",
    columns=(
        Column("relation", "relation", meaning="The relation.", filter="relation"),
        Column("fact", "fact (answer: yes)", meaning="The question about the fact."),
        Column(
            "fact_right",
            "correct",
            "truth",
            "Whether the model answers the yes/no question correctly.",
        ),
        Column(
            "negative",
            "negative (answer: no)",
            meaning="The question about the negative (a false version of the fact).",
        ),
        Column(
            "negative_right",
            "correct",
            "truth",
            "Whether the model answers the yes/no question correctly.",
        ),
    ),
    keys=2,
    made=negative_examples,
)
