"""The accuracy on anchor questions by background score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.tables import TABLES
from tacit.statistics.permutation import LEAST_ROWS, strata_of

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap

_MOST_BINS = 10


def accuracy_by_score(anchors: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Group anchor questions by background score, and return the accuracy in each group."""
    scored = anchors.drop_nulls(["background_score", "right"]).sort("background_score")
    scores = scored["background_score"].to_numpy()
    least = max(LEAST_ROWS, -(-len(scores) // _MOST_BINS))
    bins = strata_of(scores, least) if len(scores) else np.empty(0, np.intp)
    return TABLES["accuracy_by_score"].frame(
        {
            "lowest": part["background_score"][0],
            "highest": part["background_score"][-1],
            "background_score": part["background_score"].mean(),
            "n": part.height,
            "right": part["right"].sum(),
            "accuracy": bootstrap.ratio(part["cluster"], part["right"], np.ones(part.height)),
        }
        for part in (scored.filter(bins == each) for each in np.unique(bins))
    )
