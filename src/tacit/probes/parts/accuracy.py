"""Accuracy of the raw and repaired beliefs (Gu et al. 2023, Tables 4 and 6, Figures 3 to 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.probes.parts.beliefs import DRAWING
from tacit.probes.parts.repair import OBJECTIVES, STAGES
from tacit.probes.parts.tables import AGREED, ALL, TABLES, WITHOUT_SYMMETRIC
from tacit.sources.statements import agreed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    import polars as pl

    from tacit.statistics import Bootstrap, Estimate

PERCENTS = (50, 60, 70, 80, 90, 100)
_BAND = 20
_ALWAYS_TRUE = "always_true"
_SHIFTED = {objective: f"{objective} shifted" for objective in OBJECTIVES}


def tables(
    beliefs: pl.DataFrame, symmetric: Collection[str], bootstrap: Bootstrap
) -> dict[str, pl.DataFrame]:
    """Compute all accuracy tables; without gold labels, the tables have no rows."""
    import polars as pl

    verdicts = judge(beliefs)
    without = judge(beliefs.filter(~pl.col("relation").is_in(list(symmetric))))
    every = {ALL: verdicts, AGREED: verdicts.filter("agreed"), WITHOUT_SYMMETRIC: without}
    sets = {name: some for name, some in every.items() if some.height}
    by_drawing = _divided(verdicts, DRAWING)
    own: dict[str, Iterable[Mapping[str, Any]]] = {
        "accuracy": _of_sets(sets, bootstrap),
        "accuracy_baselines": _baselines(sets, bootstrap),
        "accuracy_gain": _gain(sets, bootstrap),
        "accuracy_at": _at_least(by_drawing, bootstrap),
        "accuracy_by_relation": _of_relations(verdicts, bootstrap),
    }
    return {name: TABLES[name].frame(rows) for name, rows in own.items()} | {
        "accuracy_by_thing": _of_things(verdicts),
        "accuracy_by_drawing": by_drawing.drop(_ALWAYS_TRUE),
    }


def shifted(stage: str) -> pl.Expr:
    """Judge beliefs by a threshold at which as many statements are true as at a stage.

    Of equal beliefs that the threshold divides, each is true to the same share.
    """
    import polars as pl

    p = pl.col("p_true")
    true = (pl.col(stage) & p.is_not_null()).sum()
    above = p.rank("min", descending=True).cast(pl.Int64) - 1
    return ((true - above) / pl.len().over("p_true")).clip(0.0, 1.0)


def judge(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Return a row per labelled statement, with whether each stage has the right truth value."""
    import polars as pl

    statement = ["thing", "subject", "relation", "object", "label"]
    shifts = {name: shifted(stage) for stage, name in _SHIFTED.items()}
    gold = beliefs.with_columns(**shifts).filter(pl.col("label").is_not_null())
    common = agreed(gold).with_columns(agreed=pl.lit(value=True))
    label, known = pl.col("label"), pl.col("p_true").is_not_null()
    right = {stage: known & (pl.col(stage) == label) for stage in STAGES}
    right_if_shifted = {
        name: pl.when(known).then(pl.when(label).then(name).otherwise(1 - pl.col(name)))
        for name in _SHIFTED.values()
    }
    return gold.join(common, on=statement, how="left", maintain_order="left").select(
        *DRAWING,
        "relation",
        "label",
        agreed=pl.col("agreed").fill_null(value=False),
        n=known,
        missing=~known,
        **right,
        **{name: share.fill_null(0.0) for name, share in right_if_shifted.items()},
        **{_ALWAYS_TRUE: known & label},
    )


def _summed(verdicts: pl.DataFrame, by: Iterable[str] = ("thing",)) -> pl.DataFrame:
    """Count the statements with a belief, without a belief, and with the right truth value."""
    import polars as pl

    counts = (pl.col(name).sum().cast(pl.Int64) for name in ("n", "missing", *STAGES, _ALWAYS_TRUE))
    shifts = (pl.col(name).sum() for name in _SHIFTED.values())
    return verdicts.group_by(by, maintain_order=True).agg(*counts, *shifts)


def _divided(verdicts: pl.DataFrame, by: Iterable[str]) -> pl.DataFrame:
    """Return the accuracy of each stage; null in rows without a belief."""
    import polars as pl

    n = pl.when(pl.col("n") > 0).then(pl.col("n"))
    shares = _summed(verdicts, by).with_columns(pl.col(s) / n for s in (*STAGES, _ALWAYS_TRUE))
    return shares.drop(_SHIFTED.values())


def _by_stage(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    of = _summed(verdicts)
    for stage in STAGES:
        share = bootstrap.ratio(of["thing"], of[stage], of["n"])
        counts = {name: of[name].sum() for name in ("n", "missing")}
        yield {"stage": stage, **counts, "accuracy": share}


def _of_sets(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    import polars as pl

    golds = {"all": pl.lit(value=True), "true": pl.col("label"), "false": ~pl.col("label")}
    for name, verdicts in sets.items():
        for gold, chosen in golds.items():
            for row in _by_stage(verdicts.filter(chosen), bootstrap):
                yield {"set": name, "gold": gold, **row}


def _baselines(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield the accuracy of baselines without a model, on the statements with a belief."""
    import polars as pl

    label = pl.col("label")
    right = {
        "always true": label,
        "always false": ~label,
        "majority by relation": label == (label.mean().over("relation") >= 1 / 2),
    }
    for name, verdicts in sets.items():
        known = verdicts.filter("n").select("thing", "n", **right)
        for baseline in right:
            share = bootstrap.ratio(known["thing"], known[baseline], known["n"])
            yield {"set": name, "baseline": baseline, "n": known.height, "accuracy": share}


def _gain(sets: Mapping[str, pl.DataFrame], bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield the gain of repair, and its two parts: a shift of the threshold, and consistency."""
    for name, verdicts in sets.items():
        of = _summed(verdicts)
        for objective, shift in _SHIFTED.items():
            parts = {
                "whole": of[objective] - of["before"],
                "shift of the threshold": of[shift] - of["before"],
                "consistency": of[objective] - of[shift],
            }
            for part, more in parts.items():
                gain = bootstrap.ratio(of["thing"], more, of["n"])
                which = {"set": name, "objective": objective, "part": part}
                yield {**which, "n": of["n"].sum(), "gain": gain}


def _of_relations(verdicts: pl.DataFrame, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    always = dict(_divided(verdicts, ["relation"]).select("relation", _ALWAYS_TRUE).iter_rows())
    for (relation,), mine in verdicts.group_by("relation", maintain_order=True):
        for row in _by_stage(mine, bootstrap):
            yield {"relation": relation, **row, _ALWAYS_TRUE: always[relation]}


def _of_things(verdicts: pl.DataFrame) -> pl.DataFrame:
    """Rank things by the accuracy before repair; each has a row per stage."""
    import polars as pl

    rank, known = pl.col("rank"), pl.col("n") > 0
    things = (
        _divided(verdicts, ["thing"])
        .sort("before", "thing", descending=[True, False], nulls_last=True)
        .with_columns(rank=pl.when(known).then(pl.int_range(1, pl.len() + 1)))
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
    stages = pl.DataFrame({"stage": STAGES})
    accuracy = pl.coalesce(pl.when(stage=stage).then(stage) for stage in STAGES)
    return (
        things.join(stages, how="cross", maintain_order="left_right")
        .with_columns(accuracy=accuracy, band=name)
        .select(*TABLES["accuracy_by_thing"].schema)
    )


def _at_least(by_drawing: pl.DataFrame, bootstrap: Bootstrap) -> Iterator[dict[str, Any]]:
    """Yield accuracy@s: the share of drawings with at least s % accuracy."""
    known = by_drawing.filter(by_drawing["n"] > 0)

    def share(name: str, s: int) -> Estimate:
        # Equal fractions have the same nearest double, so >= is exact.
        return bootstrap.ratio(known["thing"], known[name] >= s / 100, known["n"] > 0)

    for s in PERCENTS if by_drawing.height else ():
        for stage in STAGES:
            always = (known[_ALWAYS_TRUE] >= s / 100).mean()
            which = {"s": s, "stage": stage, "n": known.height}
            yield {**which, "share": share(stage, s), _ALWAYS_TRUE: always}
