"""Compute the accuracy on anchor questions by background score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.tables import TABLES
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
    return pl.DataFrame(rows, schema=TABLES["accuracy_by_score"].schema)
