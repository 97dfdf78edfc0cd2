"""Figures of what was observed, with what they are worth: intervals, chance, significance.

`intervals` resamples clusters; `ranking` has average precision and AUROC; `permutation` what they
are by chance; `studentised` intervals of them; `comparisons` what many tests are worth;
`prediction` all of it for one predictor.
"""

from tacit.statistics.intervals import Bootstrap, Estimate

__all__ = ["Bootstrap", "Estimate"]
