"""Test whether background scores predict correct answers, given the number of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.consistency.tables import TABLES
from tacit.statistics.permutation import predict, strata_of

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics.permutation import Permutations, Prediction

SUMMARY = (
    *("lift_adjusted", "lift_adjusted_low", "lift_adjusted_high", "p_adjusted"),
    *("no_adjusted_interval", "strata", "chance_adjusted"),
)
"""The columns of the table ``adjusted`` that are also fields of the run's summary."""


def within_strata(anchors: pl.DataFrame, how: Permutations | None = None) -> Prediction:
    """Compute the lift within strata of anchor questions with similar numbers of facts."""
    right, score, facts, cluster = (
        anchors[name].to_numpy() for name in ("right", "background_score", "facts", "cluster")
    )
    return predict(right, score, cluster, how, strata=strata_of(facts))


def columns(found: Prediction) -> dict[str, Any]:
    """Return the cells of the adjusted lift, by column name."""
    return {
        "strata": found.strata,
        "chance_adjusted": found.chance,
        "lift_adjusted": found.lift,
        "p_adjusted": found.p_value,
    }


def adjusted(anchors: pl.DataFrame, how: Permutations | None = None) -> pl.DataFrame:
    """Compute the adjusted lift of background scores."""
    rows = anchors.drop_nulls(["background_score", "right"])
    found = within_strata(rows, how)
    row = {"n": rows.height, **columns(found), "no_adjusted_interval": found.lift.why}
    return TABLES["adjusted"].frame([row])
