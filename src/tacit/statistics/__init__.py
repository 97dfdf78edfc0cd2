"""Confidence intervals, chance levels and significance tests.

`intervals` resamples clusters. `ranking` computes average precision and AUROC, `permutation` their
chance level, and `studentised` their p-values and intervals. `prediction` computes all of these for
one predictor, and adjusts p-values for multiple tests. `conditional` computes
P(right | marked) - P(right). `agreement` computes the agreement of two raters, and `scale` fits
slopes over the size of models.
"""

from tacit.statistics.intervals import (
    FEWEST_CLUSTERS,
    Bootstrap,
    Change,
    Estimate,
    no_interval_because,
)

__all__ = ["FEWEST_CLUSTERS", "Bootstrap", "Change", "Estimate", "no_interval_because"]
