"""Accuracy of the raw and repaired beliefs (Gu et al. 2023, Tables 4 and 6, Figures 3 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.beliefs import DRAWING
from tacit.probes.parts.repaired import OBJECTIVES, STAGES
from tacit.sources.statements import agreed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import polars as pl
    from polars._typing import PolarsDataType, SchemaDict

    from tacit.statistics import Bootstrap


def shifted(beliefs: pl.DataFrame, stage: str) -> pl.Series:
    """Judge beliefs by a threshold at which as many statements are true as after repair."""
    import polars as pl

    known = beliefs.filter(pl.col("p_true").is_not_null())
    true = int(known[stage].sum())
    p = pl.col("p_true")
    if not true:
        return beliefs.select(pl.when(p.is_not_null()).then(0.0))[:, 0]
    threshold = known["p_true"].sort(descending=True)[true - 1]
    above = int((known["p_true"] > threshold).sum())
    tied = int((known["p_true"] == threshold).sum())
    share = (
        pl.when(p > threshold).then(1.0).when(p == threshold).then((true - above) / tied)
    ).otherwise(0.0)
    return beliefs.select(pl.when(p.is_not_null()).then(share))[:, 0]


def of_relation_majority() -> pl.Expr:
    """Return an expression that tests whether a label is the majority label of its relation."""
    import polars as pl

    mostly_true = pl.col("label").mean().over("relation") >= 1 / 2
    return pl.col("label") == mostly_true


PAPER_SETS = ("ParRoT", "ParRoT++")
WITHOUT_SYMMETRIC = "without symmetric relations"
"""All labelled statements except those with a symmetric relation, such as ``next to``.

The published gold labels of statements with a symmetric relation are all true.
"""
SETS = (*PAPER_SETS, WITHOUT_SYMMETRIC)
BASELINES = ("always true", "always false", "majority by relation")
GAIN_PARTS = ("whole", "shift of the threshold", "consistency")
PERCENTS = (50, 60, 70, 80, 90, 100)
_BAND = 20
_ALWAYS_TRUE = "always_true"
_SUMS = ("n", "missing", *STAGES, _ALWAYS_TRUE)
_SHIFTED = {objective: f"{objective} shifted" for objective in OBJECTIVES}


def tables(
    beliefs: pl.DataFrame, symmetric: Collection[str], bootstrap: Bootstrap
) -> dict[str, pl.DataFrame]:
    """Compute all accuracy tables; without gold labels, the tables have no rows."""
    verdicts = judge(beliefs)
    by_drawing = of_drawings(verdicts)
    sets = _sets(verdicts, beliefs, symmetric)
    return {
        "accuracy": of_sets(sets, bootstrap),
        "accuracy_baselines": baselines(sets, bootstrap),
        "accuracy_gain": gain(sets, bootstrap),
        "accuracy_at": at_least(by_drawing, bootstrap),
        "accuracy_by_relation": of_relations(verdicts, bootstrap),
        "accuracy_by_thing": of_things(verdicts),
        "accuracy_by_drawing": by_drawing.drop(_ALWAYS_TRUE),
    }


def judge(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Compare the truth values before and after repair with the statements' gold labels."""
    import polars as pl

    shifts = [shifted(beliefs, stage).alias(name) for stage, name in _SHIFTED.items()]
    gold = beliefs.with_columns(shifts).filter(pl.col("label").is_not_null())
    statement = ["thing", "subject", "relation", "object", "label"]
    common = agreed(gold).with_columns(agreed=pl.lit(value=True))
    known = pl.col("p_true").is_not_null()
    return gold.join(common, on=statement, how="left", maintain_order="left").select(
        *DRAWING,
        "relation",
        "label",
        pl.col("agreed").fill_null(value=False),
        known.alias("n"),
        (~known).alias("missing"),
        *((known & (pl.col(stage) == pl.col("label"))).alias(stage) for stage in STAGES),
        (known & pl.col("label")).alias(_ALWAYS_TRUE),
        *(
            pl.when(pl.col("label")).then(shift).otherwise(1 - shift).fill_null(0.0).alias(name)
            for name in _SHIFTED.values()
            for shift in [pl.col(name)]
        ),
    )


def of_sets(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the accuracy, overall and by gold label, for each set of statements."""
    import polars as pl

    parts = {"all": pl.lit(value=True), "true": pl.col("label"), "false": ~pl.col("label")}
    rows = [
        {"set": name, "gold": gold, **row}
        for name, every in sets.items()
        for gold, chosen in parts.items()
        for row in _shares(every.filter(chosen), bootstrap)
    ]
    return _table(rows, {"set": pl.String, "gold": pl.String, **_shares_schema()})


def baselines(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the accuracy of model-free baselines on statements with a known belief."""
    import polars as pl

    rows = []
    for name, every in sets.items():
        known = every.filter("n")
        right = known.select(
            "thing",
            pl.col("label").alias("always true"),
            (~pl.col("label")).alias("always false"),
            of_relation_majority().alias("majority by relation"),
        )
        for baseline in BASELINES:
            one = pl.repeat(1, right.height, eager=True)
            share = bootstrap.ratio(right["thing"], right[baseline], one)
            figures = {"accuracy": share.value, "low": share.low, "high": share.high}
            rows.append({"set": name, "baseline": baseline, "n": right.height, **figures})
    numbers = dict.fromkeys(("accuracy", "low", "high"), pl.Float64)
    return _table(rows, {"set": pl.String, "baseline": pl.String, "n": pl.Int64, **numbers})


def gain(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the gain in accuracy by repair, with confidence intervals."""
    import polars as pl

    rows = []
    for name, every in sets.items():
        of_thing = _summed(every, ["thing"])
        for objective in OBJECTIVES:
            before, after, shift = (
                of_thing[column] for column in ("before", objective, _SHIFTED[objective])
            )
            for part, more in zip(
                GAIN_PARTS, (after - before, shift - before, after - shift), strict=True
            ):
                change = bootstrap.ratio(of_thing["thing"], more, of_thing["n"])
                rows.append(
                    {
                        "set": name,
                        "objective": objective,
                        "part": part,
                        "n": of_thing["n"].sum(),
                        "gain": change.value,
                        "low": change.low,
                        "high": change.high,
                    }
                )
    text = dict.fromkeys(("set", "objective", "part"), pl.String)
    numbers = dict.fromkeys(("gain", "low", "high"), pl.Float64)
    return _table(rows, {**text, "n": pl.Int64, **numbers})


def of_relations(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute the accuracy on the statements of each relation (Gu et al. 2023, Figure 4)."""
    import polars as pl

    rows = [
        {"relation": relation, **row}
        for (relation,), every in verdicts.group_by("relation", maintain_order=True)
        for row in _shares(every, bootstrap)
    ]
    always = _divided(_summed(verdicts, ["relation"])).select("relation", _ALWAYS_TRUE)
    table = _table(rows, {"relation": pl.String, **_shares_schema()})
    return table.join(always, on="relation", how="left", maintain_order="left")


def of_things(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Compute the accuracy for each everyday thing (Gu et al. 2023, Figures 5, 6, 11)."""
    import polars as pl

    shares = _divided(_summed(verdicts, ["thing"])).sort(
        "before", "thing", descending=[True, False], nulls_last=True
    )
    known = int((shares["n"] > 0).sum())
    band = min(_BAND, known // 2)
    rank = pl.col("rank")
    return (
        shares.with_row_index("rank", offset=1)
        .with_columns(pl.when(pl.col("n") > 0).then(rank.cast(pl.Int64)).alias("rank"))
        .with_columns(
            pl.when(rank <= band)
            .then(pl.lit(f"best {band}"))
            .when(rank > known - band)
            .then(pl.lit(f"worst {band}"))
            .when(rank.is_not_null())
            .then(pl.lit("middle"))
            .alias("band"),
            order=pl.int_range(pl.len()),
        )
        .unpivot(
            STAGES,
            index=["order", "thing", "rank", "band", "n", "missing", _ALWAYS_TRUE],
            variable_name="stage",
            value_name="accuracy",
        )
        .sort("order", maintain_order=True)
        .select("thing", "rank", "band", "stage", "n", "missing", "accuracy", _ALWAYS_TRUE)
    )


def of_drawings(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Compute the accuracy on each annotator's drawing, before and after repair."""
    return _divided(_summed(verdicts, DRAWING))


def at_least(by_drawing: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Compute accuracy@s: the share of drawings with at least s % accuracy."""
    import polars as pl

    known = by_drawing.filter(pl.col("n") > 0)
    one = pl.repeat(1, known.height, eager=True)
    rows = []
    for s in PERCENTS if by_drawing.height else ():
        for stage in STAGES:
            # Equal fractions have the same nearest double, so >= is exact.
            share = bootstrap.ratio(known["thing"], known[stage] >= s / 100, one)
            always = (known[_ALWAYS_TRUE] >= s / 100).cast(pl.Float64)
            figures: dict[str, Any] = {"share": share.value, "low": share.low, "high": share.high}
            figures[_ALWAYS_TRUE] = always.mean()
            rows.append({"s": s, "stage": stage, "n": known.height, **figures})
    numbers = dict.fromkeys(("share", "low", "high", _ALWAYS_TRUE), pl.Float64)
    return _table(rows, {"s": pl.Int64, "stage": pl.String, "n": pl.Int64, **numbers})


def _sets(
    verdicts: pl.DataFrame, beliefs: pl.DataFrame, symmetric: Collection[str]
) -> dict[str, pl.DataFrame]:
    """Return the result of ``judge`` for each of the three sets of statements in ``SETS``."""
    import polars as pl

    if verdicts.is_empty():
        return {}
    without = judge(beliefs.filter(~pl.col("relation").is_in(list(symmetric))))
    return dict(zip(SETS, (verdicts, verdicts.filter("agreed"), without), strict=True))


def _summed(verdicts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """Count the statements with a belief, without a belief, and with the right truth value."""
    import polars as pl

    sums = (pl.col(name).sum().cast(pl.Int64) for name in _SUMS)
    shifts = (pl.col(name).sum() for name in _SHIFTED.values())
    return verdicts.group_by(by, maintain_order=True).agg(*sums, *shifts)


def _divided(summed: pl.DataFrame) -> pl.DataFrame:
    """Convert counts of correct truth values to accuracies; null for rows without a belief."""
    import polars as pl

    n = pl.when(pl.col("n") > 0).then(pl.col("n"))
    shares = summed.with_columns(pl.col(stage) / n for stage in (*STAGES, _ALWAYS_TRUE))
    return shares.drop(_SHIFTED.values())


def _shares(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """Return the accuracy for each stage: before repair, and after repair under each objective."""
    of_thing = _summed(verdicts, ["thing"])
    rows = []
    for stage in STAGES:
        share = bootstrap.ratio(of_thing["thing"], of_thing[stage], of_thing["n"])
        counts = {"n": of_thing["n"].sum(), "missing": of_thing["missing"].sum()}
        figures = {"accuracy": share.value, "low": share.low, "high": share.high}
        rows.append({"stage": stage, **counts, **figures})
    return rows


def _shares_schema() -> dict[str, PolarsDataType]:
    import polars as pl

    numbers = dict.fromkeys(("accuracy", "low", "high"), pl.Float64())
    return {"stage": pl.String(), "n": pl.Int64(), "missing": pl.Int64(), **numbers}


def _table(rows: Sequence[Mapping[str, Any]], schema: SchemaDict) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=schema)
