"""How well a score predicts what is right, with all that keeps the figure honest.

Average precision rises with the share of rows that are right, so it never stands alone: beside it
are its chance level, the lift above that, AUROC, a p-value, and the lift that so few rows could
show at all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.statistics.comparisons import smallest_lift
from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import chance_level, lift, p_value
from tacit.statistics.ranking import auroc, average_precision
from tacit.statistics.scales import AUROC, LIFT
from tacit.statistics.studentised import Permutations, Sample

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_NONE = Estimate(None, None, None)


@dataclass(frozen=True)
class Prediction:
    """What a score tells of what is right.

    Args:
        n: Rows.
        clusters: Clusters they come in.
        right: Rows that are right.
        average_precision: None when no row is right.
        chance: The mean average precision over all permutations, exact.
        lift: (average precision - chance)/(1 - chance); no value when all or no rows are right.
        auroc: The area under the receiver operating characteristic, undefined likewise.
        p_value: One-sided, of the average precision against its permutations; None likewise.
        smallest: The lift that would pass 5 % in 80 of 100 such samples; None where none would.
    """

    n: int
    clusters: int
    right: int
    average_precision: float | None
    chance: float | None
    lift: Estimate
    auroc: Estimate
    p_value: float | None
    smallest: float | None


def predict(
    right: ArrayLike, score: ArrayLike, clusters: ArrayLike, how: Permutations | None = None
) -> Prediction:
    """How well a score predicts what is right.

    The order of the rows changes nothing.

    Args:
        right: Whether each row is right, shape (rows,).
        score: What is to predict it, shape (rows,).
        clusters: The cluster of each row, shape (rows,): rows of a cluster are not independent.
        how: How many permutations, from which seed, and how wide the intervals are.

    Raises:
        ValueError: The shapes differ, or a score is not a number.
    """
    how = how or Permutations()
    sample = Sample.of(right, score, clusters)
    precision, chance = average_precision(right, score), chance_level(right, score)
    figures = Prediction(
        n=len(sample.labels),
        clusters=sample.clusters.shape[0],
        right=int(sample.labels.sum()),
        average_precision=precision,
        chance=chance,
        lift=_NONE,
        auroc=_NONE,
        p_value=None,
        smallest=None,
    )
    lifted, area = lift(precision, chance), auroc(right, score)
    if precision is None or lifted is None or area is None:
        return figures
    permuted = sample.permuted(how)
    return replace(
        figures,
        lift=sample.interval(lifted, LIFT, permuted.lift, how.level),
        auroc=sample.interval(area, AUROC, permuted.auroc, how.level),
        p_value=p_value(precision, permuted.average_precision),
        smallest=smallest_lift(figures.right, score, seed=how.seed),
    )
