"""Measure how well a statement's tail alone reveals its falsehood (METHODS section 4)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.consistency.questions import FACT
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.cross_validation import out_of_fold

if TYPE_CHECKING:
    import polars as pl

    from tacit.statistics import Bootstrap, Estimate

ALL = "all"
NO_NEGATIVE = "no fact has a negative"
ONE_HEAD = "all facts have the same first concept"


def no_knowledge(tails: pl.DataFrame, facts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Evaluate the no-knowledge baseline and the model on all distinct facts."""
    import polars as pl

    rows = _with_predictions(_with_answers(tails, facts))
    names = sorted(rows["relation"].unique())
    parts = [(ALL, rows), *((name, rows.filter(relation=name)) for name in names)]
    reason = None
    if rows["predicted"].null_count() or rows.is_empty():
        reason = NO_NEGATIVE if rows.is_empty() else ONE_HEAD
    return pl.DataFrame(
        [
            {"relation": name, **_figures(part, bootstrap), "undefined": reason}
            for name, part in parts
        ],
        schema=TABLES["no_knowledge"].schema,
    )


def _with_answers(tails: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Return one row per fact and one per negative (false version), with model answers."""
    import polars as pl

    answers = [
        f"{side}_{name}" for side in ("positive", "negative") for name in ("right", "margin")
    ]
    rows = tails.join(
        facts.drop_nulls("negative").select(*FACT, *answers), on=FACT, maintain_order="left"
    )
    return rows.sort(*FACT, "is_negative").with_columns(
        pl.when("is_negative").then(f"negative_{name}").otherwise(f"positive_{name}").alias(name)
        for name in ("right", "margin")
    )


def _with_predictions(rows: pl.DataFrame) -> pl.DataFrame:
    """Add each row's out-of-fold probability of being a fact rather than a negative."""
    import polars as pl

    numbers = rows.select(
        "words", "characters", "frequency", pl.col("degree", "as_tail").log1p()
    ).to_numpy()
    found = out_of_fold(
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
    hits = right.cast(float).to_numpy()
    accuracy = bootstrap.ratio(predicted["head"].to_numpy(), hits, np.ones_like(hits))
    sides = rows.group_by("is_negative").agg(pl.col("right").cast(float).mean())["right"]
    return {
        "facts": rows.height // 2,
        **_estimate("accuracy", accuracy),
        **_estimate("auroc", _auroc(predicted, "predicted", bootstrap)),
        "model_accuracy": None if sides.null_count() else sides.mean(),
        **_estimate("model_auroc", _auroc(rows.drop_nulls("margin"), "margin", bootstrap)),
    }


def _auroc(rows: pl.DataFrame, score: str, bootstrap: Bootstrap) -> Estimate:
    facts = ~rows["is_negative"].to_numpy()
    return bootstrap.auroc(rows["head"].to_numpy(), facts, rows[score].to_numpy())


def _estimate(name: str, found: Estimate) -> dict[str, float | None]:
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def summary_of(table: pl.DataFrame | None) -> dict[str, Any]:
    """Return the no-knowledge baseline's results and AUROC over all relations."""
    row = None if table is None else table.row(0, named=True)
    return {"no_knowledge": row, "no_knowledge_auroc": row and row["auroc"]}
