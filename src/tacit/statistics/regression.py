"""Ridge logistic regression with cluster-robust errors, cross-validated by cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tacit.statistics.estimate import Estimate

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

PENALTY = 1.0
"""The weight of the ridge penalty (half the sum of squared coefficients) in the loss."""

FOLDS = 10
FEWEST_ROWS = 10
"""Minimum number of rows with a correct answer, and of rows with an incorrect answer."""
FEWEST_CLUSTERS = FOLDS


@dataclass(frozen=True)
class Logistic:
    """A fitted logistic regression."""

    means: Floats
    scales: Floats
    coefficients: Floats
    covariance: Floats

    def probabilities(self, features: ArrayLike) -> Floats:
        """Return each row's predicted probability of a correct answer, shape (rows,)."""
        from scipy.special import expit

        # Summed by row, so that equal rows have exactly equal probabilities.
        probabilities: Floats = expit((self.design(features) * self.coefficients).sum(axis=1))
        return probabilities

    def interval(self, features: ArrayLike, level: float = 0.95) -> Estimate:
        """Return a row's predicted probability of a correct answer, with a Wald interval."""
        from scipy.special import expit, ndtri

        (row,) = self.design(np.asarray(features, dtype=np.float64)[None])
        value = float(row @ self.coefficients)
        reach = float(ndtri((1 + level) / 2)) * float(np.sqrt(max(row @ self.covariance @ row, 0)))
        middle, low, high = (float(expit(at)) for at in (value, value - reach, value + reach))
        return Estimate(middle, low, high)

    def design(self, features: ArrayLike) -> Floats:
        """Return the design matrix: a column of ones, then the standardised features."""
        standard = (np.asarray(features, dtype=np.float64) - self.means) / self.scales
        return np.column_stack([np.ones(len(standard)), standard])


def why_not(right: ArrayLike, clusters: ArrayLike) -> str | None:
    """Return a clause on why cross-validated prediction is impossible; None if possible."""
    labels = np.asarray(right, dtype=bool)
    if not len(labels):
        return "no question has both an answer and a value for every feature"
    if labels.all() or not labels.any():
        return f"all answers are {'correct' if labels.all() else 'incorrect'}"
    if min(labels.sum(), (~labels).sum()) < FEWEST_ROWS:
        return (
            f"fewer than {FEWEST_ROWS} answers are correct, or fewer than {FEWEST_ROWS} incorrect"
        )
    few = "the correct or the incorrect answers are about too few question concepts"
    if len(np.unique(np.asarray(clusters))) < FEWEST_CLUSTERS:
        return few
    fold = folds(labels, clusters)
    kinds = [len(np.unique(labels[fold != each])) for each in range(FOLDS)]
    return few if min(kinds) == 1 else None


def folds(right: ArrayLike, clusters: ArrayLike) -> Ints:
    """Divide rows into folds with similar shares of correct rows; no cluster is split."""
    from sklearn.model_selection import StratifiedGroupKFold

    labels, groups = np.asarray(right, dtype=bool), np.asarray(clusters)
    fold_of = np.empty(len(labels), dtype=np.intp)
    number = min(FOLDS, len(np.unique(groups)))
    # The library warns of rare classes; `why_not` has refused those that are too rare.
    split = StratifiedGroupKFold(number).split(np.zeros((len(labels), 1)), labels, groups)
    for fold, (_, rows) in enumerate(split):
        fold_of[rows] = fold
    return fold_of


def fit(right: ArrayLike, features: ArrayLike, clusters: ArrayLike) -> Logistic:
    """Fit a logistic regression that predicts the probability of a correct answer."""
    from sklearn.linear_model import LogisticRegression

    labels, columns = np.asarray(right, dtype=np.float64), np.asarray(features, dtype=np.float64)
    groups = np.unique(np.asarray(clusters), return_inverse=True)[1]
    order = np.lexsort([groups, labels, *columns.T])
    labels, columns, groups = labels[order], columns[order], groups[order]
    means, scales = columns.mean(axis=0), columns.std(axis=0)
    varies = np.ptp(columns, axis=0) > 0
    scales = np.where(varies, scales, 1.0)
    standard = np.where(varies, (columns - means) / scales, 0.0)
    model = LogisticRegression(C=1 / PENALTY, solver="newton-cholesky", tol=1e-10, max_iter=200)
    model.fit(standard, labels)
    coefficients = np.concatenate([model.intercept_, model.coef_[0]])
    bare = Logistic(means, scales, coefficients, np.zeros((len(coefficients),) * 2))
    return Logistic(means, scales, coefficients, _covariance(bare, labels, columns, groups))


def _covariance(model: Logistic, labels: Floats, columns: Floats, groups: Ints) -> Floats:
    """Return the cluster-robust covariance of the coefficients (the sandwich estimate)."""
    design, predicted = model.design(columns), model.probabilities(columns)
    ridge = np.full(len(model.coefficients), PENALTY)
    ridge[0] = 0.0
    curvature = (design * (predicted * (1 - predicted))[:, None]).T @ design + np.diag(ridge)
    scores = design * (labels - predicted)[:, None]
    clusters = int(groups.max()) + 1
    sums = np.stack([np.bincount(groups, each, clusters) for each in scores.T], axis=1)
    inverse = np.linalg.inv(curvature)
    few = clusters / (clusters - 1) if clusters > 1 else np.nan
    covariance: Floats = few * inverse @ (sums.T @ sums) @ inverse
    return covariance


def out_of_fold(right: ArrayLike, features: ArrayLike, clusters: ArrayLike, fold: Ints) -> Floats:
    """Predict P(correct) of each row with a regression fitted without the row's own fold."""
    labels, columns = np.asarray(right, dtype=bool), np.asarray(features, dtype=np.float64)
    groups, predicted = np.asarray(clusters), np.empty(len(labels))
    for each in np.unique(fold):
        rest, own = fold != each, fold == each
        if not columns.shape[1]:
            predicted[own] = labels[rest].mean()
            continue
        predicted[own] = fit(labels[rest], columns[rest], groups[rest]).probabilities(columns[own])
    return predicted
