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
