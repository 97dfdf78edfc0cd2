"""The adjusted lift of a run."""

from __future__ import annotations

import numpy as np
import polars as pl

from tacit.probes.consistency.consistency import adjusted
from tacit.statistics.permutation import Permutations

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


def test_a_confounder_is_named_and_knowledge_is_found() -> None:
    """Easy questions with few facts and random knowledge, then knowledge that matters."""
    row = adjusted(anchors(easier=1.2, seed=4), QUICK).row(0, named=True)
    assert row["p_adjusted"] > 0.05
    row = adjusted(anchors(slope=1.5), QUICK).row(0, named=True)
    assert row["p_adjusted"] == 1 / 401
