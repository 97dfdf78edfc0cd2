"""Figures of what was observed, with what they are worth: intervals, chance, significance.

`intervals` resamples clusters; `ranking` computes average precision and AUROC, `permutation` their
chance level, `studentised` their p-values and intervals, `prediction` all of these for one
predictor; `conditional` computes P(right | marked) - P(right); `comparisons` corrects for many
tests.
"""

from tacit.statistics.intervals import Bootstrap, Estimate

__all__ = ["Bootstrap", "Estimate"]
