from collections.abc import Iterable

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import logistic, norm
from sklearn.metrics import roc_auc_score

from tacit.statistics.regression import FOLDS, fit, folds, out_of_fold, why_not


def drawn(n: int = 300, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What is right, features of which the first says something of it, and clusters."""
    random = np.random.default_rng(seed)
    features = random.normal(size=(n, 3)) * [1, 20, 0.1] + [5, 0, -2]
    right = random.random(n) < 1 / (1 + np.exp(-1.5 * (features[:, 0] - 5)))
    return right, features, np.array([f"c{each}" for each in random.integers(0, 60, n)])


def test_the_coefficients_minimise_the_penalised_loss() -> None:
    """The sum of the log losses and half the squared coefficients, by another optimiser."""
    right, features, clusters = drawn()
    standard = (features - features.mean(axis=0)) / features.std(axis=0)

    def loss(of: np.ndarray) -> float:
        odds = of[0] + standard @ of[1:]
        return float(np.logaddexp(0, np.where(right, -odds, odds)).sum() + (of[1:] ** 2).sum() / 2)

    expected = minimize(loss, np.zeros(4), tol=1e-12).x
    assert fit(right, features, clusters).coefficients == pytest.approx(expected, abs=1e-4)


def test_the_interval_is_that_of_the_log_odds() -> None:
    """Around the linear predictor, from the coefficients' covariance."""
    right, features, clusters = drawn()
    found = fit(right, features, clusters)
    row = np.array([1, *(features[0] - features.mean(axis=0)) / features.std(axis=0)])
    error = (row @ found.covariance @ row) ** 0.5
    ends = norm.interval(0.95, row @ found.coefficients, error)
    made = found.interval(features[0])
    assert [made.low, made.high] == pytest.approx([logistic.cdf(end) for end in ends])
    assert made.value == pytest.approx(found.probabilities(features[:1])[0])


def test_the_order_of_the_rows_has_no_effect() -> None:
    """Folds, probabilities and coefficients are the same to the last bit."""
    right, features, clusters = drawn()
    fold = folds(right, clusters)
    order = np.random.default_rng(1).permutation(len(right))
    shuffled = right[order], features[order], clusters[order]
    assert (folds(shuffled[0], shuffled[2]) == fold[order]).all()
    found = out_of_fold(right, features, clusters, fold)
    assert (out_of_fold(*shuffled, fold[order]) == found[order]).all()
    assert (fit(*shuffled).coefficients == fit(right, features, clusters).coefficients).all()
    assert (fit(*shuffled).covariance == fit(right, features, clusters).covariance).all()


def test_clusters_stay_together_and_folds_are_alike() -> None:
    """Each cluster is in one fold, and all folds are in use; few clusters are a fold each."""
    right, _, clusters = drawn()
    fold = folds(right, clusters)
    assert {len(set(fold[clusters == each])) for each in clusters} == {1}
    assert set(fold) == set(range(FOLDS))
    rates = [right[fold != each].mean() for each in range(FOLDS)]
    assert max(rates) - min(rates) < 0.03
    few = np.arange(300) % 3
    fold = folds(right, few)
    assert sorted([*set(fold[few == each])] for each in range(3)) == [[0], [1], [2]]


def test_a_prediction_is_made_without_the_row_itself() -> None:
    """Another label of a fold's rows changes their probabilities only by the scaling of others."""
    right, features, clusters = drawn()
    fold = folds(right, clusters)
    found = out_of_fold(right, features, clusters, fold)
    other = np.where(fold == 3, ~right, right)
    again = out_of_fold(other, features, clusters, fold)
    assert (found[fold == 3] == again[fold == 3]).all()
    assert not (found[fold != 3] == again[fold != 3]).any()


def test_features_that_say_nothing_predict_nothing() -> None:
    """Over many samples the mean AUROC is one half; unbalanced folds would make it less."""
    areas = []
    for seed in range(20):
        random = np.random.default_rng(seed)
        right, features = random.random(200) < 0.3, random.normal(size=(200, 2))
        clusters = random.integers(0, 50, 200)
        found = out_of_fold(right, features, clusters, folds(right, clusters))
        areas.append(roc_auc_score(right, found))
    assert np.mean(areas) == pytest.approx(0.5, abs=0.03)


def test_a_constant_feature_has_no_effect() -> None:
    """Its coefficient is 0, and nothing is divided by 0."""
    right, features, clusters = drawn()
    fold = folds(right, clusters)
    shares = out_of_fold(right, np.empty((300, 0)), clusters, fold)
    assert shares[0] == right[fold != fold[0]].mean()
    found = fit(right, np.column_stack([features, np.full(300, 0.1)]), clusters)
    assert found.coefficients[4] == 0
    assert found.coefficients[:4] == pytest.approx(fit(right, features, clusters).coefficients)


def test_why_no_prediction_is_made() -> None:
    """All right or wrong, too few rows of a kind, or all of a kind in one cluster."""
    cases: list[tuple[list[bool], Iterable[int], str]] = [
        ([], [], "no question"),
        ([True] * 30, range(30), "are correct"),
        ([False] * 30, range(30), "are incorrect"),
        ([True] * 9 + [False] * 30, range(39), "fewer than 10 answers"),
        ([True, False] * 20, [at // 5 for at in range(40)], "too few question concepts"),
        ([True] * 10 + [False] * 30, [0] * 10 + [*range(1, 31)], "too few question concepts"),
    ]
    for right, clusters, expected in cases:
        assert expected in str(why_not(right, [*clusters]))
    assert why_not([True, False] * 20, [*range(40)]) is None
