"""Tables of a run's concepts for the report, with each concept's prompts and log-probabilities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings.spec import Details
from tacit.probes.assumptions.tables import DETAILS, MAIN, NUMBERS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tacit.findings.findings import Findings

_BEHIND = ("retrieval", "retrieval_top", "elicitation", "elicitation_top")


def details(
    findings: Findings,
    request: Mapping[str, Any],  # noqa: ARG001 - part of the contract
    most: int,
) -> Iterator[Details]:
    """Yield the report's table of all concepts, and the detail tables of each concept."""
    import polars as pl

    tables = {name: findings.tables[name] for name in _BEHIND}
    main = tables["retrieval"].filter(pl.col("category").is_null(), order=MAIN)
    tables["retrieval"] = main
    every = pl.concat([table.select("concept") for table in tables.values()])
    concepts = every.unique(maintain_order=True)
    if concepts.is_empty():
        return
    kept = max(1, min(concepts.height, concepts.height * most // every.height))
    step = (concepts.height - 1) / max(1, kept - 1)
    shown = concepts[sorted({round(at * step) for at in range(kept)})]
    found = [
        main.filter(n=n).group_by("concept").agg(pl.col("rank").min().alias(f"rank_{n}"))
        for n in NUMBERS
    ]
    first = tables["elicitation"].filter(over="vocabulary", preface=True)
    found.append(first.group_by("concept").agg(best_word=pl.col("rank").min()))
    table = shown
    for each in found:
        table = table.join(each, on="concept", how="left", maintain_order="left")
    sample = "" if kept == concepts.height else "an evenly spaced sample of "
    told = f"Shown: {sample}{several(concepts.height, 'concept')}."
    names = tuple(name.replace("_", "-") for name in _BEHIND)
    yield Details(DETAILS["concepts"].with_reading(told), table, names, "concept")
    for name, rows in zip(names, tables.values(), strict=True):
        some = rows.join(shown, on="concept", how="semi", maintain_order="left")
        yield Details(DETAILS[name], some, behind="concept")
