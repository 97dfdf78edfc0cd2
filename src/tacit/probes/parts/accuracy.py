"""How far each stage agrees with people's drawings (section 6, Tables 4 and 6, Figures 3 to 6).

A statement is judged rightly when it is true and labelled true, or not true and labelled false.
One without a belief is left out of every share, and counted as missing.
"""

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
    """The beliefs with the threshold moved so that as many are true as in repaired beliefs.

    The order of the beliefs is kept: a statement is true when its belief is above the threshold.
    At the threshold itself only some can be true; each counts with the share that is.

    Args:
        beliefs: ``p_true`` (null where missing) and a Boolean column named ``stage``.
        stage: The repaired beliefs.

    Returns:
        For each row the share, 0 to 1, of it that is true; null where the belief is missing.
    """
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
    """Whether the label is the one that most statements of the same relation have; ties are true.

    An expression over the columns ``relation`` and ``label``.
    """
    import polars as pl

    mostly_true = pl.col("label").mean().over("relation") >= 1 / 2
    return pl.col("label") == mostly_true


PAPER_SETS = ("ParRoT", "ParRoT++")
ASYMMETRIC = "asymmetric"
"""ParRoT without the symmetric relations: positive weights make those right by construction."""
SETS = (*PAPER_SETS, ASYMMETRIC)
BASELINES = ("always true", "always false", "majority by relation")
GAIN_PARTS = ("whole", "shift towards true", "consistency")
PERCENTS = (50, 60, 70, 80, 90, 100)
_BAND = 20
_SUMS = ("n", "missing", *STAGES)
_SHIFTED = {objective: f"{objective} shifted" for objective in OBJECTIVES}


def tables(
    beliefs: pl.DataFrame, symmetric: Collection[str], bootstrap: Bootstrap
) -> dict[str, pl.DataFrame]:
    """All tables of accuracy, without rows where there is no gold.

    Args:
        beliefs: thing, annotator, subject, relation, object, p_true, label (null where no label
            is implied), and one Boolean column per stage.
        symmetric: The symmetric relations, which the set ``ASYMMETRIC`` leaves out.
        bootstrap: How intervals are made, over things.
    """
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
        "accuracy_by_drawing": by_drawing,
    }


def judge(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Whether each gold statement is judged rightly.

    Returns:
        The gold statements: thing, annotator, relation, label, ``agreed`` (all annotators of the
        thing agree: ParRoT++), ``n`` (there is a belief), ``missing`` (there is none), for each
        stage whether the belief is there and right, and for each objective ``<objective>
        shifted``: the same of the shifted beliefs (``baselines.shifted``), a fraction at ties.
    """
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
        *(
            pl.when(pl.col("label")).then(shift).otherwise(1 - shift).fill_null(0.0).alias(name)
            for name in _SHIFTED.values()
            for shift in [pl.col(name)]
        ),
    )


def of_sets(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """Accuracy on each set: on all statements, those labelled true or false, and balanced.

    Balanced accuracy is the mean of the accuracy on statements labelled true and on those labelled
    false; it is undefined where one of the two has no statement with a belief.

    Returns:
        Columns set, gold (``all``, ``true``, ``false``, ``balanced``), stage, n, missing, accuracy,
        low, high.
    """
    import polars as pl

    parts = {"all": pl.lit(value=True), "true": pl.col("label"), "false": ~pl.col("label")}
    rows = [
        {"set": name, "gold": gold, **row}
        for name, every in sets.items()
        for gold, found in [
            *((part, _shares(every.filter(chosen), bootstrap)) for part, chosen in parts.items()),
            ("balanced", _balanced(every, bootstrap)),
        ]
        for row in found
    ]
    return _table(rows, {"set": pl.String, "gold": pl.String, **_shares_schema()})


def baselines(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> pl.DataFrame:
    """The accuracy of judges that know nothing of the statement, on the same statements.

    Returns:
        Columns set, baseline (one of ``BASELINES``), n, accuracy, low, high. The majority by
        relation is that of the labels it is measured on, so it is the best that a judge who sees
        the relation alone can do.
    """
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
    """What repair adds to accuracy, paired: both of the same statements and resamples.

    The whole gain is split in two: what a shift towards true adds that keeps the order of beliefs
    and makes as many statements true as repair does, and what consistency adds above it.

    Returns:
        Columns set, objective, part (one of ``GAIN_PARTS``), n, gain, low, high.
    """
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
    """Accuracy of each relation (Figure 4): relation, stage, n, missing, accuracy, low, high."""
    import polars as pl

    rows = [
        {"relation": relation, **row}
        for (relation,), every in verdicts.group_by("relation", maintain_order=True)
        for row in _shares(every, bootstrap)
    ]
    return _table(rows, {"relation": pl.String, **_shares_schema()})


def of_things(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Accuracy of each thing (Figures 5, 6 and 11), over all statements of its drawings.

    Returns:
        Columns thing, rank (1 = the best before repair; ties by name), band (``best 20``,
        ``middle`` or ``worst 20``; of fewer than 40 things the better half is best and the worse
        half worst), stage, n, missing, accuracy. Rank and band are null without any belief.
    """
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
            .then(pl.lit(f"best {_BAND}"))
            .when(rank > known - band)
            .then(pl.lit(f"worst {_BAND}"))
            .when(rank.is_not_null())
            .then(pl.lit("middle"))
            .alias("band"),
            order=pl.int_range(pl.len()),
        )
        .unpivot(
            STAGES,
            index=["order", "thing", "rank", "band", "n", "missing"],
            variable_name="stage",
            value_name="accuracy",
        )
        .sort("order", maintain_order=True)
        .select("thing", "rank", "band", "stage", "n", "missing", "accuracy")
    )


def of_drawings(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Accuracy of each drawing: thing, annotator, n, missing, and a column per stage."""
    return _divided(_summed(verdicts, DRAWING))


def at_least(by_drawing: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Accuracy@s: the share of drawings with an accuracy of s per cent or more (Figure 3).

    Returns:
        Columns s, stage, n (drawings with any belief), share, low, high.
    """
    import polars as pl

    known = by_drawing.filter(pl.col("n") > 0)
    one = pl.repeat(1, known.height, eager=True)
    rows = []
    for s in PERCENTS if by_drawing.height else ():
        for stage in STAGES:
            # The nearest doubles of equal fractions are equal, so that >= is exact.
            share = bootstrap.ratio(known["thing"], known[stage] >= s / 100, one)
            figures = {"share": share.value, "low": share.low, "high": share.high}
            rows.append({"s": s, "stage": stage, "n": known.height, **figures})
    numbers = dict.fromkeys(("share", "low", "high"), pl.Float64)
    return _table(rows, {"s": pl.Int64, "stage": pl.String, "n": pl.Int64, **numbers})


def _sets(
    verdicts: pl.DataFrame, beliefs: pl.DataFrame, symmetric: Collection[str]
) -> dict[str, pl.DataFrame]:
    """The verdicts of each set; the asymmetric ones are shifted by themselves."""
    import polars as pl

    if verdicts.is_empty():
        return {}
    asymmetric = judge(beliefs.filter(~pl.col("relation").is_in(list(symmetric))))
    return dict(zip(SETS, (verdicts, verdicts.filter("agreed"), asymmetric), strict=True))


def _summed(verdicts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """How many statements have a belief, how many have none, and how many are right."""
    import polars as pl

    sums = (pl.col(name).sum().cast(pl.Int64) for name in _SUMS)
    shifts = (pl.col(name).sum() for name in _SHIFTED.values())
    return verdicts.group_by(by, maintain_order=True).agg(*sums, *shifts)


def _divided(summed: pl.DataFrame) -> pl.DataFrame:
    """Shares in place of the counts of what is right; null where n is 0."""
    import polars as pl

    n = pl.when(pl.col("n") > 0).then(pl.col("n"))
    shares = summed.with_columns(pl.col(stage) / n for stage in STAGES)
    return shares.drop(_SHIFTED.values())


def _shares(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """One row per stage: the accuracy over all these verdicts."""
    of_thing = _summed(verdicts, ["thing"])
    rows = []
    for stage in STAGES:
        share = bootstrap.ratio(of_thing["thing"], of_thing[stage], of_thing["n"])
        counts = {"n": of_thing["n"].sum(), "missing": of_thing["missing"].sum()}
        figures = {"accuracy": share.value, "low": share.low, "high": share.high}
        rows.append({"stage": stage, **counts, **figures})
    return rows


def _balanced(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """One row per stage: the mean of the accuracies on both labels."""
    import polars as pl

    sides = {"true": pl.col("label"), "false": ~pl.col("label")}
    counts = {"n": int(verdicts["n"].sum()), "missing": int(verdicts["missing"].sum())}
    of_thing = verdicts.group_by("thing", maintain_order=True).agg(
        *(
            pl.col(of).filter(side).sum().cast(pl.Int64).alias(f"{of} {name}")
            for of in ("n", *STAGES)
            for name, side in sides.items()
        ),
    )
    rows = []
    for stage in STAGES:
        over, under = ([of_thing[f"{of} {name}"] for name in sides] for of in (stage, "n"))
        share = bootstrap.mean_of_ratios(of_thing["thing"], over, under, all_defined=True)
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
