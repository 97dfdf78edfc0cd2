"""The verdict on concept retrieval, its two baselines, and what a fast run leaves out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import polars as pl
import pytest
from wordfreq import zipf_frequency

from tacit.findings.verdict import Verdict
from tacit.probes.assumptions.block import standing
from tacit.probes.assumptions.probe import Assumptions
from tacit.requests import Prompt
from tests.probes.assumptions.small_run import CONCEPTS, noise, small_run


def knowing(prompt: Prompt, answer: str, seed: int) -> float:
    """A model that knows every concept by its properties."""
    if answer in CONCEPTS and f"near a {CONCEPTS[CONCEPTS.index(answer) - 1]}" in prompt.text:
        return 1
    return noise(prompt, answer, seed)


def frequent(_: Prompt, answer: str, seed: int) -> float:  # noqa: ARG001 - a model's
    return zipf_frequency(answer, "en") - 9


@pytest.mark.parametrize(
    ("says", "options", "verdict"),
    [
        (noise, {}, "no signal"),
        (frequent, {}, "constant"),
        (knowing, {}, "clear"),
        (knowing, {"limit": 9}, "too few data"),
    ],
)
def test_the_verdict_on_models_by_hand(
    says: Callable[..., float], options: dict[str, object], verdict: str
) -> None:
    """The block begins with it."""
    findings = small_run(says=says, orders="main", **options)
    of = Verdict.of(findings.summary["verdict"])
    assert of.name == verdict
    assert Assumptions.block(findings).verdict == of


def test_the_top_prediction_and_the_frequency_baseline() -> None:
    """Counted over the main prompts; the rank by frequency as a model's own would be."""
    findings = small_run(orders="main")
    main = findings.tables["retrieval"].filter(pl.col("category").is_null())
    best = findings.tables["retrieval_top"].filter(place=1)
    ((word, count),) = Counter(best["word"]).most_common(1)
    top = findings.summary["top_prediction"]
    assert top["share"] == count / main.height == Counter(best["word"])[top["word"]] / top["n"]
    assert count == Counter(best["word"])[word]
    by_frequency = small_run(says=frequent, orders="main").tables["retrieval"]
    by_frequency = by_frequency.filter(pl.col("category").is_null(), n=10)
    expected = float((1 / by_frequency["rank"]).to_numpy().mean())
    assert findings.summary["frequency_mrr"] == pytest.approx(expected)


def test_ranks_that_frequency_explains_are_weak() -> None:
    """Here the candidates are the concepts alone, and frequency reaches more than the interval."""
    tables = dict(small_run(says=knowing, orders="main").tables)
    word = pl.col("word").is_in(tables["retrieval"]["word"].implode())
    tables["vocabulary"] = tables["vocabulary"].with_columns(candidate=word)
    rows = tables["retrieval_by_number"]
    low, chance = pl.col("mrr_low"), pl.col("chance_mrr")
    for ends, verdict in (((0.5, 0.9), "clear"), ((0.01, 0.2), "weak")):
        bounds = {"mrr": pl.lit(0.1), "mrr_low": chance + ends[0], "mrr_high": pl.lit(ends[1])}
        tables["retrieval_by_number"] = rows.with_columns(**bounds)
        assert (tables["retrieval_by_number"].select((low > chance).all())).item()
        assert standing(tables)["verdict"]["verdict"] == verdict


def test_a_fast_run_asks_the_main_order_with_the_preface() -> None:
    """And says so; the ablation of the preface is empty."""
    findings = small_run(fast=True)
    assert set(findings.tables["retrieval"]["order"]) == {"top-decreasing"}
    assert set(findings.tables["elicitation"]["preface"]) == {True}
    assert findings.tables["ablation"].is_empty()
    findings.check(Assumptions.tables.values())
    assert "fast" in findings.summary
    assert "fast" not in small_run().summary
