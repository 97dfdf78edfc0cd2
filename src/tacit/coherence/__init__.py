"""Logical coherence of beliefs: consistency checks and weighted MaxSAT repair."""

from typing import Literal, TypeAlias

Objective: TypeAlias = Literal["paper", "log-odds", "margin"]
OnDuplicate: TypeAlias = Literal["error", "mean", "first"]

TIME_LIMIT = 600.0
"""Default time limit of exact repair, in seconds."""
