from __future__ import annotations

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.statistics import regression
from tacit.statistics.regression import difference, odds_ratio


def drawn(n: int = 400, seed: int = 0) -> tuple[np.ndarray, dict[str, np.ndarray], np.ndarray]:
    """Rows whose odds depend on two predictors and on their cluster."""
    random = np.random.default_rng(seed)
    cluster = np.arange(n) // 5
    score, facts = random.random(n), random.integers(1, 9, n)
    length = random.normal(size=n) * 30 + 200
    odds = -1 + 1.5 * score - 0.2 * facts + random.normal(size=n // 5)[cluster]
    right = random.random(n) < 1 / (1 + np.exp(-odds))
    return right, {"score": score, "facts": np.log(facts), "length": length}, cluster


@pytest.mark.parametrize("seed", range(4))
def test_ratio_and_robust_error_are_those_of_statsmodels(seed: int) -> None:
    """Fitted by its general formula on the predictors as they are, to 1e-8."""
    right, predictors, cluster = drawn(seed=seed)
    found = odds_ratio(right, predictors, cluster)
    design = sm.add_constant(np.column_stack(list(predictors.values())))
    fitted = sm.GLM(right.astype(float), design, family=sm.families.Binomial()).fit(
        tol=1e-14, maxiter=200, cov_type="cluster", cov_kwds={"groups": cluster}
    )
    low, high = np.exp(fitted.conf_int()[1])
    assert found.ratio.value == pytest.approx(np.exp(fitted.params[1]), rel=1e-8)
    assert found.log_error == pytest.approx(fitted.bse[1], rel=1e-8)
    assert found.ratio.low == pytest.approx(low, rel=1e-8)
    assert found.ratio.high == pytest.approx(high, rel=1e-8)
    assert found.p_value == pytest.approx(fitted.pvalues[1], rel=1e-6)
    assert found.undefined is None
    assert found.n == 400


def test_the_robust_error_by_hand() -> None:
    """The sandwich of scores summed over clusters, with statsmodels' small-sample factor."""
    right, predictors, cluster = drawn()
    found = odds_ratio(right, predictors, cluster)
    design = sm.add_constant(np.column_stack(list(predictors.values())))
    weights = np.zeros(4)
    for _ in range(60):
        p = 1 / (1 + np.exp(-design @ weights))
        hessian = (design * (p * (1 - p))[:, None]).T @ design
        weights = weights + np.linalg.solve(hessian, design.T @ (right - p))
    scores = np.array(
        [(design * (right - p)[:, None])[cluster == c].sum(axis=0) for c in set(cluster)]
    )
    bread, groups, n = np.linalg.inv(hessian), len(scores), len(right)
    factor = groups / (groups - 1) * (n - 1) / (n - 4)
    covariance = factor * bread @ scores.T @ scores @ bread
    assert found.log_error == pytest.approx(covariance[1, 1] ** 0.5, rel=1e-8)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 100), st.floats(-5, 5), st.randoms(use_true_random=False))
def test_units_and_the_order_of_rows_do_not_matter(
    scale: float, shift: float, random: object
) -> None:
    """The log of the ratio is that of one unit of the first predictor."""
    right, predictors, cluster = drawn(200)
    order = list(range(200))
    assert hasattr(random, "shuffle")
    random.shuffle(order)
    one = odds_ratio(right, predictors, cluster)
    moved = {"score": predictors["score"] * scale + shift, "facts": predictors["facts"] * 3}
    moved["length"] = predictors["length"] - 7
    other = odds_ratio(right[order], {k: v[order] for k, v in moved.items()}, cluster[order])
    assert one.ratio.value is not None
    assert other.ratio.value is not None
    assert np.log(other.ratio.value) * scale == pytest.approx(np.log(one.ratio.value), rel=1e-6)
    assert other.p_value == pytest.approx(one.p_value, rel=1e-5)


def test_a_constant_covariate_is_left_out() -> None:
    """It would make the design singular."""
    right, predictors, cluster = drawn()
    more = {**predictors, "same": np.full(400, 3.0)}
    assert odds_ratio(right, more, cluster) == odds_ratio(right, predictors, cluster)


def test_reasons_why_there_is_no_ratio() -> None:
    """All right, a constant score, few clusters, few rows, and a score that separates."""
    right, predictors, cluster = drawn()
    n = len(right)
    assert odds_ratio([], {"score": []}, []).undefined == regression.NO_ROWS
    score = {"score": predictors["score"]}
    cases = (
        (np.ones(n, dtype=bool), predictors, cluster, regression.UNDEFINED),
        (right, {"score": np.full(n, 0.5)}, cluster, regression.CONSTANT),
        (right, predictors, cluster % 9, regression.FEW_CLUSTERS),
        (np.arange(n) < 20, predictors, cluster, regression.FEW_ROWS),
        (predictors["score"] > 0.5, score, cluster, regression.SEPARATED),
    )
    for labels, given_, clusters, reason in cases:
        found = odds_ratio(labels, given_, clusters)
        assert found.undefined == reason
        assert (found.ratio.value, found.ratio.low, found.p_value) == (None, None, None)


@pytest.mark.parametrize("seed", range(3))
def test_the_influences_make_the_error(seed: int) -> None:
    """Their squares sum to that of the error; each is nearly the change without its cluster."""
    right, predictors, cluster = drawn(seed=seed)
    found = odds_ratio(right, predictors, cluster)
    assert found.influence is not None
    assert (found.influence**2).sum() ** 0.5 == pytest.approx(found.log_error)
    changes = []
    for name in range(80):
        kept = cluster != name
        part = {key: values[kept] for key, values in predictors.items()}
        left = odds_ratio(right[kept], part, cluster[kept])
        assert left.logarithm is not None
        assert found.logarithm is not None
        changes.append(found.logarithm - left.logarithm)
    assert np.corrcoef(changes, found.influence)[0, 1] > 0.99


def test_a_difference_of_ratios_is_that_of_a_bootstrap() -> None:
    """Of the same rows with other scores; the same ratio twice differs by nothing."""
    right, predictors, cluster = drawn(600, 1)
    random = np.random.default_rng(0)
    other = {**predictors, "score": predictors["score"] + random.normal(size=600)}
    first, second = (odds_ratio(right, each, cluster) for each in (predictors, other))
    found = difference(first, second)
    resampled = []
    for _ in range(300):
        chosen = random.integers(0, 120, 120)
        rows = np.concatenate([np.flatnonzero(cluster == name) for name in chosen])
        names = np.repeat(np.arange(120), 5)
        one, two = (
            odds_ratio(right[rows], {k: v[rows] for k, v in each.items()}, names).logarithm or 0.0
            for each in (predictors, other)
        )
        resampled.append(two - one)
    assert found.value == pytest.approx((second.logarithm or 0) - (first.logarithm or 0))
    assert found.low is not None
    assert found.high is not None
    assert (found.high - found.low) / 3.92 == pytest.approx(np.std(resampled), rel=0.2)
    same = difference(first, first)
    assert (same.value, same.low, same.p_value) == (0.0, None, None)
