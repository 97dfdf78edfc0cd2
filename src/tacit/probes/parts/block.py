"""What a reader sees first of a parts run: the verdict and the main figures beside chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.english import several
from tacit.findings import verdict as rule
from tacit.findings.block import Block, Entries, sentence
from tacit.findings.numbers import percent, score
from tacit.findings.verdict import Measured, Verdict
from tacit.probes.parts.questions import QUESTION
from tacit.probes.parts.tables import TABLES, WITHOUT_SYMMETRIC
from tacit.statistics import FEWEST_CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.findings.findings import Findings

_SMALL = 1e-3  # a smaller probability of either answer is warned about
_MAIN = {"set": WITHOUT_SYMMETRIC, "stage": "before"}
_VIOLATION = {"constraint": "micro", "stage": "before"}
_AFTER = {"set": WITHOUT_SYMMETRIC, "stage": "paper", "gold": "all"}


def block(findings: Findings) -> Block:
    """Return the verdict, how often the model judges statements true, and the main figures."""
    summary, cell = findings.summary, Entries(findings, TABLES)
    found = Verdict.of(summary["verdict"])
    asked = several(summary["questions"] - summary["missing"], "statement")
    things = several(summary["things"], "everyday thing")
    share = percent(summary["true_share"])
    main = []
    if accuracy := cell("discrimination", "balanced", **_MAIN):
        main.append(f"balanced accuracy {accuracy}, chance {percent(1 / 2)}")
    if area := cell("discrimination", "auroc", **_MAIN):
        without = " (both without symmetric relations)" * bool(accuracy)
        main.append(f"AUROC {area}, chance {score(1 / 2)}{without}")
    if rate := cell("violation", "rate", **_VIOLATION):
        shuffled = f", shuffled beliefs {rate.of('shuffled')}"
        main.append(f"constraint violations {rate}{shuffled * (rate.row['shuffled'] is not None)}")
    return Block(
        found,
        f"True for {share} of {asked} about {things}.",
        sentence(main),
        _caution(findings) or (_gain(cell) if found.shows_something else None),
    )


def _gain(cell: Entries) -> str | None:
    """Return the gain of repair, beside the accuracy of repaired shuffled beliefs."""
    where = {"set": WITHOUT_SYMMETRIC}
    gain = cell("accuracy_gain", "gain", objective="paper", part="whole", **where)
    after = cell("accuracy", "accuracy", **_AFTER)
    shuffled = cell("repaired_shuffled", "after", **where)
    if not (gain and after and shuffled):
        return None
    return (
        f"Repair changes accuracy by {gain} to {percent(after.value)}; shuffled beliefs reach "
        f"{percent(shuffled.value)}."
    )


def _caution(findings: Findings) -> str | None:
    """Return the first caution that holds."""
    summary = findings.summary
    mass = summary.get("answer_probability")
    if mass is not None and mass < _SMALL:
        return (
            "Caution: the model rarely continues a prompt with an answer that means true or false "
            f"(median probability {score(mass)})."
        )
    if summary["missing"]:
        missing = several(summary["missing"], "statement has", "statements have")
        undecided = _row(findings, "violation", **_VIOLATION)["undecided"]
        left_out = f"; {several(undecided, 'constraint is', 'constraints are')} undecided"
        return f"Caution: {missing} no belief{left_out * bool(undecided)}."
    return None


def verdict(findings: Findings) -> Verdict:
    """Return the verdict; without gold labels, the violations alone decide."""
    violations = _violations(_row(findings, "violation", **_VIOLATION))
    row = _row(findings, "discrimination", **_MAIN)
    if not row:
        known = findings.questions.drop_nulls("p_true")
        things = known["thing"].n_unique()
        return rule.verdict(_answers(known), things, FEWEST_CLUSTERS, [violations])
    beliefs = findings.tables["beliefs"]
    known = beliefs.drop_nulls(["label", "p_true"]).unique([*QUESTION, "p_true"])
    return rule.verdict(
        _answers(known),
        row["things"],
        FEWEST_CLUSTERS,
        [_measured(row, "auroc", "the AUROC"), _measured(row, "balanced", "the balanced accuracy")],
        also=[violations],
        control=_control(findings),
    )


def _row(findings: Findings, table: str, **where: str) -> Mapping[str, Any]:
    """Return the row of a table with these values; empty if there is none."""
    return next(iter(findings.tables[table].filter(**where).to_dicts()), {})


def _answers(known: pl.DataFrame) -> rule.Answers | None:
    return rule.Answers.of("true" if p > 1 / 2 else "false" for p in known["p_true"])


def _measured(row: Mapping[str, Any], column: str, name: str) -> Measured:
    return Measured(name, *_interval(row, column), (0.5, 0.5))


def _violations(row: Mapping[str, Any]) -> Measured:
    name, nothing = "the drop in violations against shuffled beliefs", (0.0, 0.0)
    # Few things may have constraints that apply, so that another rate is not known to be exact.
    unknown = row["rate_low"] is None and row["rate"] not in {0.0, 1.0}
    if row["rate"] is None or row["shuffled"] is None or unknown:
        return Measured(name, None, None, nothing)
    low, high = _interval(row, "rate")
    return Measured(name, row["shuffled"] - high, row["shuffled"] - low, nothing)


def _interval(row: Mapping[str, Any], column: str) -> tuple[Any, Any]:
    """Return the interval; a value of enough things without one is the same in every resample."""
    value, low, high = (row[f"{column}{end}"] for end in ("", "_low", "_high"))
    return (value, value) if low is None else (low, high)


def _control(findings: Findings) -> str | None:
    """Return why repaired shuffled beliefs explain the accuracy; None if they do not."""
    after = _row(findings, "accuracy", **_AFTER)
    shuffled = _row(findings, "repaired_shuffled", set=WITHOUT_SYMMETRIC)
    if not shuffled or not after or after["accuracy"] is None:
        return None
    if _interval(after, "accuracy")[0] > shuffled["after"]:
        return None
    return (
        f"after repair, shuffled beliefs are as accurate ({percent(shuffled['after'])}) as the "
        "model's"
    )
