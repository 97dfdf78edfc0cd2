"""Columns that occur in several tables of the consistency probe."""

from __future__ import annotations

from tacit.findings.spec import Column

CHANCE = Column(
    "chance",
    "chance",
    "score",
    "The chance level of conceptual consistency: the mean of the average precision over all "
    "permutations of the answers, computed exactly.",
)

LIFT = Column(
    "lift",
    "lift",
    "score",
    "The lift above chance: (CC - chance)/(1 - chance), where CC is conceptual consistency.",
)
