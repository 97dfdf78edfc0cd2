"""Baselines that answer anchor questions, for example by the longest choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.sources.questions import Anchor
from tacit.statistics import Bootstrap
from tacit.statistics.estimate import Estimate
from tacit.statistics.ranking import at_thresholds, average_precision, chance_level, chance_levels

MODEL, RANDOM = "model", "random"


def anchor_baselines(
    of: Sequence[Anchor], answered: ModelAnswers, bootstrap: Bootstrap
) -> pl.DataFrame:
    """Return the accuracy and the conceptual consistency of the model and of each baseline."""
    answers = np.array([anchor.answer for anchor in of])
    right = {
        MODEL: answered.anchors["right"],
        **_by_rating(answered.choices).drop("anchor").to_dict(),
        "majority": pl.Series(answers == np.bincount(answers).argmax()),
        RANDOM: pl.Series([1 / len(anchor.choices) for anchor in of]),
    }
    about = answered.anchors.select("cluster", "background_score")
    return TABLES["anchor_baselines"].frame(
        _row(name, about.with_columns(right=values.cast(pl.Float64)), bootstrap)
        for name, values in right.items()
    )


def _by_rating(choices: pl.DataFrame) -> pl.DataFrame:
    """Return, for each rating of choices, whether the first with the highest is correct."""
    from wordfreq import zipf_frequency

    zipf = [zipf_frequency(choice, "en") for choice in choices["choice"]]
    ratings = {
        "choice prior": pl.col("prior"),
        "pointwise mutual information": pl.col("gain"),
        "longest choice": pl.col("bytes"),
        "shortest choice": -pl.col("bytes"),
        "most frequent choice": pl.lit(pl.Series(zipf, dtype=pl.Float64)),
    }
    rated = choices.select("anchor", "correct", **ratings)
    return rated.group_by("anchor", maintain_order=True).agg(
        pl.when(pl.col(name).is_not_null().all())
        .then(pl.col("correct").get(pl.col(name).arg_max()))
        .alias(name)
        for name in ratings
    )


def _row(name: str, anchors: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    known = anchors.drop_nulls("right")
    scored = known.drop_nulls("background_score")
    accuracy = bootstrap.ratio(known["cluster"], known["right"], np.ones(known.height))
    right, scores = scored["right"].to_numpy(), scored["background_score"].to_numpy()
    consistency, chance = average_precision(right, scores), chance_level(right, scores)
    if name == RANDOM:  # computed, not sampled
        accuracy = Estimate(accuracy.value, None, None)
        counts = at_thresholds(right > 0, scores)[1]
        consistency = float(chance_levels(right.sum(), counts)) if len(right) else None
        chance = consistency
    return {
        "baseline": name,
        "n": known.height,
        "accuracy": accuracy,
        "scored": scored.height,
        "consistency": consistency,
        "chance": chance,
    }
