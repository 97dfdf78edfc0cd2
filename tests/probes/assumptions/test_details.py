"""The declared tables of the probe: what every run has, and what is made for reading."""

from __future__ import annotations

import polars as pl

from tacit.probes.assumptions.probe import Assumptions
from tests.probes.assumptions.small_run import small_run

FINDINGS = small_run()


def test_behind_a_concept_are_its_prompts_and_its_ranks() -> None:
    """As the findings have them; of too many rows a sample, which the table says."""
    whole, some = (
        {view.spec.name: view for view in Assumptions.details(FINDINGS, {}, most)}
        for most in (10**6, 2_000)
    )
    for view in whole.values():
        assert view.spec.in_table(view.table)
        for name in view.opens:
            assert whole[name].behind == view.key
            assert view.key in whole[name].table.columns
    behind = ("retrieval", "retrieval-top", "elicitation", "elicitation-top")
    assert whole["concepts"].opens == behind
    row = whole["concepts"].table.row(by_predicate=pl.col("concept") == "bear", named=True)
    main = FINDINGS.tables["retrieval"].filter(
        pl.col("category").is_null(), order="top-decreasing", concept="bear"
    )
    for n in (1, 4, 10):
        assert row[f"rank_{n}"] == main.filter(n=n)["rank"][0]
    assert some["concepts"].table.height < 16
    assert "sample" in some["concepts"].spec.reading
    assert set(some["retrieval"].table["concept"]) == set(some["concepts"].table["concept"])
