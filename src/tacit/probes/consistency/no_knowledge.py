"""How well a statement's tail alone reveals its falsehood (METHODS 4, "no-knowledge baseline")."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.questions import FACT
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.regression import cross_validated

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap, Estimate

ALL = "all"
NO_NEGATIVE = "no fact has a negative"
ONE_HEAD = "all facts have the same first concept"


def no_knowledge(tails: pl.DataFrame, facts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Evaluate the no-knowledge baseline and the model on all distinct facts."""
    rows = _with_predictions(_with_answers(tails, facts))
    reason = NO_NEGATIVE if rows.is_empty() else None
    if rows["predicted"].null_count():
        reason = ONE_HEAD
    names = sorted(rows["relation"].unique())
    return TABLES["no_knowledge"].frame(
        {"relation": name, **_figures(part, bootstrap), "undefined": reason}
        for name, part in ((ALL, rows), *((name, rows.filter(relation=name)) for name in names))
    )


def _with_answers(tails: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return one row per fact and one per negative (false version), with model answers."""
    import polars as pl

    sides = pl.concat(
        facts.drop_nulls("negative").select(
            *FACT,
            is_negative=pl.lit(side == "negative"),
            right=f"{side}_right",
            margin=f"{side}_margin",
        )
        for side in ("positive", "negative")
    )
    rows = tails.join(sides, on=[*FACT, "is_negative"], maintain_order="left")
    return rows.sort(*FACT, "is_negative")


def _with_predictions(rows: pl.DataFrame) -> pl.DataFrame:
    """Add each row's out-of-fold probability of being a fact rather than a negative."""
    import polars as pl

    numbers = rows.select(
        "words", "characters", "frequency", pl.col("degree", "as_tail").log1p()
    ).to_numpy()
    found = cross_validated(
        ~rows["is_negative"].to_numpy(),
        numbers,
        rows["part_of_speech"].to_numpy(),
        rows["head"].to_numpy(),
    )
    predicted = pl.lit(None, pl.Float64) if found is None else pl.Series(found, dtype=pl.Float64)
    return rows.with_columns(predicted=predicted)


def _figures(rows: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, Any]:
    """Return how well the baseline regression and the model tell true from false facts."""
    import polars as pl

    predicted = rows.drop_nulls("predicted")
    right = (predicted["predicted"] > 1 / 2) != predicted["is_negative"]
    sides = rows.group_by("is_negative").agg(pl.col("right").cast(float).mean())["right"]
    return {
        "facts": rows.height // 2,
        "accuracy": bootstrap.ratio(predicted["head"], right, np.ones(len(right))),
        "auroc": _auroc(predicted, "predicted", bootstrap),
        "model_accuracy": None if sides.null_count() else sides.mean(),
        "model_auroc": _auroc(rows.drop_nulls("margin"), "margin", bootstrap),
    }


def _auroc(rows: pl.DataFrame, score: str, bootstrap: Bootstrap) -> Estimate:
    return bootstrap.auroc(rows["head"], ~rows["is_negative"].to_numpy(), rows[score])
