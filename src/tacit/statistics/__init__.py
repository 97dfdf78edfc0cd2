"""Confidence intervals, chance levels and significance tests."""

from tacit.statistics.bootstrap import FEWEST_CLUSTERS, Bootstrap
from tacit.statistics.estimate import Change, Estimate

__all__ = ["FEWEST_CLUSTERS", "Bootstrap", "Change", "Estimate"]
