"""Average precision and AUROC against scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.statistics.ranking import auroc, average_precision

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


@pytest.mark.parametrize("seed", range(40))
@pytest.mark.parametrize("values", [2, 7, 60, 10**9])
def test_equal_to_scikit_learn(values: int, seed: int) -> None:
    """From two different scores to none tied, 2 to 1,221 rows, few or many of them right."""
    random = np.random.default_rng(seed)
    n = int(random.choice([2, 5, 28, 300, 1221]))
    score = random.integers(0, values, n) / values
    right = random.random(n) < random.choice([0.05, 0.4, 0.9])
    right[:2] = [True, False]
    assert average_precision(right, score) == pytest.approx(
        metrics.average_precision_score(right, score), abs=1e-12
    )
    assert auroc(right, score) == pytest.approx(metrics.roc_auc_score(right, score), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_equal_for_scores_of_few_facts(seed: int) -> None:
    """Means of two accuracies over 1 to 12 facts, tied and nearly tied."""
    random = np.random.default_rng(seed)
    facts = random.integers(1, 13, 300)
    score = (random.integers(0, facts + 1) / facts + random.integers(0, facts + 1) / facts) / 2
    right = random.random(300) < score
    assert average_precision(right, score) == pytest.approx(
        metrics.average_precision_score(right, score), abs=1e-12
    )
    assert auroc(right, score) == pytest.approx(metrics.roc_auc_score(right, score), abs=1e-12)
