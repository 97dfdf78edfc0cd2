"""Confidence intervals, chance levels and significance tests.

`intervals` resamples clusters. `ranking` computes average precision and AUROC, `permutation`
computes the chance level of average precision, and `studentised` computes p-values and intervals of
ranking metrics. `prediction` computes average precision, AUROC, the chance level, p-values and
intervals for one predictor, and adjusts p-values for multiple tests. `conditional` estimates the
difference between the share of correct rows among marked items and among all items, with an
interval. `agreement` computes the agreement of two raters, and `scale` fits slopes of a metric over
model size.
"""

from tacit.statistics.intervals import (
    FEWEST_CLUSTERS,
    Bootstrap,
    Change,
    Estimate,
    no_interval_because,
)

__all__ = ["FEWEST_CLUSTERS", "Bootstrap", "Change", "Estimate", "no_interval_because"]
