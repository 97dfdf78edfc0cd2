"""The verdict on a run: the rule of ``tacit.findings.verdict``, applied to lift and yes-margin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.findings.numbers import score
from tacit.findings.verdict import Answers, Measured, Verdict, verdict
from tacit.probes.consistency.controls import IRRELEVANT
from tacit.statistics.prediction import FEWEST_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

_SIGNIFICANT = 0.05


def verdict_of(answers: pl.DataFrame, tables: Mapping[str, pl.DataFrame]) -> Verdict:
    """Return the verdict on a run."""
    row = tables["background_answers"].row(0, named=True)
    lift = _lift(tables["adjusted"].row(0, named=True))
    area, balanced = (
        Measured(f"the {words}", row[f"{name}_low"], row[f"{name}_high"], (0.5, 0.5))
        for name, words in (
            ("auroc", "AUROC of the yes-margin"),
            ("balanced_accuracy", "balanced accuracy"),
        )
    )
    return verdict(
        Answers.of("yes" if yes else "no" for yes in answers["yes"]),
        tables["consistency"]["clusters"].item(),
        FEWEST_CLUSTERS,
        (lift, area),
        also=(balanced,),
        control=_control(lift, tables["controls"]),
    )


def _lift(row: Mapping[str, Any]) -> Measured:
    """Return the adjusted lift; the highest lift has no interval, but a p-value."""
    value, low, high = (row[f"lift_adjusted{end}"] for end in ("", "_low", "_high"))
    if value is not None and value >= 1 and row["p_adjusted"] is not None:
        high = 1.0
        low = 1.0 if row["p_adjusted"] <= _SIGNIFICANT else 0.0
    why = row["no_adjusted_interval"] and f"no interval of the lift: {row['no_adjusted_interval']}"
    return Measured("the adjusted lift", low, high, (0.0, 0.0), scale=2.0, why=why)


def _control(lift: Measured, controls: pl.DataFrame) -> str | None:
    """Return a clause if irrelevant background predicts the answers as well."""
    (other,) = controls.filter(background=IRRELEVANT)["lift_adjusted"]
    if other is None or lift.low is None or lift.low > other:
        return None
    return f"irrelevant background has an adjusted lift of {score(other)}, within the interval"
