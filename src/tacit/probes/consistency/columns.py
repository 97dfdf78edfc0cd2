"""Columns that several tables of the consistency probe share."""

from __future__ import annotations

from tacit.findings.spec import Column

CHANCE = Column(
    "chance",
    "chance",
    "score",
    "The mean of conceptual consistency over all permutations of the answers, computed exactly.",
)
