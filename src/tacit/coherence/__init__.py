"""Logical coherence of beliefs: consistency checks and weighted MaxSAT repair."""

TIME_LIMIT = 600.0
"""Default time limit of exact repair, in seconds."""
