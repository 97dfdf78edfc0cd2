"""The verdict on a parts run (see ``tacit.findings.verdict``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.findings import verdict as rule
from tacit.findings.numbers import percent
from tacit.findings.verdict import Measured, Verdict
from tacit.probes.parts.accuracy import WITHOUT_SYMMETRIC
from tacit.probes.parts.questions import QUESTION
from tacit.statistics import FEWEST_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import polars as pl

_MAIN = {"set": WITHOUT_SYMMETRIC, "stage": "before"}
_AFTER = {"set": WITHOUT_SYMMETRIC, "stage": "paper", "gold": "all"}


def verdict(summary: Mapping[str, Any], answers: pl.DataFrame, judged: pl.DataFrame) -> Verdict:
    """Return the verdict; without gold labels, the violations alone decide."""
    violations = _violations(row_of(summary["violation"], constraint="micro", stage="before"))
    row = row_of(summary["discrimination"], **_MAIN)
    if row is None or not summary["labels_labelled"]:
        known = answers.drop_nulls("p_true")
        things = known["thing"].n_unique()
        return rule.verdict(_answers(known), things, FEWEST_CLUSTERS, [violations])
    known = judged.drop_nulls(["label", "p_true"]).unique([*QUESTION, "p_true"])
    return rule.verdict(
        _answers(known),
        row["things"],
        FEWEST_CLUSTERS,
        [_measured(row, "auroc", "the AUROC"), _measured(row, "balanced", "the balanced accuracy")],
        also=[violations],
        control=_control(summary),
    )


def row_of(rows: Sequence[Mapping[str, Any]], **where: str) -> Mapping[str, Any] | None:
    """Return the first row whose columns have the given values; None if there is none."""
    return next((r for r in rows if all(r[name] == value for name, value in where.items())), None)


def _answers(known: pl.DataFrame) -> rule.Answers | None:
    return rule.Answers.of("true" if p > 1 / 2 else "false" for p in known["p_true"])


def _measured(row: Mapping[str, Any], column: str, name: str) -> Measured:
    ends = (row[f"{column}_{end}"] for end in ("low", "high"))
    return Measured(name, *_interval(row[column], *ends), (0.5, 0.5))


def _violations(row: Mapping[str, Any] | None) -> Measured:
    name, nothing = "the drop in violations against shuffled beliefs", (0.0, 0.0)
    if row is None or row["rate"] is None or row["shuffled"] is None:
        return Measured(name, None, None, nothing)
    # Few things may have constraints that apply, so that another rate is not known to be exact.
    if row["low"] is None and row["rate"] not in {0.0, 1.0}:
        return Measured(name, None, None, nothing)
    low, high = _interval(row["rate"], row["low"], row["high"])
    return Measured(name, row["shuffled"] - high, row["shuffled"] - low, nothing)


def _interval(value: Any, low: Any, high: Any) -> tuple[Any, Any]:  # noqa: ANN401 - cells of rows
    """Return the interval; a value of enough things without one is the same in every resample."""
    return (value, value) if low is None else (low, high)


def _control(summary: Mapping[str, Any]) -> str | None:
    """Return why repaired shuffled beliefs explain the accuracy; None if they do not."""
    after = row_of(summary["accuracy"], **_AFTER)
    shuffled = row_of(summary["repaired_shuffled"], set=WITHOUT_SYMMETRIC)
    if after is None or shuffled is None or after["accuracy"] is None:
        return None
    low, _ = _interval(after["accuracy"], after["low"], after["high"])
    if low > shuffled["after"]:
        return None
    return (
        f"after repair, shuffled beliefs are as accurate ({percent(shuffled['after'])}) as the "
        "model's"
    )
