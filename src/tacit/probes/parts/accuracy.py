"""How far each world agrees with people's drawings (section 6, Tables 4 and 6, Figures 3 to 6).

A statement is judged rightly when it is true and labelled true, or not true and labelled false.
One without a belief is left out of every share, and counted as missing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.measure import DRAWING
from tacit.probes.parts.worlds import OBJECTIVES, WORLDS
from tacit.sources.statements import agreed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl
    from polars._typing import PolarsDataType, SchemaDict

    from tacit.statistics import Bootstrap

SETS = ("ParRoT", "ParRoT++")
PERCENTS = (50, 60, 70, 80, 90, 100)
_BAND = 20
_SUMS = ("n", "missing", *WORLDS)


def tables(beliefs: pl.DataFrame, bootstrap: Bootstrap) -> dict[str, pl.DataFrame]:
    """All tables of accuracy, without rows where there is no gold.

    Args:
        beliefs: thing, annotator, subject, relation, object, p_true, label (null where no label
            is implied), and one Boolean column per world.
        bootstrap: How intervals are made, over things.
    """
    verdicts = judge(beliefs)
    by_drawing = of_drawings(verdicts)
    return {
        "accuracy": of_sets(verdicts, bootstrap),
        "accuracy_gain": gain(verdicts, bootstrap),
        "accuracy_at": at_least(by_drawing, bootstrap),
        "accuracy_by_relation": of_relations(verdicts, bootstrap),
        "accuracy_by_thing": of_things(verdicts),
        "accuracy_by_drawing": by_drawing,
    }


def judge(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Whether each gold statement is judged rightly.

    Returns:
        The gold statements: thing, annotator, relation, label, ``agreed`` (all annotators of the
        thing agree: ParRoT++), ``n`` (there is a belief), ``missing`` (there is none), and for
        each world whether the belief is there and right.
    """
    import polars as pl

    gold = beliefs.filter(pl.col("label").is_not_null())
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
        *((known & (pl.col(world) == pl.col("label"))).alias(world) for world in WORLDS),
    )


def of_sets(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Accuracy on ParRoT and ParRoT++, over all statements and those labelled true or false.

    Returns:
        Columns set, gold, world, n, missing, accuracy, low, high.
    """
    import polars as pl

    parts = {"all": pl.lit(value=True), "true": pl.col("label"), "false": ~pl.col("label")}
    rows = [
        {"set": name, "gold": gold, **row}
        for name, every in _sets(verdicts).items()
        for gold, chosen in parts.items()
        for row in _shares(every.filter(chosen), bootstrap)
    ]
    return _table(rows, {"set": pl.String, "gold": pl.String, **_shares_schema()})


def gain(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """What repair adds to accuracy, paired: both of the same statements and resamples.

    Returns:
        Columns set, objective, n, gain, low, high.
    """
    import polars as pl

    rows = []
    for name, every in _sets(verdicts).items():
        of_thing = _summed(every, ["thing"])
        for objective in OBJECTIVES:
            more = of_thing[objective] - of_thing["before"]
            change = bootstrap.ratio(of_thing["thing"], more, of_thing["n"])
            figures = {"gain": change.value, "low": change.low, "high": change.high}
            rows.append({"set": name, "objective": objective, "n": of_thing["n"].sum(), **figures})
    numbers = dict.fromkeys(("gain", "low", "high"), pl.Float64)
    return _table(rows, {"set": pl.String, "objective": pl.String, "n": pl.Int64, **numbers})


def of_relations(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Accuracy of each relation (Figure 4): relation, world, n, missing, accuracy, low, high."""
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
        half worst), world, n, missing, accuracy. Rank and band are null without any belief.
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
            WORLDS,
            index=["order", "thing", "rank", "band", "n", "missing"],
            variable_name="world",
            value_name="accuracy",
        )
        .sort("order", maintain_order=True)
        .select("thing", "rank", "band", "world", "n", "missing", "accuracy")
    )


def of_drawings(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Accuracy of each drawing: thing, annotator, n, missing, and a column per world."""
    return _divided(_summed(verdicts, DRAWING))


def at_least(by_drawing: pl.DataFrame, bootstrap: Bootstrap) -> pl.DataFrame:
    """Accuracy@s: the share of drawings with an accuracy of s per cent or more (Figure 3).

    Returns:
        Columns s, world, n (drawings with any belief), share, low, high.
    """
    import polars as pl

    known = by_drawing.filter(pl.col("n") > 0)
    one = pl.repeat(1, known.height, eager=True)
    rows = []
    for s in PERCENTS if by_drawing.height else ():
        for world in WORLDS:
            # The nearest doubles of equal fractions are equal, so that >= is exact.
            share = bootstrap.ratio(known["thing"], known[world] >= s / 100, one)
            figures = {"share": share.value, "low": share.low, "high": share.high}
            rows.append({"s": s, "world": world, "n": known.height, **figures})
    numbers = dict.fromkeys(("share", "low", "high"), pl.Float64)
    return _table(rows, {"s": pl.Int64, "world": pl.String, "n": pl.Int64, **numbers})


def _sets(verdicts: pl.DataFrame) -> dict[str, pl.DataFrame]:
    if verdicts.is_empty():
        return {}
    return dict(zip(SETS, (verdicts, verdicts.filter("agreed")), strict=True))


def _summed(verdicts: pl.DataFrame, by: Sequence[str]) -> pl.DataFrame:
    """How many statements have a belief, how many have none, and how many are right."""
    import polars as pl

    sums = (pl.col(name).sum().cast(pl.Int64) for name in _SUMS)
    return verdicts.group_by(by, maintain_order=True).agg(sums)


def _divided(summed: pl.DataFrame) -> pl.DataFrame:
    """Shares in place of the counts of what is right; null where n is 0."""
    import polars as pl

    n = pl.when(pl.col("n") > 0).then(pl.col("n"))
    return summed.with_columns(pl.col(world) / n for world in WORLDS)


def _shares(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> list[dict[str, Any]]:
    """One row per world: the accuracy over all these verdicts."""
    of_thing = _summed(verdicts, ["thing"])
    rows = []
    for world in WORLDS:
        share = bootstrap.ratio(of_thing["thing"], of_thing[world], of_thing["n"])
        counts = {"n": of_thing["n"].sum(), "missing": of_thing["missing"].sum()}
        figures = {"accuracy": share.value, "low": share.low, "high": share.high}
        rows.append({"world": world, **counts, **figures})
    return rows


def _shares_schema() -> dict[str, PolarsDataType]:
    import polars as pl

    numbers = dict.fromkeys(("accuracy", "low", "high"), pl.Float64())
    return {"world": pl.String(), "n": pl.Int64(), "missing": pl.Int64(), **numbers}


def _table(rows: Sequence[Mapping[str, Any]], schema: SchemaDict) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(rows, schema=schema)
