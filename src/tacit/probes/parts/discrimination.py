"""How often the model judges statements true, and how well its beliefs tell true from false."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import polars as pl

from tacit.coherence.beliefs import Beliefs
from tacit.coherence.check import check
from tacit.coherence.ontology import Ontology
from tacit.coherence.repair import weights_of
from tacit.probes.parts import ALL, TABLES, WITHOUT_SYMMETRIC
from tacit.probes.parts.beliefs import DRAWING
from tacit.statistics import Bootstrap, Estimate

BEFORE, CALIBRATED = "before", "calibrated"

# Equal beliefs must not lie on both sides of their mean because of rounding.
_EQUAL = 1e-9


def with_log_odds(beliefs: pl.DataFrame) -> pl.DataFrame:
    """Return the table with the log-odds of the beliefs, as for repair; null if missing."""
    odds = pl.Series(weights_of(beliefs["p_true"].cast(pl.Float64).to_numpy(), "log-odds"))
    return beliefs.with_columns(log_odds=pl.when(pl.col("p_true").is_not_null()).then(odds))


def thresholds(answers: pl.DataFrame, *, calibrate: bool) -> dict[str, float]:
    """Return, by stage, the log-odds above which a statement counts as true."""
    mean = with_log_odds(answers).select(pl.col("log_odds").mean()).item()
    if not calibrate or mean is None:
        return {BEFORE: 0.0}
    return {BEFORE: 0.0, CALIBRATED: mean + _EQUAL}


def calibrated(
    beliefs: pl.DataFrame, ontology: Ontology, above: Mapping[str, float]
) -> dict[str, pl.DataFrame]:
    """Return the violations by drawing of the stage ``calibrated``, if it is wanted."""
    if CALIBRATED not in above:
        return {}
    true = with_log_odds(beliefs)["log_odds"] > above[CALIBRATED]
    return {CALIBRATED: check(Beliefs(beliefs, ontology, DRAWING), true).groups}


def discrimination(
    judged: pl.DataFrame,
    answers: pl.DataFrame,
    above: Mapping[str, float],
    ontology: Ontology,
    violations: Mapping[str, pl.DataFrame],
) -> pl.DataFrame:
    """Return the table ``discrimination``, without rows if there are no gold labels."""
    labelled = with_log_odds(judged).drop_nulls(["label", "log_odds"])
    asked = with_log_odds(answers).drop_nulls("log_odds")
    rows = []
    for name in (ALL, WITHOUT_SYMMETRIC) if judged["label"].count() else ():
        left_out = list(ontology.symmetric) if name == WITHOUT_SYMMETRIC else []
        kept = ~pl.col("relation").is_in(left_out)
        some, distinct = labelled.filter(kept), asked.filter(kept)
        auroc = Bootstrap().auroc(some["thing"], some["label"], some["p_true"])
        same = {"things": _things(some), "auroc": auroc}
        same |= {"statements": distinct.height, "n": some.height}
        for stage, threshold in above.items():
            true = pl.col("log_odds") > threshold
            row = {"set": name, "stage": stage, **same}
            row |= _shares(distinct.with_columns(true=true), some.with_columns(true=true))
            if CALIBRATED in above:  # else the table ``accuracy`` has it
                right = some.with_columns(true=true == pl.col("label"))
                kinds = [kind for kind in ontology.kinds if not (left_out and kind == "symmetric")]
                row |= {"accuracy": _share(right)}
                row |= {"violation": _violation(violations[stage], kinds)}
            rows.append(row)
    return TABLES["discrimination"].frame(rows)


def _things(labelled: pl.DataFrame) -> int:
    """Return the number of things behind the gold label that occurs in fewer things."""
    return min(labelled.filter(label=label)["thing"].n_unique() for label in (True, False))


def _share(rows: pl.DataFrame) -> Estimate:
    """Return the share of rows in which the column ``true`` is true."""
    of = rows.group_by("thing").agg(pl.col("true").sum(), n=pl.len())
    return Bootstrap().ratio(of["thing"], of["true"], of["n"])


def _shares(distinct: pl.DataFrame, labelled: pl.DataFrame) -> dict[str, Estimate]:
    of = hits_by_thing(labelled)
    names = (("hits", "rejected"), ("of_true", "of_false"))
    over, under = ([of[name] for name in some] for some in names)
    return {
        "share_true": _share(distinct),
        "true_if_true": _share(labelled.filter("label")),
        "true_if_false": _share(labelled.filter(~pl.col("label"))),
        "balanced": Bootstrap().mean_of_ratios(of["thing"], over, under, all_defined=True),
    }


def hits_by_thing(labelled: pl.DataFrame) -> pl.DataFrame:
    """Count for each thing the true and false statements, and which of them are judged so."""
    true, label = pl.col("true"), pl.col("label")
    return labelled.group_by("thing").agg(
        hits=(true & label).sum(),
        rejected=(~true & ~label).sum(),
        of_true=label.sum(),
        of_false=(~label).sum(),
    )


def _violation(groups: pl.DataFrame, kinds: Collection[str]) -> Estimate:

    violated, applicable, undecided = (
        groups.select(pl.sum_horizontal(f"{kind}_{of}" for kind in kinds)).to_series()
        for of in ("violated", "applicable", "undecided")
    )
    return Bootstrap().ratio(groups["thing"], violated, applicable - undecided)
