from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from tacit.statistics import Bootstrap
from tacit.statistics.cross_validation import out_of_fold


def sample(rows: int, heads: int, seed: int = 0) -> tuple[np.ndarray, ...]:
    """Labels, numbers, categories and groups; the label depends on the first number."""
    random = np.random.default_rng(seed)
    labels = np.arange(rows) % 2 == 0
    numbers = random.normal(size=(rows, 2)) * [1, 50] + labels[:, None] * [1, 0]
    kinds = random.choice(["NOUN", "VERB", "unlisted"], rows, p=[0.6, 0.38, 0.02])
    groups = np.array([f"head {k}" for k in random.permutation(rows // 2) % heads])
    return labels, numbers, kinds, np.repeat(groups, 2)


@pytest.mark.parametrize("heads", [40, 3])
def test_predictions_are_those_of_folds_by_hand(heads: int) -> None:
    """Standardised and encoded within the training rows; a category of under 10 rows is rare."""
    labels, numbers, kinds, groups = sample(200, heads)
    expected = np.full(len(labels), np.nan)
    for train, test in GroupKFold(min(5, heads)).split(numbers, labels, groups):
        assert not set(groups[train]) & set(groups[test])
        mean, scale = numbers[train].mean(axis=0), numbers[train].std(axis=0)
        frequent = [kind for kind in np.unique(kinds) if (kinds[train] == kind).sum() >= 10]
        of_kind = [kinds == kind for kind in frequent] + [~np.isin(kinds, frequent)]
        rows = np.column_stack([(numbers - mean) / scale, *of_kind])
        fitted = LogisticRegression(max_iter=1000).fit(rows[train], labels[train])
        expected[test] = fitted.predict_proba(rows[test])[:, 1]
    found = out_of_fold(labels, numbers, kinds, groups)
    assert found is not None
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_order_of_rows_does_not_matter() -> None:
    """Folds follow from the groups."""
    labels, numbers, kinds, groups = sample(120, 30)
    order = np.random.default_rng(1).permutation(len(labels))
    first = out_of_fold(labels, numbers, kinds, groups)
    other = out_of_fold(labels[order], numbers[order], kinds[order], groups[order])
    assert first is not None
    assert other is not None
    np.testing.assert_allclose(other, first[order], atol=1e-5)


def test_one_group_cannot_be_predicted() -> None:
    """There is nothing to train on."""
    labels, numbers, kinds, _ = sample(20, 5)
    assert out_of_fold(labels, numbers, kinds, ["dog"] * 20) is None
    assert out_of_fold([], np.zeros((0, 2)), [], []) is None


def test_shuffled_labels_cannot_be_predicted() -> None:
    """Labels that are shuffled within pairs have an AUROC of one half, the others do not."""
    labels, numbers, kinds, groups = sample(4000, 400)
    random = np.random.default_rng(2)
    shuffled = np.repeat(random.random(2000) < 0.5, 2) ^ labels
    areas = []
    for each in (labels, shuffled):
        found = out_of_fold(each, numbers, kinds, groups)
        assert found is not None
        areas.append(roc_auc_score(each, found))
    assert areas[0] > 0.7
    assert areas[1] == pytest.approx(0.5, abs=0.03)


rows = st.lists(
    st.tuples(st.integers(0, 5), st.booleans(), st.integers(0, 4)), min_size=2, max_size=30
).filter(lambda each: len({right for _, right, _ in each}) == 2)


@settings(max_examples=30, deadline=None)
@given(table=rows)
def test_auroc_of_resampled_clusters_is_scikit_learns(table: list[tuple[int, bool, int]]) -> None:
    """The ends are percentiles of weighted AUROCs, over resamples with rows of both kinds."""
    clusters, right, score = (np.array(column) for column in zip(*table, strict=True))
    bootstrap = Bootstrap(resamples=60)
    found = bootstrap.auroc(clusters, right, score)
    assert found.value == pytest.approx(roc_auc_score(right, score))
    names, cluster = np.unique(clusters, return_inverse=True)
    if len(names) == 1:
        assert found.interval is None
        return
    drawn = np.random.default_rng(0).integers(0, len(names), (60, len(names)))
    values = []
    for names_drawn in drawn:
        times = np.bincount(names_drawn, minlength=len(names))[cluster]
        if times[right].any() and times[~right].any():
            values.append(roc_auc_score(right, score, sample_weight=times))
    assert found.interval == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_auroc_without_a_right_row_is_undefined() -> None:
    """Neither a value nor an interval."""
    assert Bootstrap().auroc([1, 2], [False, False], [1, 2]).value is None
    assert Bootstrap().auroc([], [], []).value is None
