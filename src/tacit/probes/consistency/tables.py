"""The headlines of the consistency probe, and its tables (``data/tables/consistency.yaml``)."""

from __future__ import annotations

from tacit.findings.declared import Tables
from tacit.findings.display import Headline

TABLES = Tables("consistency")
DETAILS = Tables("consistency", "details")
HEADLINES = (
    Headline(
        "Conceptual consistency (CC)",
        "average precision of the background score as a predictor of correct answers; tick: chance "
        "level",
        "consistency",
        "consistency",
        n=("n", "anchor question"),
    ),
    Headline(
        "Lift above chance",
        "0 (tick): chance level; 1: every correctly answered question has a higher background "
        "score than every incorrectly answered one",
        "consistency",
        "lift",
        n=("n", "anchor question"),
        scale=(-1.0, 1.0),
    ),
    Headline(
        "AUROC", "0.5 (tick): chance level", "consistency", "auroc", n=("n", "anchor question")
    ),
    Headline(
        "Background score",
        "mean over relations of the accuracies on facts and on their negatives (false versions); "
        "tick: a model that always gives the same answer",
        "background_score",
        "value",
        n=("relations", "relation"),
    ),
    Headline(
        "Anchor accuracy",
        "share of correct answers among the model's answers to anchor questions",
        "anchor_accuracy",
        "value",
        where={"of": "all"},
        n=("n", "anchor question"),
    ),
)
