"""The ridge regression without its penalty, against statsmodels."""

from types import ModuleType

import numpy as np
import pytest

from tacit.statistics import regression
from tacit.statistics.regression import fit
from tests.statistics.test_regression import drawn

sm: ModuleType = pytest.importorskip("statsmodels.api")


def test_without_a_penalty_the_errors_are_those_of_statsmodels(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Coefficients, and their cluster-robust covariance without the correction for coefficients."""
    monkeypatch.setattr(regression, "PENALTY", 1e-9)
    right, features, clusters = drawn()
    found = fit(right, features, clusters)
    groups = np.unique(clusters, return_inverse=True)[1]
    model = sm.Logit(right.astype(float), found.design(features))
    expected = model.fit(disp=0, cov_type="cluster", cov_kwds={"groups": groups})
    assert found.coefficients == pytest.approx(expected.params, abs=1e-7)
    n, k = found.design(features).shape
    assert found.covariance == pytest.approx(expected.cov_params() * (n - k) / (n - 1), rel=1e-5)
