"""Confidence intervals, chance levels and significance tests.

The module `intervals` computes confidence intervals by resampling clusters. The module `ranking`
computes average precision and AUROC. The module `permutation` computes the chance level of average
precision. The module `studentised` computes p-values and intervals of ranking metrics. The module
`prediction` evaluates how well a score predicts which rows are correct (average precision, AUROC,
the chance level, p-values and intervals), and adjusts p-values for multiple tests. The module
`conditional` estimates how much more often a model answers a question correctly if it knows a
background fact that is linked to the question. The module `agreement` computes how well two raters
agree. The module `scale` computes how a metric changes with model size.
"""

from tacit.statistics.intervals import (
    FEWEST_CLUSTERS,
    Bootstrap,
    Change,
    Estimate,
    no_interval_because,
)

__all__ = ["FEWEST_CLUSTERS", "Bootstrap", "Change", "Estimate", "no_interval_because"]
