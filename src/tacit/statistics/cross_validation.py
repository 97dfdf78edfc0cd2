"""Cross-validated logistic regression that keeps all rows of a group in the same fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]

FOLDS = 5
# A category with fewer rows in training is counted with all other rare ones.
_RARE = 10


def out_of_fold(
    labels: ArrayLike, numbers: ArrayLike, categories: ArrayLike, groups: ArrayLike
) -> Floats | None:
    """Predict each row with an L2-penalised logistic regression fitted to other folds."""
    from sklearn.compose import make_column_transformer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold, cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    folds = min(FOLDS, len(np.unique(np.asarray(groups))))
    if folds < 2:  # noqa: PLR2004 - rows to train and rows to predict
        return None
    columns = np.asarray(numbers, dtype=np.float64)
    codes = np.unique(np.asarray(categories), return_inverse=True)[1]
    rare = OneHotEncoder(handle_unknown="infrequent_if_exist", min_frequency=_RARE)
    last = columns.shape[1]
    model = make_pipeline(
        make_column_transformer((StandardScaler(), slice(0, last)), (rare, [last])),
        LogisticRegression(max_iter=1000),
    )
    found: Floats = cross_val_predict(
        model,
        np.column_stack([columns, codes]),
        np.asarray(labels, dtype=bool),
        groups=groups,
        cv=GroupKFold(folds),
        method="predict_proba",
    )[:, 1]
    return found
