"""Tables of a run's concepts for the report, with each concept's prompts and log-probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.english import number_of, several
from tacit.findings.numbers import score
from tacit.findings.spec import View
from tacit.probes.assumptions.block import NUMBERS
from tacit.probes.assumptions.candidates import chance_mrr
from tacit.probes.assumptions.retrieval_measures import MAIN
from tacit.probes.assumptions.tables import DETAILS

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tacit.findings.findings import Findings

_BEHIND = ("retrieval", "retrieval-top", "elicitation", "elicitation-top")


def concept_views(findings: Findings, most: int) -> Iterator[View]:
    """Yield the report's table of all concepts, and the detail tables of each concept."""
    import polars as pl

    main = findings.tables["retrieval"].filter(pl.col("category").is_null(), order=MAIN)
    behind = [
        main,
        *(findings.tables[name] for name in ("retrieval_top", "elicitation", "elicitation_top")),
    ]
    names = pl.concat([table.select("concept") for table in behind])
    concepts = names.unique(maintain_order=True)
    if concepts.is_empty():
        return
    shown, told = _sample(concepts, sum(table.height for table in behind), most)
    stated = main.filter(pl.col("n").is_in(NUMBERS))
    first = findings.tables["elicitation"].filter(over="vocabulary", preface=True)
    reading = (
        "For each concept, the table shows the rank of the concept if the prompt states 1, 4 or "
        f"10 properties of the concept{_among(stated)}. The column “best response” shows the "
        f"rank of the highest-ranked response of people to the concept{_among(first)}. Open a "
        f"concept to see every prompt. {told}"
    )
    yield View(
        DETAILS["concepts"].with_reading(reading),
        _with_ranks(shown, stated, first),
        _BEHIND,
        "concept",
    )
    for name, table in zip(_BEHIND, behind, strict=True):
        some = table.join(shown, on="concept", how="semi", maintain_order="left")
        yield View(DETAILS[name], some, behind="concept")


def _with_ranks(
    concepts: pl.DataFrame, stated: pl.DataFrame, responses: pl.DataFrame
) -> pl.DataFrame:
    """Add each concept's best ranks, and the best rank of people's responses to it."""
    import polars as pl

    best = pl.col("rank").min()
    ranks = stated.group_by("concept", "n", maintain_order=True).agg(best)
    found = [
        ranks.filter(n=n).select("concept", pl.col("rank").alias(f"rank_{n}")) for n in NUMBERS
    ]
    found.append(responses.group_by("concept").agg(best.alias("best_word")))
    for each in found:
        concepts = concepts.join(each, on="concept", how="left", maintain_order="left")
    return concepts


def _among(ranks: pl.DataFrame) -> str:
    """Return a text on the number of candidates and the chance level of the MRR."""
    counts = sorted(set(ranks.drop_nulls("rank")["candidates"]))
    if not counts:
        return ""
    ends = list(dict.fromkeys((counts[0], counts[-1])))
    words = " to ".join(f"{n:,}" for n in ends)
    chances = " to ".join(score(chance_mrr(n)) for n in ends)
    return (
        f" (among {words} {number_of(counts[-1], 'candidate')}; mean reciprocal "
        f"rank of a random ranking: {chances})"
    )


def _sample(concepts: pl.DataFrame, rows: int, most: int) -> tuple[pl.DataFrame, str]:
    """Return all concepts or an evenly spaced sample, and a sentence that describes the choice."""
    if rows <= most:
        return concepts, f"Shown: all {several(concepts.height, 'concept')}."
    kept = max(1, int(concepts.height * most / rows))
    places = sorted({round(i * (concepts.height - 1) / max(1, kept - 1)) for i in range(kept)})
    return concepts[places], (
        f"Shown: a sample of {len(places):,} of {several(concepts.height, 'concept')}, evenly "
        "spaced in the order of the norms."
    )
