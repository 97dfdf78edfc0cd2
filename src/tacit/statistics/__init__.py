"""Confidence intervals, chance levels and significance tests.

`intervals` resamples clusters. `ranking` computes average precision and AUROC. `permutation`
computes the chance level of average precision. `studentised` computes p-values and intervals of
ranking metrics. `prediction` evaluates one predictor: average precision, AUROC, the chance level,
p-values and intervals. It also adjusts p-values for multiple tests. `conditional` compares marked
items with all items. It estimates the difference between their shares of correct rows, with an
interval. `agreement` computes how well two raters agree. `scale` fits the slope of a metric over
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
