"""Samples of answers, and percentile intervals of any figure, one resample after the other."""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike


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


def resampled(
    clusters: ArrayLike, figure: Callable[[np.ndarray], float], resamples: int = 2000, seed: int = 0
) -> list[float]:
    """The ends of 95 %, of a figure of how often each row's cluster is drawn."""
    names, of = np.unique(np.asarray(clusters), return_inverse=True)
    drawn = np.random.default_rng(seed).integers(0, len(names), (resamples, len(names)))
    counts = [np.bincount(each, minlength=len(names)) for each in drawn]
    distinct, at = np.unique(counts, axis=0, return_inverse=True)
    values = np.array([figure(each[of]) for each in distinct])
    return list(np.quantile(values[at], [0.025, 0.975]))


def mean(values: ArrayLike) -> Callable[[np.ndarray], float]:
    """The mean of values, each as often as its row is drawn."""
    return lambda times: float(np.average(np.asarray(values), weights=times))
