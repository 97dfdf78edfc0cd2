"""The headlines of the consistency probe, and its tables (``data/tables/consistency.yaml``)."""

from __future__ import annotations

from tacit.findings.declared import Tables
from tacit.findings.spec import Headline

TABLES = Tables("consistency")
DETAILS = Tables("consistency", "details")
HEADLINES = (
    Headline(
        "Conceptual consistency (CC)",
        "average precision of the background score as a predictor of correct answers; the tick "
        "shows the chance level; the confidence interval is in the tile \u201cLift above "
        "chance\u201d",
        "consistency",
        "consistency",
        n=("n", "anchor question"),
    ),
    Headline(
        "Lift above chance",
        "0 (the tick mark): chance level; 1: all correctly answered questions have higher "
        "background scores than all incorrectly answered questions",
        "consistency",
        "lift",
        n=("n", "anchor question"),
        scale=(-1.0, 1.0),
    ),
    Headline(
        "AUROC",
        "0.5 (tick): chance level",
        "consistency",
        "auroc",
        n=("n", "anchor question"),
    ),
    Headline(
        "Background score",
        "mean over relations; the score of a relation is the mean of the accuracy on its facts and "
        "the accuracy on their negatives (false versions of facts); the tick at 50 % is the score "
        "of a model that always gives the same answer",
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
