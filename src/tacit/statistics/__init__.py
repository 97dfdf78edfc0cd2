"""Confidence intervals, chance levels and significance tests."""

from tacit.statistics.intervals import (
    FEWEST_CLUSTERS,
    Bootstrap,
    Change,
    Estimate,
    no_interval_because,
)

__all__ = ["FEWEST_CLUSTERS", "Bootstrap", "Change", "Estimate", "no_interval_because"]
