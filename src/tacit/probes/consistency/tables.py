"""The headlines of the consistency probe, and its tables (``data/tables/consistency.yaml``)."""

from __future__ import annotations

from tacit.findings.declared import Tables
from tacit.findings.display import Headline

TABLES = Tables("consistency")
DETAILS = Tables("consistency", "details")
HEADLINES = (
    Headline(
        "Says yes",
        "share of “yes” among the answers about facts and as many negatives (false versions)",
        "background_answers",
        "yes",
        n=("n", "question"),
    ),
    Headline(
        "AUROC of the yes-margin",
        "how often “yes” is likelier for a fact than for a negative",
        "background_answers",
        "auroc",
        n=("n", "question"),
        best=1.0,
    ),
    Headline(
        "Anchor accuracy",
        "share of multiple-choice questions answered correctly",
        "anchor_accuracy",
        "value",
        where={"of": "all"},
        n=("n", "anchor question"),
        best=1.0,
        against=Headline(*("", "", "anchor_baselines", "accuracy"), where={"baseline": "random"}),
    ),
    Headline(
        "Adjusted lift",
        "whether the background score (share of known facts) predicts correct answers, among "
        "questions with equally many facts",
        "adjusted",
        "lift_adjusted",
        n=("n", "anchor question"),
        scale=(-1.0, 1.0),
        best=1.0,
    ),
    Headline(
        "Conceptual consistency",
        "average precision of the background score as a predictor of correct answers",
        "consistency",
        "consistency",
        n=("n", "anchor question"),
        best=1.0,
    ),
    Headline(
        "Lift above chance",
        "0: chance level; 1: every correctly answered question has a higher background "
        "score than every incorrectly answered one",
        "consistency",
        "lift",
        n=("n", "anchor question"),
        scale=(-1.0, 1.0),
        best=1.0,
    ),
    Headline(
        "AUROC",
        "how well the background score tells correct from incorrect answers",
        "consistency",
        "auroc",
        n=("n", "anchor question"),
        best=1.0,
    ),
    Headline(
        "Background score",
        "mean over relations of the accuracies on facts and on their negatives (false versions); "
        "chance: a model that always gives the same answer",
        "background_score",
        "value",
        n=("relations", "relation"),
        best=1.0,
    ),
)
