"""The tables of the parts probe, declared in ``data/tables/parts.yaml``, and its headlines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.english import several
from tacit.findings.declared import Tables
from tacit.findings.display import Headline

ALL, AGREED = "all", "agreed by all annotators"
"""The sets of labelled statements; of the drawings of Gu et al. (2023), ParRoT and ParRoT++."""

WITHOUT_SYMMETRIC = "without symmetric relations"
"""The published gold labels of statements with a symmetric relation are all true."""

TABLES = Tables("parts")
DETAILS = Tables("parts", "details")


def decided(row: Mapping[str, Any]) -> str:
    """Return, as text, the number of constraints known to be violated or satisfied."""
    kind = "applicable and decided constraint" if row["undecided"] else "applicable constraint"
    return several(row["applicable"] - row["undecided"], kind)


_AGREES = "share of statements for which the belief agrees with the gold label"
_MAIN = {"set": WITHOUT_SYMMETRIC, "stage": "before"}
_WITHOUT = "without symmetric relations, whose gold labels are all true"
HEADLINES = (
    Headline(
        "Says true",
        "share of all statements that the model judges true",
        "discrimination",
        "share_true",
        where={"set": ALL, "stage": "before"},
        n=("statements", "statement"),
    ),
    Headline(
        "Balanced accuracy",
        f"mean of the accuracies on true and on false statements, {_WITHOUT}",
        "discrimination",
        "balanced",
        where=_MAIN,
        n=("n", "statement"),
    ),
    Headline(
        "AUROC",
        f"how well P(true) tells true from false statements, {_WITHOUT}",
        "discrimination",
        "auroc",
        where=_MAIN,
        n=("n", "statement"),
    ),
    Headline(
        "Constraint violations",
        "share of violated constraints among the constraints that apply to the model's beliefs; "
        "chance: the same beliefs, randomly shuffled",
        "violation",
        "rate",
        where={"constraint": "micro", "stage": "before"},
        n=decided,
    ),
    Headline(
        "Accuracy after repair",
        f"{_AGREES}, {_WITHOUT}; chance: shuffled beliefs after repair",
        "accuracy",
        "accuracy",
        where={"set": WITHOUT_SYMMETRIC, "gold": "all", "stage": "paper"},
        n=("n", "statement"),
        against=Headline(*("", "", "repaired_shuffled", "after"), where={"set": WITHOUT_SYMMETRIC}),
    ),
)
