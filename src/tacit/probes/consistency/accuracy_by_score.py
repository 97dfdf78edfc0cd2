"""Compute the accuracy on anchor questions by background score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.spec import Column, TableSpec
from tacit.statistics.stratified import LEAST_ROWS, strata_of

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap

_MOST_BINS = 10


def accuracy_by_score(anchors: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Group anchor questions by background score, and return the accuracy in each group."""
    import polars as pl

    scored = anchors.drop_nulls(["background_score", "right"])
    scores = scored["background_score"].to_numpy()
    least = max(LEAST_ROWS, -(-len(scores) // _MOST_BINS))
    bins = strata_of(scores, least) if len(scores) else np.empty(0, np.intp)
    rows = []
    for each in np.unique(bins):
        part = scored.filter(bins == each)
        right = part["right"].cast(pl.Float64).to_numpy()
        share = bootstrap.ratio(part["cluster"].to_numpy(), right, np.ones_like(right))
        levels = part["background_score"].sort()
        rows.append(
            {
                "lowest": levels[0],
                "highest": levels[-1],
                "background_score": levels.mean(),
                "n": part.height,
                "right": int(right.sum()),
                "accuracy": share.value,
                "low": share.low,
                "high": share.high,
            }
        )
    return pl.DataFrame(rows, schema=ACCURACY_BY_SCORE.schema)


ACCURACY_BY_SCORE = TableSpec(
    "accuracy_by_score",
    "Accuracy by background score",
    "Questions are sorted by background score and grouped in bins. Each bin contains at least a "
    "tenth of all questions, and never fewer than 20. Questions with equal background scores are "
    "in the same bin.",
    columns=(
        Column("lowest", "from", "score", "The lowest background score of a question in the bin."),
        Column("highest", "to", "score", "The highest background score of a question in the bin."),
        Column(
            "background_score",
            "mean",
            "score",
            "The mean background score of the questions in the bin.",
        ),
        Column("n", "n", "count", "The number of questions in the bin that have an answer."),
        Column(
            "right",
            "correct",
            "count",
            "The number of questions in the bin that are answered correctly.",
        ),
        Column(
            "accuracy",
            "accuracy",
            "percent",
            "The share of questions in the bin that are answered correctly, with a 95 % CI that is "
            "computed by resampling question concepts.",
            ends=("low", "high"),
        ),
    ),
)
