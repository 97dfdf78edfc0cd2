"""The tables of the parts probe, declared in ``data/tables/parts.yaml``, and its headlines."""

from __future__ import annotations

from tacit.findings.declared import Tables
from tacit.findings.display import Headline

ALL, AGREED = "all", "agreed by all annotators"
"""The sets of labelled statements; of the drawings of Gu et al. (2023), ParRoT and ParRoT++."""

WITHOUT_SYMMETRIC = "without symmetric relations"
"""The published gold labels of statements with a symmetric relation are all true."""

TABLES = Tables("parts")
DETAILS = Tables("parts", "details")


_MAIN = {"set": WITHOUT_SYMMETRIC, "stage": "before"}
_LABELLED = ("n", "labelled non-symmetric statement")
HEADLINES = (
    Headline(
        "Says true",
        "share of statements that the model judges true",
        "discrimination",
        "share_true",
        where={"set": ALL, "stage": "before"},
        n=("statements", "asked statement"),
    ),
    Headline(
        "Balanced accuracy",
        "mean of the accuracies on true and on false statements",
        "discrimination",
        "balanced",
        where=_MAIN,
        n=_LABELLED,
        best=1.0,
    ),
    Headline(
        "AUROC",
        "how often P(true) is higher for a true than for a false statement",
        "discrimination",
        "auroc",
        where=_MAIN,
        n=_LABELLED,
        best=1.0,
    ),
    Headline(
        "Constraint violations",
        "share of constraints broken; for example, A above B excludes B above A",
        "violation",
        "rate",
        where={"constraint": "micro", "stage": "before"},
        n=(lambda row: row["applicable"] - row["undecided"], "constraint"),
        baseline="shuffled beliefs",
        best=0.0,
    ),
    Headline(
        "Accuracy after repair",
        "accuracy once no constraint is broken",
        "accuracy",
        "accuracy",
        where={"set": WITHOUT_SYMMETRIC, "gold": "all", "stage": "paper"},
        n=_LABELLED,
        against=Headline(*("", "", "repaired_shuffled", "after"), where={"set": WITHOUT_SYMMETRIC}),
        baseline="shuffled beliefs",
        best=1.0,
        gain=True,
    ),
)
