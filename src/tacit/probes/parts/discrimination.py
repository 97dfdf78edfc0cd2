"""How often the model judges statements true, and how well its beliefs tell true from false."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.coherence.check import check
from tacit.coherence.repair import weights_of
from tacit.probes.parts.repair import types
from tacit.probes.parts.tables import ALL, TABLES, WITHOUT_SYMMETRIC
from tacit.statistics import FEWEST_CLUSTERS, Estimate

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import polars as pl

    from tacit.coherence.ontology import Ontology
    from tacit.statistics import Bootstrap

BEFORE, CALIBRATED = "before", "calibrated"

# Equal beliefs must not lie on both sides of their mean because of rounding.
_EQUAL = 1e-9


def with_log_odds(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the log-odds of the beliefs, as for repair; null if missing."""
    import polars as pl

    odds = pl.Series(weights_of(beliefs["p_true"].cast(pl.Float64).to_numpy(), "log-odds"))
    return beliefs.with_columns(log_odds=pl.when(pl.col("p_true").is_not_null()).then(odds))


def thresholds(answers: pl.DataFrame, *, calibrate: bool) -> dict[str, float]:
    """Return, by stage, the log-odds above which a statement counts as true."""
    import polars as pl

    mean = with_log_odds(answers).select(pl.col("log_odds").mean()).item()
    if not calibrate or mean is None:
        return {BEFORE: 0.0}
    return {BEFORE: 0.0, CALIBRATED: mean + _EQUAL}


def calibrated(
    beliefs: pl.DataFrame, ontology: Ontology, above: Mapping[str, float]
) -> dict[str, pl.DataFrame]:
    """Return the violations by drawing of the stage ``calibrated``, if it is wanted."""
    import polars as pl

    if CALIBRATED not in above:
        return {}
    true = with_log_odds(beliefs).with_columns(true=pl.col("log_odds") > above[CALIBRATED])
    return {CALIBRATED: check(true.drop("log_odds"), ontology, believed="true").groups}


def discrimination(
    judged: pl.DataFrame,
    answers: pl.DataFrame,
    above: Mapping[str, float],
    ontology: Ontology,
    bootstrap: Bootstrap,
    violations: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """Return the table ``discrimination``, without rows if there are no gold labels."""
    import polars as pl

    labelled = with_log_odds(judged).drop_nulls(["label", "log_odds"])
    asked = with_log_odds(answers).drop_nulls("log_odds")
    rows = []
    for name in (ALL, WITHOUT_SYMMETRIC) if judged["label"].count() else ():
        left_out = list(ontology.symmetric) if name == WITHOUT_SYMMETRIC else []
        kept = ~pl.col("relation").is_in(left_out)
        some, distinct = labelled.filter(kept), asked.filter(kept)
        auroc = _auroc(some, bootstrap)
        for stage, threshold in above.items():
            true = pl.col("log_odds") > threshold
            row = {"set": name, "stage": stage, "things": _things(some), "auroc": auroc}
            row |= {"statements": distinct.height, "n": some.height}
            row |= _shares(distinct, some, true, bootstrap)
            if CALIBRATED in above:
                kinds = [kind for kind in types(ontology) if not (left_out and kind == "symmetric")]
                row["violation"] = _violation(violations[stage], kinds, bootstrap)
            else:
                del row["accuracy"]  # as in the table ``accuracy``
            rows.append(row)
    return TABLES["discrimination"].frame(rows)


def _auroc(rows: pl.DataFrame, bootstrap: Bootstrap) -> Estimate:
    found = bootstrap.auroc(rows["thing"], rows["label"], rows["p_true"])
    few = _things(rows) < FEWEST_CLUSTERS
    return Estimate(found.value, None, None) if few or found.low == found.high else found


def _things(labelled: pl.DataFrame) -> int:
    """Return the number of things behind the gold label that occurs in fewer things."""
    return min(labelled.filter(label=label)["thing"].n_unique() for label in (True, False))


def _shares(
    distinct: pl.DataFrame, labelled: pl.DataFrame, true: pl.Expr, bootstrap: Bootstrap
) -> dict[str, Estimate]:
    import polars as pl

    asked = distinct.group_by("thing").agg(true=true.sum(), n=pl.len())
    label = pl.col("label")
    of = labelled.group_by("thing").agg(
        hits=(true & label).sum(), false_alarms=(true & ~label).sum(), true=label.sum(), n=pl.len()
    )
    things, false = of["thing"], of["n"] - of["true"]
    rejected = false - of["false_alarms"]
    over, under = [of["hits"], rejected], [of["true"], false]
    return {
        "share_true": bootstrap.ratio(asked["thing"], asked["true"], asked["n"]),
        "true_if_true": bootstrap.ratio(things, of["hits"], of["true"]),
        "true_if_false": bootstrap.ratio(things, of["false_alarms"], false),
        "balanced": bootstrap.mean_of_ratios(things, over, under, all_defined=True),
        "accuracy": bootstrap.ratio(things, of["hits"] + rejected, of["n"]),
    }


def _violation(groups: pl.DataFrame, kinds: Collection[str], bootstrap: Bootstrap) -> Estimate:
    import polars as pl

    violated, applicable, undecided = (
        groups.select(pl.sum_horizontal(f"{kind}_{of}" for kind in kinds)).to_series()
        for of in ("violated", "applicable", "undecided")
    )
    return bootstrap.ratio(groups["thing"], violated, applicable - undecided)
