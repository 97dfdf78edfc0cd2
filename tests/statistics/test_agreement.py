"""The agreement of two raters, against scikit-learn, statsmodels and hand computation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from tacit.statistics.agreement import NO_ROWS, ONE_CATEGORY, ONE_SIDED, PERFECT, agreement

PAIRS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 1)), min_size=1, max_size=60)


@given(pairs=PAIRS)
def test_kappa_is_that_of_other_libraries(pairs: list[tuple[int, int]]) -> None:
    """Its value of scikit-learn, its interval of statsmodels, cut at -1 and 1."""
    one, other = zip(*pairs, strict=True)
    found = agreement(one, other)
    assert found.n == len(pairs)
    if len({*one, *other}) == 1:
        assert (found.kappa.value, found.no_interval) == (None, ONE_CATEGORY)
        return
    assert found.kappa.value == pytest.approx(cohen_kappa_score(one, other), abs=1e-12)
    if found.no_interval is not None:
        assert found.no_interval == (PERFECT if one == other else ONE_SIDED)
        assert found.no_interval == PERFECT or 1 in {len({*one}), len({*other})}
        assert found.kappa.interval is None
        return
    counts = [[pairs.count((a, b)) for b in (0, 1)] for a in (0, 1)]
    theirs = cohens_kappa(np.array(counts))
    expected = [max(theirs.kappa_low, -1), min(theirs.kappa_upp, 1)]
    assert found.kappa.interval == pytest.approx(expected, abs=1e-12)


@given(pairs=PAIRS)
def test_raters_and_categories_can_be_swapped(pairs: list[tuple[int, int]]) -> None:
    """Neither changes the agreement or kappa."""
    one, other = (np.array(each) for each in zip(*pairs, strict=True))
    found = agreement(one, other)
    for swapped in (agreement(other, one), agreement(1 - one, 1 - other)):
        assert swapped.agreement == found.agreement
        assert swapped.no_interval == found.no_interval
        if found.kappa.value is not None:
            assert swapped.kappa.value == pytest.approx(found.kappa.value, abs=1e-12)


def test_kappa_worked_by_hand() -> None:
    """20 and 15 equal ratings of 50: kappa is (0.7 - 0.5)/(1 - 0.5)."""
    one = [1] * 25 + [0] * 25
    other = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = agreement(one, other)
    assert found.agreement.value == 0.7
    assert found.agreement.interval == pytest.approx(proportion_confint(35, 50, method="wilson"))
    assert found.kappa.value == pytest.approx(0.4)


def test_nothing_rated_has_no_figures() -> None:
    """Neither an agreement nor a kappa."""
    found = agreement([], [])
    assert (found.n, found.agreement.value, found.kappa.value) == (0, None, None)
    assert found.no_interval == NO_ROWS


def test_raters_who_never_agree_have_a_kappa() -> None:
    """Raters of one category each agree as often as by chance; balanced ones less often."""
    found = agreement([1, 1], [0, 0])
    assert (found.kappa.value, found.no_interval) == (0.0, ONE_SIDED)
    assert agreement([1, 0], [0, 1]).kappa.value == -1.0
