"""Tables of a run's concepts for the report, with each concept's prompts and log-probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tacit.english import several
from tacit.findings.display import Details
from tacit.findings.findings import Findings
from tacit.findings.numbers import evenly_spaced
from tacit.probes.assumptions import DETAILS, MAIN, NUMBERS

_BEHIND = ("retrieval", "retrieval_top", "elicitation", "elicitation_top")


def details(
    findings: Findings,
    request: Mapping[str, Any],  # noqa: ARG001 - part of the contract
    most: int,
) -> Iterator[Details]:
    """Yield the report's table of concepts, and the detail tables of each concept."""
    import polars as pl

    tables = {name.replace("_", "-"): findings.tables[name] for name in _BEHIND}
    main = tables["retrieval"].filter(pl.col("category").is_null(), order=MAIN)
    tables["retrieval"] = main
    rows = pl.concat([table.select("concept") for table in tables.values()])
    concepts = rows.unique(maintain_order=True)
    if concepts.is_empty():
        return
    kept = max(1, min(concepts.height, concepts.height * most // rows.height))
    table = some = concepts[evenly_spaced(concepts.height, kept)]
    best = [
        main.filter(n=n).group_by("concept").agg(pl.col("rank").min().alias(f"rank_{n}"))
        for n in NUMBERS
    ]
    first = tables["elicitation"].filter(over="vocabulary", preface=True)
    best.append(first.group_by("concept").agg(best_word=pl.col("rank").min()))
    for each in best:
        table = table.join(each, on="concept", how="left", maintain_order="left")
    sample = "" if kept == concepts.height else "an evenly spaced sample of "
    reading = f"Shown: {sample}{several(concepts.height, 'concept')}."
    yield Details(DETAILS["concepts"].with_reading(reading), table, tuple(tables), "concept")
    for name, each in tables.items():
        behind = each.join(some, on="concept", how="semi", maintain_order="left")
        yield Details(DETAILS[name], behind, behind="concept")
