"""Average precision of elicitation against scikit-learn's."""

from __future__ import annotations

import math

import pytest

from tacit.probes.assumptions.averages import precisions
from tests.probes.assumptions.made_up import random_prompt, ranked

metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")


@pytest.mark.parametrize("spellings", [1, 3])
@pytest.mark.parametrize("levels", [1, 3, 20, 10**9])
@pytest.mark.parametrize("seed", range(25))
def test_equal_to_scikit_learn(seed: int, levels: int, spellings: int) -> None:
    """Over all candidates but worse spellings, all tied to none, few or many of them right."""
    prompt = random_prompt(seed, levels, spellings)
    left = {word: value for word, value in prompt.rivals.items() if not math.isnan(value)}
    right = [word in prompt.best for word in left]
    found = precisions(ranked({"bear": prompt}))
    (row,) = found.iter_rows(named=True)
    assert row["responses"] == sum(right)
    if not any(right):
        assert row["value"] is None
        return
    expected = metrics.average_precision_score(right, list(left.values()))
    assert row["value"] == pytest.approx(expected, abs=1e-12)
    assert row["candidates"] == len(left)


def test_worse_spellings_are_taken_out() -> None:
    """The draws above do have some, and taking them out changes figures."""
    changed = 0
    for seed in range(40):
        prompt = random_prompt(seed, 20, 3)
        every = {word: value for word, value in prompt.values.items() if not math.isnan(value)}
        right = [word in prompt.best for word in every]
        (value,) = precisions(ranked({"bear": prompt}))["value"]
        if any(right):
            kept_in = metrics.average_precision_score(right, list(every.values()))
            changed += value != pytest.approx(kept_in)
    assert changed > 10
