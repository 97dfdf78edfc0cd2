"""Baselines that answer anchor questions, for example by the longest choice (METHODS 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.tables import TABLES
from tacit.statistics.estimate import Estimate
from tacit.statistics.ranking import (
    at_thresholds,
    average_precision,
    chance_level,
    chance_levels,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.sources.anchors import Anchor
    from tacit.statistics import Bootstrap

MODEL, RANDOM = "model", "random"


def anchor_baselines(
    of: Sequence[Anchor], choices: pl.DataFrame, anchors: pl.DataFrame, bootstrap: Bootstrap
) -> pl.DataFrame:
    """Return the accuracy and the conceptual consistency of the model and of each baseline."""
    import polars as pl

    answers = np.array([anchor.answer for anchor in of])
    right = {
        MODEL: anchors["right"],
        **_by_rating(choices).drop("anchor").to_dict(),
        "majority": pl.Series(answers == np.bincount(answers).argmax()),
        RANDOM: pl.Series([1 / len(anchor.choices) for anchor in of]),
    }
    about = anchors.select("cluster", "background_score")
    return TABLES["anchor_baselines"].frame(
        _row(name, about.with_columns(right=values.cast(pl.Float64)), bootstrap)
        for name, values in right.items()
    )


def _by_rating(choices: pl.DataFrame) -> pl.DataFrame:
    """Return, for each rating of choices, whether the first choice that has the highest is correct.

    ``choices`` has a row per choice (``features.by_choice``).
    """
    import polars as pl
    from wordfreq import zipf_frequency

    zipf = [zipf_frequency(choice, "en") for choice in choices["text"]]
    ratings = choices.select(
        "anchor",
        "correct",
        pl.col("prior").alias("choice prior"),
        pl.col("gain").alias("pointwise mutual information"),
        pl.col("bytes").alias("longest choice"),
        pl.col("bytes").neg().alias("shortest choice"),
        pl.Series("most frequent choice", zipf, pl.Float64),
    )
    return ratings.group_by("anchor", maintain_order=True).agg(
        pl.when(pl.col(name).is_not_null().all())
        .then(pl.col("correct").get(pl.col(name).arg_max()))
        .alias(name)
        for name in ratings.columns[2:]
    )


def _row(name: str, anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return the row of a baseline in the table ``anchor_baselines``."""
    known = anchors.drop_nulls("right")
    scored = known.drop_nulls("background_score")
    accuracy = bootstrap.ratio(known["cluster"], known["right"], np.ones(known.height))
    if name == RANDOM:  # computed, not sampled
        accuracy = Estimate(accuracy.value, None, None)
    right, scores = scored["right"].to_numpy(), scored["background_score"].to_numpy()
    consistency, chance = _consistency(name, right, scores)
    return {
        "baseline": name,
        "n": known.height,
        "accuracy": accuracy,
        "scored": scored.height,
        "consistency": consistency,
        "chance": chance,
    }


def _consistency(
    name: str, right: NDArray[np.float64], scores: NDArray[np.float64]
) -> tuple[float | None, float | None]:
    """Return the average precision of background scores, and its chance level."""
    if name != RANDOM:
        return average_precision(right, scores), chance_level(right, scores)
    if not len(right):
        return None, None
    chance = float(chance_levels(right.sum(), at_thresholds(right > 0, scores)[1]))
    return chance, chance
