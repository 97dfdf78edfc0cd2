"""How well a statement's tail alone reveals its falsehood."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers
from tacit.probes.consistency.background import ALL, YES
from tacit.probes.consistency.questions import FACT
from tacit.statistics import Bootstrap, Estimate
from tacit.statistics.regression import folds, out_of_fold

NO_NEGATIVE = "no fact has a negative"
ONE_HEAD = "all facts have the same first concept"
_FREQUENT = 10  # parts of speech of fewer rows are one category


def no_knowledge(tails: pl.DataFrame, answered: ModelAnswers, bootstrap: Bootstrap) -> pl.DataFrame:
    """Evaluate the no-knowledge baseline and the model on all distinct facts with a negative."""
    of = answered.facts.drop_nulls("negative").join(answered.fact_answers, on="fact")
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
    if rows["head"].n_unique() < 2:  # noqa: PLR2004 - one to train on and one to predict
        return rows.with_columns(predicted=pl.lit(None, pl.Float64))
    part = pl.col("part_of_speech")
    features = rows.select(
        "words",
        "characters",
        "frequency",
        pl.col("degree", "as_tail").log1p(),
        pl.when(pl.len().over(part) >= _FREQUENT).then(part).alias("part"),
    ).to_dummies("part", drop_nulls=True)
    right, heads = (~rows["is_negative"]).to_numpy(), rows["head"].to_numpy()
    predicted = out_of_fold(right, features.to_numpy(), heads, folds(right, heads))
    return rows.with_columns(predicted=pl.Series(predicted))


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
