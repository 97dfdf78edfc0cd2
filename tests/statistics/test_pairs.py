from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from tacit.statistics import Bootstrap
from tacit.statistics.prediction import holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    """A test without a p-value is not counted."""
    expected = multipletests(p_values, method="holm")[1]
    assert holm(p_values) == pytest.approx(list(expected), abs=1e-15)
    assert holm([None, *p_values, None]) == [None, *holm(p_values), None]


def test_holm_by_hand() -> None:
    """.01·3, then .02·2, then .04 raised to .04."""
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert holm([]) == holm([None])[:-1] == []


millionths = st.integers(-(10**6), 10**6).map(lambda number: number / 10**6)


@given(
    values=st.lists(millionths, min_size=60, max_size=200, unique=True),
    middle=millionths,
)
def test_p_and_interval_agree(values: list[float], middle: float) -> None:
    """Below .05 if and only if the interval excludes 0; close to twice the smaller share."""
    resampled = np.array(values) - middle
    found = Bootstrap().change(0.5, resampled)
    assert found.p_value is not None
    assert found.low is not None
    assert found.high is not None
    if min(abs(found.low), abs(found.high)) > 1e-9:
        assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)
    share = min((resampled <= 1e-12).mean(), (resampled >= -1e-12).mean())
    assert found.p_value == pytest.approx(min(1, 2 * share), abs=4 / len(values))
    assert 2 / (len(values) + 1) <= found.p_value <= 1


def test_many_pairs_have_more_resamples() -> None:
    """So that the smallest p-value is significant after Holm's correction."""
    assert Bootstrap.for_pairs(2) == Bootstrap.for_pairs(7) == Bootstrap()
    for models in (8, 12, 30):
        pairs = models * (models - 1) // 2
        least = 2 / (Bootstrap.for_pairs(models).resamples + 1)
        assert least * pairs < 0.05
