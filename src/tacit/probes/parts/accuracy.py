"""Accuracy of the raw and repaired beliefs (Gu et al. 2023, Tables 4 and 6, Figures 3 to 6)."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from tacit.probes.parts import AGREED, ALL, TABLES, WITHOUT_SYMMETRIC
from tacit.probes.parts.beliefs import DRAWING
from tacit.probes.parts.questions import QUESTION
from tacit.probes.parts.repair import OBJECTIVES, STAGES
from tacit.sources.statements import agreed

PERCENTS = (50, 60, 70, 80, 90, 100)
_BAND = 20


def tables(beliefs: pl.DataFrame, symmetric: Collection[str]) -> dict[str, pl.DataFrame]:
    """Compute all accuracy tables; without gold labels, the tables have no rows."""
    right = judge(beliefs)
    without = judge(beliefs.filter(~pl.col("relation").is_in(list(symmetric))))
    sets = {ALL: right, AGREED: right.filter("agreed"), WITHOUT_SYMMETRIC: without}
    every = pl.concat(rows.with_columns(set=pl.lit(name)) for name, rows in sets.items())
    true_first = every.sort("label", descending=True, maintain_order=True)
    golds = (every.with_columns(gold=pl.lit("all")), true_first.with_columns(gold="label"))
    by_gold = pl.concat(rows.with_columns(pl.col("gold").cast(pl.String)) for rows in golds)
    by_drawing = _shares(right, DRAWING)
    rows = {
        "accuracy": _long(by_gold, "stage", STAGES),
        "accuracy_baselines": _baselines(every),
        "accuracy_gain": _gains(every),
        "accuracy_at": _reached(by_drawing),
        "accuracy_by_relation": _long(right, "stage", STAGES),
    }
    return {name: TABLES[name].of(each) for name, each in rows.items()} | {
        "accuracy_by_thing": _of_things(right),
        "accuracy_by_drawing": TABLES["accuracy_by_drawing"].frame(by_drawing),
    }


def judge(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Return whether each stage is right about each labelled statement.

    Without a belief, ``missing`` is true and the others are null. Of beliefs that the threshold of
    a shifted stage divides, each is right to the same share.
    """
    shifts = {f"{stage} shifted": shifted(stage) for stage in OBJECTIVES}
    gold = beliefs.with_columns(**shifts).filter(pl.col("label").is_not_null())
    common = agreed(gold).with_columns(agreed=pl.lit(value=True))
    label, known = pl.col("label"), pl.col("p_true").is_not_null()
    right = {
        **{stage: pl.col(stage) == label for stage in STAGES},
        **{name: pl.when(label).then(name).otherwise(1 - pl.col(name)) for name in shifts},
        "always true": label,
    }
    return gold.join(common, on=[*QUESTION, "label"], how="left", maintain_order="left").select(
        *DRAWING,
        "relation",
        "label",
        agreed=pl.col("agreed").fill_null(value=False),
        missing=pl.when(~known).then(~known),
        **{name: pl.when(known).then(each.cast(pl.Float64)) for name, each in right.items()},
    )


def shifted(stage: str) -> pl.Expr:
    """Judge beliefs by a threshold at which as many statements are true as at a stage."""
    p = pl.col("p_true")
    true = (pl.col(stage) & p.is_not_null()).sum()
    above = p.rank("min", descending=True).cast(pl.Int64) - 1
    return ((true - above) / pl.len().over("p_true")).clip(0.0, 1.0)


def _long(rows: pl.DataFrame, key: str, of: Sequence[str]) -> pl.DataFrame:
    """Return a row for each of the columns ``of``, whose value becomes ``right``."""
    others = [name for name in rows.columns if name not in of]
    return rows.unpivot(of, index=others, variable_name=key, value_name="right")


def _baselines(every: pl.DataFrame) -> pl.DataFrame:
    """Return whether baselines without a model are right, where there is a belief."""
    true = pl.col("always true")
    right = {"always true": true, "always false": 1 - true}
    right["majority by relation"] = true == (true.mean().over("set", "relation") >= 1 / 2)
    each = every.with_columns(**{name: of.cast(pl.Float64) for name, of in right.items()})
    return _long(each, "baseline", list(right))


def _gains(every: pl.DataFrame) -> pl.DataFrame:
    """Return the gain of repair, and its parts: a shift of the threshold, and consistency."""
    before = pl.col("before")
    parts = {
        objective: {
            "whole": pl.col(objective) - before,
            "shift of the threshold": pl.col(f"{objective} shifted") - before,
            "consistency": pl.col(objective) - pl.col(f"{objective} shifted"),
        }
        for objective in OBJECTIVES
    }
    return pl.concat(
        _long(every.with_columns(objective=pl.lit(objective), **of), "part", list(of))
        for objective, of in parts.items()
    )


def _shares(right: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Count the statements with and without a belief, and average over the former."""
    return right.group_by(by, maintain_order=True).agg(
        pl.col("before").count().alias("n"),
        pl.col("missing").count(),
        pl.col(*STAGES, "always true").mean(),
    )


def _reached(by_drawing: pl.DataFrame) -> pl.DataFrame:
    """Return whether each drawing has at least s % accuracy, for each s and stage."""
    # Equal fractions have the same nearest double, so >= is exact.
    least = pl.DataFrame({"s": PERCENTS, "least": [s / 100 for s in PERCENTS]})
    each = by_drawing.join(least, how="cross")
    reached = pl.col(*STAGES, "always true") >= pl.col("least")
    return _long(each.with_columns(reached.cast(pl.Float64)), "stage", STAGES)


def _of_things(right: pl.DataFrame) -> pl.DataFrame:
    """Rank things by the accuracy before repair; each has a row per stage."""
    rank, known = pl.col("rank"), pl.col("n") > 0
    things = (
        _shares(right, ["thing"])
        .sort("before", "thing", descending=[True, False], nulls_last=True)
        .with_row_index("at")
        .with_columns(rank=pl.when(known).then(pl.col("at") + 1))
    )
    ranked = things["rank"].count()
    band = min(_BAND, ranked // 2)
    name = (
        pl.when(rank <= band)
        .then(pl.lit(f"best {band}"))
        .when(rank > ranked - band)
        .then(pl.lit(f"worst {band}"))
        .when(rank.is_not_null())
        .then(pl.lit("middle"))
    )
    rows = _long(things.with_columns(band=name), "stage", STAGES).sort("at", maintain_order=True)
    return TABLES["accuracy_by_thing"].frame(
        rows, accuracy=rows["right"], always_true=rows["always true"]
    )
