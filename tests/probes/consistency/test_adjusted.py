"""The adjusted lift and odds ratio of a run, and the sentences that they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl
import pytest

from tacit.probes.consistency.adjusted import SUMMARY, adjusted
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.regression import odds_ratio
from tacit.statistics.stratified import adjusted_lift, strata_of
from tacit.statistics.studentised import Permutations

if TYPE_CHECKING:
    from tests.probes.consistency.run_by_hand import Run

QUICK = Permutations(400)
N = 300


def anchors(slope: float = 0.0, easier: float = 0.0, seed: int = 0) -> pl.DataFrame:
    """Anchors whose answers depend on knowledge, on the number of facts, or on neither."""
    random = np.random.default_rng(seed)
    facts = np.minimum(random.geometric(0.3, N), 9)
    knowledge = random.normal(size=N)
    score = random.binomial(2 * facts, 1 / (1 + np.exp(-0.5 - knowledge))) / (2 * facts)
    odds = slope * knowledge - easier * (np.log2(facts) - 1)
    return pl.DataFrame(
        {
            "background_score": score,
            "right": random.random(N) < 1 / (1 + np.exp(-odds)),
            "facts": facts,
            "frequency": random.normal(5, 1, N),
            "answer": ["é" * int(length) for length in random.integers(1, 20, N)],
            "cluster": [f"c{number // 2}" for number in range(N)],
        }
    )


def test_the_row_is_that_of_the_two_tests() -> None:
    """Strata of the number of facts; facts as a logarithm, bytes of the answer, frequency."""
    rows = anchors(1.0)
    row = adjusted(rows, QUICK).row(0, named=True)
    right, score, facts, cluster = (
        rows[name].to_numpy() for name in ("right", "background_score", "facts", "cluster")
    )
    lift = adjusted_lift(right, score, strata_of(facts), cluster, QUICK)
    assert row["lift_adjusted"] == lift.lift.value
    assert (row["lift_adjusted_low"], row["p_adjusted"]) == (lift.lift.low, lift.p_value)
    predictors = {
        "score": score,
        "facts": np.log(facts),
        "frequency": rows["frequency"].to_numpy(),
        "bytes": np.array([2.0 * len(text) for text in rows["answer"]]),
    }
    ratio = odds_ratio(right, predictors, cluster)
    assert row["odds_ratio"] == pytest.approx(ratio.ratio.value)
    assert row["odds_ratio_p"] == pytest.approx(ratio.p_value)
    assert row["no_odds_ratio"] is None


def test_questions_of_unknown_frequency_are_left_out_of_the_regression_alone() -> None:
    """If the frequency is unknown for all, the regression does without it."""
    rows = anchors(1.0)
    some = rows.with_columns(
        frequency=pl.when(pl.int_range(pl.len()) >= 30).then(pl.col("frequency"))
    )
    found = adjusted(some, QUICK).row(0, named=True)
    assert (found["n"], found["odds_ratio_n"]) == (N, N - 30)
    none = rows.with_columns(frequency=pl.lit(None, pl.Float64))
    found = adjusted(none, QUICK).row(0, named=True)
    assert (found["n"], found["odds_ratio_n"]) == (N, N)
    assert found["odds_ratio"] is not None


def test_a_run_has_the_row_and_the_names_of_its_summary(run: Run) -> None:
    """All in the summary under stable names."""
    row = run.found.tables[TABLES["adjusted"].name].row(0, named=True)
    assert {name: run.found.summary[name] for name in SUMMARY} == {n: row[n] for n in SUMMARY}
    assert {"lift_adjusted", "p_adjusted", "odds_ratio"} <= set(SUMMARY)


def test_a_confounder_is_named_and_knowledge_is_found() -> None:
    """Easy questions with few facts and random knowledge, then knowledge that matters."""
    row = adjusted(anchors(easier=1.2, seed=4), QUICK).row(0, named=True)
    assert row["p_adjusted"] > 0.05
    row = adjusted(anchors(slope=1.5), QUICK).row(0, named=True)
    assert row["p_adjusted"] == 1 / 401
    assert row["odds_ratio_low"] > 1
