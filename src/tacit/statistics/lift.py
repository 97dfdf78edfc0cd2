"""Lift above chance: chance levels within strata, studentised permutations, intervals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from scipy.special import expit

from tacit.statistics.estimate import Estimate
from tacit.statistics.influence import of_auroc, of_average_precision, onward
from tacit.statistics.permutation import TOO_FEW, Permutations, Permuted, deal
from tacit.statistics.ranking import (
    at_thresholds,
    auroc,
    average_precision,
    chance_levels,
    chance_within_strata,
    least_average_precision,
    lift,
    summed,
)

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Labels: TypeAlias = NDArray[np.bool_]
# The values of a statistic in several samples, and their standard errors up to a factor.
Scaled: TypeAlias = tuple[Floats, Floats]

# Fewer clusters have too few permutations.
FEWEST_CLUSTERS = 10
LEAST_ROWS = 20
"""Minimum number of rows per stratum; smaller strata are merged with neighbours."""

# Number of labels per batch of permutations; bounds the memory.
_CELLS = 500_000
# The distance in lift from chance to a perfect ranking.
_WIDEST = 1.0


def strata_of(values: ArrayLike, least: int = LEAST_ROWS) -> Ints:
    """Group rows with equal or neighbouring values into strata of at least ``least`` rows."""
    levels, level, rows = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    stratum = np.zeros(len(levels), dtype=np.intp)
    current, size = 0, 0
    for at, count in enumerate(rows):
        if size >= least:
            current, size = current + 1, 0
        stratum[at] = current
        size += int(count)
    if size < least and current:
        stratum[stratum == current] = current - 1
    return stratum[level]


@dataclass(frozen=True)
class Lift:
    """How well a score predicts which answers are correct, among rows of the same stratum."""

    n: int
    clusters: int
    right: int
    strata: int
    average_precision: float | None
    chance: float | None
    lift: Estimate
    auroc: Estimate
    p_value: float | None = None
    smallest: float | None = None


def measure_lift(
    right: ArrayLike,
    score: ArrayLike,
    clusters: ArrayLike,
    how: Permutations | None = None,
    *,
    strata: ArrayLike | None = None,
) -> Lift:
    """Measure how well a score predicts which answers are correct.

    The plain lift has one stratum. ``smallest`` is the smallest lift whose test has a power of
    80 % at a level of 5 %.
    """
    how = how or Permutations()
    rows = RankedRows.of(right, score, clusters, strata)
    precision, chance = average_precision(right, score), rows.chance
    value, area = lift(precision, chance), auroc(right, score)
    why = rows.why_not(value)
    measured = Lift(
        n=len(rows.labels),
        clusters=rows.clusters,
        right=int(rows.labels.sum()),
        strata=rows.strata,
        average_precision=precision,
        chance=chance,
        lift=Estimate(value, why=why),
        auroc=Estimate(None if value is None else area, why=why),
    )
    if value is None or area is None or rows.clusters == 1:
        return measured
    statistics = (rows.log_lifts,) if strata is not None else (rows.log_lifts, rows.log_odds)
    of_lift, *of_area = rows.permuted(how, *statistics)
    lifted = measured.lift
    if why is None:
        lifted = of_lift.interval(value, lift_of, how.level)
        lifted = rows.informative(lifted)
    area_shown = replace(measured.auroc, why=lifted.why)
    if of_area and rows.clusters >= FEWEST_CLUSTERS and lifted.why != TOO_FEW:
        area_shown = of_area[0].interval(area, auroc_of, how.level)
    smallest = of_lift.smallest()
    return replace(
        measured,
        lift=lifted,
        auroc=area_shown,
        p_value=of_lift.p_value,
        smallest=None if smallest is None else lift_of(smallest),
    )


@dataclass(frozen=True)
class RankedRows:
    """Rows in descending order of score; the input order of tied rows has no effect."""

    labels: Labels
    counts: Floats
    stratum: Ints
    cluster: Ints

    @classmethod
    def of(
        cls,
        right: ArrayLike,
        score: ArrayLike,
        clusters: ArrayLike,
        strata: ArrayLike | None = None,
    ) -> RankedRows:
        counts = at_thresholds(right, score)[1]
        labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
        of = np.zeros(len(labels)) if strata is None else np.asarray(strata)
        _, stratum = np.unique(of, return_inverse=True)
        _, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        if not labels.shape == stratum.shape == cluster.shape:
            raise ValueError(
                f"right has shape {labels.shape}, strata {stratum.shape}, clusters {cluster.shape}"
            )
        order = np.lexsort([labels, cluster, stratum, -scores])
        return cls(labels[order], counts, *(of[order].astype(np.intp) for of in (stratum, cluster)))

    @property
    def strata(self) -> int:
        return len(np.unique(self.stratum))

    @property
    def clusters(self) -> int:
        return len(np.unique(self.cluster))

    @cached_property
    def member(self) -> csr_array:
        """Whether each row is in each cluster, shape (clusters, rows)."""
        n = len(self.labels)
        return csr_array((np.ones(n), (self.cluster, np.arange(n))), shape=(self.clusters, n))

    def why_not(self, lift: float | None) -> str | None:
        """Return a clause on why the lift is undefined or has no interval, if that is known."""
        right, n = int(self.labels.sum()), len(self.labels)
        clauses = {
            "no rows": not n,
            "all right": right == n,
            "all wrong": not right,
            "one score": len(self.counts) == 1,
            "one cluster": self.clusters == 1,
            "no variation within strata": not ((self._share > 0) & (self._share < 1)).any(),
            "perfect ranking": lift is not None and lift >= 1,
            "too few clusters": self.clusters < FEWEST_CLUSTERS,
        }
        return next((clause for clause, holds in clauses.items() if holds), None)

    def informative(self, lifted: Estimate) -> Estimate:
        """Clip the interval of a lift; omit an interval that is too wide or unreliable."""
        if lifted.low is None or lifted.high is None:
            return lifted
        chance = self.chance or 0.0
        lowest = least_average_precision(int(self.labels.sum()), len(self.labels))
        least = (lowest - chance) / (1 - chance)
        low, high = max(lifted.low, least), max(lifted.high, least)
        if low <= 0 <= high and high - low > _WIDEST:
            return Estimate(lifted.value, why=TOO_FEW)
        return Estimate(lifted.value, low, high)

    @cached_property
    def _level(self) -> Ints:
        """For each row, the index of its score among the distinct scores (thresholds)."""
        return np.repeat(np.arange(len(self.counts)), self.counts.astype(np.intp))

    @cached_property
    def _sizes(self) -> Floats:
        """The number of rows in each stratum."""
        return np.bincount(self.stratum).astype(np.float64)

    @cached_property
    def _share(self) -> Floats:
        """For each stratum, the share of correct rows, which is equal in all permutations."""
        shares: Floats = np.bincount(self.stratum, self.labels) / self._sizes
        return shares

    @cached_property
    def chance(self) -> float | None:
        """The exact mean of average precision over all permutations of labels within strata."""
        if not self.labels.any():
            return None
        if self.strata == 1:
            return float(chance_levels(self.labels.sum(), self.counts))
        n = len(self._sizes)
        cells = self._level * n + self.stratum
        at = np.bincount(cells, minlength=len(self.counts) * n).reshape(-1, n)
        return float(chance_within_strata(self._share * self._sizes, at.astype(np.float64)))

    @cached_property
    def _of_chance(self) -> tuple[Floats, Floats]:
        """The influence of each row on log(1 - chance): of a correct row, and of a wrong one."""
        soft = self._share[self.stratum]
        here = np.bincount(self._level, soft)
        above = self.counts.cumsum()
        precision = here.cumsum() / above
        right = self.labels.sum()
        average = float((here * precision).sum() / right)
        raised = (precision + onward(here / above) - average)[self._level]
        lowered = onward(here * precision / above)[self._level]
        mean = (np.bincount(self.stratum, raised) / self._sizes)[self.stratum]
        rest = right * (1 - (self.chance or 0.0))
        wrong = (soft * raised - lowered - soft * mean) / rest
        return wrong + mean / rest, wrong

    def log_lifts(self, labels: Labels) -> Scaled:
        """Compute -log(1 - lift) of each sample, and its standard error."""
        influence = of_average_precision(summed(labels, self.counts), self.counts)
        right, wrong = self._of_chance
        with np.errstate(invalid="ignore"):
            value = influence.value + np.log(1 - (self.chance or 0.0))
            moved = np.where(
                labels,
                influence.right[:, self._level] - right,
                influence.wrong[:, self._level] - wrong,
            )
            return value, self._errors(moved)

    def log_odds(self, labels: Labels) -> Scaled:
        """Compute the log-odds of each sample's AUROC, and their standard error."""
        influence = of_auroc(summed(labels, self.counts), self.counts)
        with np.errstate(invalid="ignore"):
            moved = np.where(
                labels, influence.right[:, self._level], influence.wrong[:, self._level]
            )
            return influence.value, self._errors(moved)

    def _errors(self, moved: Floats) -> Floats:
        errors: Floats = np.sqrt(((self.member @ moved.T) ** 2).sum(axis=0))
        return errors

    def permuted(
        self, how: Permutations, *statistics: Callable[[Labels], Scaled]
    ) -> list[Permuted]:
        """Compute statistics and their standard errors for the labels and for permuted labels."""
        batches = [[each(labels) for each in statistics] for labels in self.dealt(how)]
        permuted = []
        for each, batch in zip(statistics, zip(*batches, strict=True), strict=True):
            (value,), (error,) = each(self.labels[None])
            values, errors = (np.concatenate(parts) for parts in zip(*batch, strict=True))
            permuted.append(Permuted(float(value), float(error), values, errors, self.clusters))
        return permuted

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """Yield batches of permuted labels, each of shape (permutations, rows)."""
        random = np.random.default_rng(how.seed)
        step = max(1, _CELLS // len(self.labels))
        for begin in range(0, how.permutations, step):
            samples = min(step, how.permutations - begin)
            labels = np.empty((samples, len(self.labels)), dtype=bool)
            for each in range(len(self._sizes)):
                rows = np.flatnonzero(self.stratum == each)
                labels[:, rows] = deal(self.labels[rows], self.cluster[rows], samples, random)
            yield labels


def lift_of(value: float) -> float:
    """Convert -log(1 - lift) to the lift."""
    return float(-np.expm1(-value))


def auroc_of(value: float) -> float:
    """Convert log-odds to the AUROC."""
    return float(expit(value))
