"""The figures of the first screen: finding concepts, and naming properties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.english import several
from tacit.findings.spec import Column, Headline, View
from tacit.probes.assumptions.retrieved import MAIN, shown_probability
from tacit.probes.assumptions.tables import ELICITATION_BY_RELATION, RETRIEVAL_BY_NUMBER

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.findings.findings import Findings

NUMBERS = (1, 4, 10)
"""How many properties are stated in the figures that are read first."""

_OF = Column("of", "of", meaning="What the row is of, in words.")
_RETRIEVED = replace(
    RETRIEVAL_BY_NUMBER,
    name="headline-retrieval",
    columns=(_OF, *RETRIEVAL_BY_NUMBER.columns),
    shown=False,
)
_ELICITED = replace(
    ELICITATION_BY_RELATION,
    name="headline-elicitation",
    columns=(_OF, *ELICITATION_BY_RELATION.columns),
    shown=False,
)

HEADLINES = (
    Headline(
        "Finding the concept: mean reciprocal rank",
        "by how many of its properties are stated; 1: always the first of all candidates; tick: "
        "chance",
        _RETRIEVED.name,
        "mrr",
        n=("concepts", "concept"),
        by=_OF.name,
        among=("candidates", "candidate"),
    ),
    Headline(
        "Finding the concept: probability",
        "of the right word, by how many properties are stated; of a causal model in the wording "
        "sentence: among the candidates",
        _RETRIEVED.name,
        "probability",
        n=("concepts", "concept"),
        by=_OF.name,
    ),
    Headline(
        "Naming properties: mean average precision",
        "by relation; 1: people's words stand before all others; tick: chance",
        _ELICITED.name,
        "map",
        n=("prompts", "prompt"),
        by=_OF.name,
        among=("candidates", "candidate"),
    ),
)


def headline_views(findings: Findings) -> Iterator[View]:
    """The rows of the headlines, each with what it is of in words."""
    import polars as pl

    rows = retrieved(findings, NUMBERS)
    named = rows["wording"].n_unique() > 1
    of = [
        ", ".join((*([wording] if named else []), several(n, "property", "properties")))
        for wording, n in rows.select("wording", "n").iter_rows()
    ]
    yield View(_RETRIEVED, rows.with_columns(pl.Series("of", of, pl.String)))
    relations = elicited(findings)
    yield View(_ELICITED, relations.with_columns(of=pl.format("\u201c{}\u201d", "relation")))


def retrieved(findings: Findings, numbers: Sequence[int]) -> pl.DataFrame:
    """Retrieval in the order of Figure 2, over all categories, by wording and number.

    Its ``probability`` is the one that people are shown: of whole sentences, which a causal model
    reads in the wording ``sentence``, the one among the candidates.
    """
    import polars as pl

    rows = (
        findings.tables[RETRIEVAL_BY_NUMBER.name]
        .filter(pl.col("category").is_null(), pl.col("n").is_in(numbers), order=MAIN)
        .sort("n", maintain_order=True)
    )
    kind = findings.summary.get("kind")
    among = [
        wording
        for wording in rows["wording"].unique()
        if shown_probability(kind, wording) == "renormalised"
    ]
    return rows.with_columns(
        pl.when(pl.col("wording").is_in(among))
        .then(pl.col(f"renormalised{end}"))
        .otherwise(pl.col(f"probability{end}"))
        .alias(f"probability{end}")
        for end in ("", "_low", "_high")
    )


def elicited(findings: Findings) -> pl.DataFrame:
    """Elicitation as the paper asks it, over the whole vocabulary, by relation."""
    return findings.tables[ELICITATION_BY_RELATION.name].filter(preface=True, over="vocabulary")
