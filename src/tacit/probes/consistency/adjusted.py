"""Test whether background scores predict correct answers, given the number of facts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.spec import Column
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.regression import OddsRatio, odds_ratio
from tacit.statistics.stratified import Adjusted, adjusted_lift, strata_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.statistics.studentised import Permutations

LIFT_COLUMNS = (
    Column(
        "strata",
        "strata",
        "count",
        "The number of strata (groups of at least 20 questions that have similar numbers of "
        "facts).",
    ),
    Column(
        "chance_adjusted",
        "chance within strata",
        "score",
        "The chance level within strata: the expected conceptual consistency if the correct and "
        "incorrect answers to questions with similar numbers of facts were randomly permuted. "
        "An exact formula, not a simulation, gives the chance level within strata.",
    ),
    Column(
        "lift_adjusted",
        "adjusted lift",
        "score",
        "The adjusted lift: (CC - chance within strata)/(1 - chance within strata), where CC is "
        "the conceptual consistency. The 95 % CI of the adjusted lift is computed from "
        "permutations within strata.",
        ends=("lift_adjusted_low", "lift_adjusted_high"),
        chance=0.0,
    ),
    Column(
        "p_adjusted",
        "p, adjusted",
        "p",
        "The one-sided p-value of a test of whether the adjusted lift exceeds 0, computed from "
        "permutations within strata.",
    ),
)
"""The specifications of the columns that ``LiftWithinStrata.columns`` returns."""


SUMMARY = (
    *("lift_adjusted", "lift_adjusted_low", "lift_adjusted_high", "p_adjusted"),
    *("no_adjusted_interval", "strata", "chance_adjusted"),
    *("odds_ratio", "odds_ratio_low", "odds_ratio_high", "odds_ratio_p", "no_odds_ratio"),
)
"""The columns of the table ``adjusted`` that are also fields of the run's summary."""


@dataclass(frozen=True)
class LiftWithinStrata:
    """The adjusted lift: the lift within strata of questions with similar numbers of facts."""

    found: Adjusted

    @classmethod
    def of(cls, anchors: pl.DataFrame, how: Permutations | None = None) -> LiftWithinStrata:
        """Compute the lift within strata of anchor questions with similar numbers of facts."""
        right, score, facts, cluster = (
            anchors[name].to_numpy() for name in ("right", "background_score", "facts", "cluster")
        )
        return cls(adjusted_lift(right, score, strata_of(facts), cluster, how))

    @property
    def columns(self) -> dict[str, int | float | None]:
        """The values of the columns in ``LIFT_COLUMNS``, by column name."""
        lift = self.found.lift
        return {
            "strata": self.found.strata,
            "chance_adjusted": self.found.chance,
            "lift_adjusted": lift.value,
            "lift_adjusted_low": lift.low,
            "lift_adjusted_high": lift.high,
            "p_adjusted": self.found.p_value,
        }


def adjusted(anchors: pl.DataFrame, how: Permutations | None = None) -> pl.DataFrame:
    """Compute the adjusted lift and the adjusted odds ratio of background scores."""
    import polars as pl

    rows = anchors.drop_nulls(["background_score", "right"])
    lift, ratio = LiftWithinStrata.of(rows, how), ratio_of(rows)
    return pl.DataFrame(
        [
            {
                "n": rows.height,
                **lift.columns,
                "no_adjusted_interval": lift.found.no_interval,
                "odds_ratio": ratio.ratio.value,
                "odds_ratio_low": ratio.ratio.low,
                "odds_ratio_high": ratio.ratio.high,
                "odds_ratio_p": ratio.p_value,
                "odds_ratio_n": ratio.n,
                "no_odds_ratio": ratio.undefined,
            }
        ],
        schema=TABLES["adjusted"].schema,
    )


def ratio_of(rows: pl.DataFrame) -> OddsRatio:
    """Return the adjusted odds ratio of the background score for correct answers."""
    if rows["frequency"].null_count() < rows.height:
        rows = rows.drop_nulls("frequency")
    return odds_ratio(rows["right"].to_numpy(), _predictors(rows), rows["cluster"].to_numpy())


def _predictors(rows: pl.DataFrame) -> Mapping[str, NDArray[np.float64]]:
    """Return the regression's predictors by name, the background score first."""
    return {
        "background_score": rows["background_score"].to_numpy(),
        "facts": np.log(rows["facts"].to_numpy()),
        "frequency": rows["frequency"].fill_null(0).to_numpy(),
        "bytes": rows["answer"].str.len_bytes().cast(float).to_numpy(),
    }
