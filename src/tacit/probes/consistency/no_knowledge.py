"""How well a statement's tail alone reveals its falsehood (METHODS 4, "no-knowledge baseline")."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import ALL, YES
from tacit.probes.consistency.questions import FACT
from tacit.probes.consistency.tables import TABLES
from tacit.statistics import Bootstrap, Estimate
from tacit.statistics.regression import cross_validated

NO_NEGATIVE = "no fact has a negative"
ONE_HEAD = "all facts have the same first concept"


def no_knowledge(tails: pl.DataFrame, found: ModelAnswers, bootstrap: Bootstrap) -> pl.DataFrame:
    """Evaluate the no-knowledge baseline and the model on all distinct facts with a negative."""
    of = found.facts.drop_nulls("negative").join(found.fact_answers, on="fact")
    own = of.select(*FACT, "right", "margin", is_negative=~YES)
    key = [*FACT, "is_negative"]
    rows = _with_predictions(tails.join(own, on=key, how="inner").sort(key))
    reason = NO_NEGATIVE if rows.is_empty() else None
    if rows["predicted"].null_count():
        reason = ONE_HEAD
    parts = {ALL: rows} | {
        name: rows.filter(relation=name) for name in rows["relation"].unique().sort()
    }
    return TABLES["no_knowledge"].frame(
        {"relation": name, **_figures(part, bootstrap), "undefined": reason}
        for name, part in parts.items()
    )


def _with_predictions(rows: pl.DataFrame) -> pl.DataFrame:
    """Add each row's out-of-fold probability of being a fact rather than a negative."""
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
