"""P-values and critical values from permutations, against their definitions."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics.permutation import critical_value, p_value


def test_the_observation_is_one_of_the_permutations() -> None:
    """So a p-value is never 0, and equal figures count although their last digits differ."""
    permuted = np.array([0.1, 0.2, 0.3, 0.1 + 0.2])
    assert p_value(0.5, permuted) == 1 / 5
    assert p_value(0.3, permuted) == 3 / 5
    assert p_value(0.0, permuted) == 1


@settings(max_examples=30)
@given(st.lists(st.integers(0, 30), min_size=1, max_size=60), st.sampled_from([0.05, 0.2, 0.5]))
def test_the_critical_value_is_where_p_values_pass(figures: list[int], level: float) -> None:
    """Above it they are at most the level, up to it they are not."""
    permuted = np.array(figures, dtype=float)
    critical = critical_value(permuted, level)
    for figure in range(32):
        passes = p_value(figure, permuted) <= level + 1e-12
        assert passes == (critical is not None and figure > critical)
