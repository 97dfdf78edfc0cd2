"""Samples of answers whose correctness depends on the number of facts and on knowledge."""

from __future__ import annotations

import numpy as np


def drawn(
    n: int, seed: int, slope: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Anchors of which those with few facts are right more often."""
    random = np.random.default_rng(seed)
    facts = np.minimum(random.geometric(0.3, n), 8)
    knowledge = random.normal(size=n)
    score = random.binomial(2 * facts, 1 / (1 + np.exp(-0.5 - knowledge))) / (2 * facts)
    odds = 0.8 - 0.9 * np.log2(facts) + slope * knowledge
    right = random.random(n) < 1 / (1 + np.exp(-odds))
    return right, score, facts, np.arange(n) // 2
