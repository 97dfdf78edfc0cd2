"""Lift above chance within strata, such as questions with the same number of facts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from scipy.sparse import csr_array

from tacit.statistics.intervals import Estimate
from tacit.statistics.permutation import LIFT, chance_levels, laid, lift, p_value
from tacit.statistics.ranking import (
    at_thresholds,
    average_precision,
    average_precisions,
    divided,
    summed,
)
from tacit.statistics.studentised import Permutations, interval_of, over_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.intp]
    Labels: TypeAlias = NDArray[np.bool_]

LEAST_ROWS = 20
"""Minimum number of rows per stratum; smaller strata are merged with neighbours."""

# Reasons why there is no adjusted lift or interval.
NO_ROWS = "no rows"
UNDEFINED = "all right or all wrong"
NO_VARIATION = "no variation within strata"
FEW_CLUSTERS = "too few clusters"
UNBOUNDED = "the permutations give no finite interval"
FEWEST_CLUSTERS = 10
_CELLS = 500_000  # labels per batch of permutations; bounds the memory


@dataclass(frozen=True)
class Adjusted:
    """The lift of average precision above the chance level within strata."""

    strata: int
    chance: float | None
    lift: Estimate
    p_value: float | None
    no_interval: str | None


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


def adjusted_lift(
    right: ArrayLike,
    score: ArrayLike,
    strata: ArrayLike,
    clusters: ArrayLike,
    how: Permutations | None = None,
) -> Adjusted:
    """Measure how well a score predicts correct answers among rows of the same stratum."""
    how = how or Permutations()
    if not np.size(right):
        return Adjusted(0, None, Estimate(None, None, None), None, NO_ROWS)
    rows = _Rows.of(right, score, strata, clusters)
    chance = rows.chance
    value = lift(average_precision(right, score), chance)
    bare = Adjusted(rows.strata, chance, Estimate(value, None, None), None, rows.why_not())
    if bare.no_interval is not None or value is None:
        return bare
    (observed,), (error,) = rows.scaled(rows.labels[None])
    permuted = np.concatenate([over_error(*rows.scaled(labels)) for labels in rows.dealt(how)])
    ratio = over_error(np.array([observed]), np.array([error]))[0]
    ends = interval_of(float(observed), float(error), permuted, how.level)
    low, high = (None, None) if ends is None else map(LIFT.back, ends)
    return Adjusted(
        rows.strata,
        chance,
        Estimate(value, low, high),
        p_value(float(ratio), permuted),
        UNBOUNDED if ends is None else None,
    )


@dataclass(frozen=True)
class _Rows:
    """Rows in descending order of score; the input order of tied rows has no effect."""

    labels: Labels
    counts: Floats
    stratum: Ints
    member: csr_array

    @classmethod
    def of(
        cls, right: ArrayLike, score: ArrayLike, strata: ArrayLike, clusters: ArrayLike
    ) -> _Rows:
        counts = at_thresholds(right, score)[1]
        labels, scores = np.asarray(right, dtype=bool), np.asarray(score, dtype=np.float64)
        _, stratum = np.unique(np.asarray(strata), return_inverse=True)
        names, cluster = np.unique(np.asarray(clusters), return_inverse=True)
        if not labels.shape == stratum.shape == cluster.shape:
            raise ValueError(
                f"right has shape {labels.shape}, strata {stratum.shape}, clusters {cluster.shape}"
            )
        order = np.lexsort([labels, cluster, stratum, -scores])
        places = (cluster[order], np.arange(len(order)))
        member = csr_array((np.ones(len(order)), places), shape=(len(names), len(order)))
        return cls(labels[order], counts, stratum[order].astype(np.intp), member)

    @property
    def strata(self) -> int:
        """The number of strata."""
        return len(np.unique(self.stratum))

    def why_not(self) -> str | None:
        """Return the reason why there is no p-value and no interval; None if both are possible."""
        if not self.labels.any() or self.labels.all():
            return UNDEFINED
        if not ((self._share > 0) & (self._share < 1)).any():
            return NO_VARIATION
        return FEW_CLUSTERS if self.member.shape[0] < FEWEST_CLUSTERS else None

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
        n = len(self._sizes)
        cells = self._level * n + self.stratum
        at = np.bincount(cells, minlength=len(self.counts) * n).reshape(-1, n)
        return float(chance_within_strata(self._share * self._sizes, at.astype(np.float64)))

    @cached_property
    def _of_chance(self) -> tuple[Floats, Floats]:
        """Two arrays from which each row's influence on the chance level is computed."""
        soft = self._share[self.stratum]
        here = np.bincount(self._level, soft)
        above = self.counts.cumsum()
        precision = here.cumsum() / above
        average = float((here * precision).sum() / self.labels.sum())
        raised = (precision + _onward(here / above) - average)[self._level]
        lowered = _onward(here * precision / above)[self._level]
        mean = np.bincount(self.stratum, raised) / self._sizes
        of_label = mean[self.stratum]
        right = self.labels.sum()
        return (soft * raised - lowered - soft * of_label) / right, of_label / right

    def scaled(self, labels: Labels) -> tuple[Floats, Floats]:
        """Compute each sample's metric, and the metric's standard error up to a factor."""
        chance = self.chance or 0.0
        found = LIFT.influence(summed(labels, self.counts), self.counts)
        n, right = len(self.labels), float(self.labels.sum())
        # `LIFT` measures against the unstratified chance level; keep its part on AP.
        plain = float(np.log(1 - chance_levels(right, self.counts)))
        of_right = found.right[:, self._level] + 1 / n
        of_wrong = found.wrong[:, self._level] - right / n / (n - right)
        constant, factor = self._of_chance
        with np.errstate(invalid="ignore"):
            moved = np.where(
                labels,
                of_right - (constant + factor) / (1 - chance),
                of_wrong - constant / (1 - chance),
            )
            sums = self.member @ moved.T
            value = found.value - plain + np.log(1 - chance)
            return value, np.sqrt((sums**2).sum(axis=0))

    def dealt(self, how: Permutations) -> Iterator[Labels]:
        """Yield batches of permuted labels, each of shape (permutations, rows)."""
        random = np.random.default_rng(how.seed)
        step = max(1, _CELLS // len(self.labels))
        for begin in range(0, how.permutations, step):
            samples = min(step, how.permutations - begin)
            labels = np.empty((samples, len(self.labels)), dtype=bool)
            for block in self._blocks:
                block.deal(self.labels, labels, random)
            yield labels

    @cached_property
    def _blocks(self) -> list[_Block]:
        cluster = np.empty(len(self.labels), dtype=np.intp)
        cluster[self.member.indices] = np.repeat(
            np.arange(self.member.shape[0]), np.diff(self.member.indptr)
        )
        return [
            _Block.of(rows, cluster[rows])
            for each in range(len(self._sizes))
            for rows in [np.flatnonzero(self.stratum == each)]
        ]


@dataclass(frozen=True)
class _Block:
    """The rows of one stratum, sorted by cluster."""

    rows: Ints
    cluster: Ints
    sizes: Ints

    @classmethod
    def of(cls, rows: Ints, clusters: Ints) -> _Block:
        order = np.argsort(clusters, kind="stable")
        _, cluster, sizes = np.unique(clusters[order], return_inverse=True, return_counts=True)
        return cls(rows[order], cluster.astype(np.intp), sizes.astype(np.intp))

    def deal(self, labels: Labels, out: Labels, random: np.random.Generator) -> None:
        """Permute the labels (correct or incorrect) of a stratum's rows into ``out``."""
        samples, n = len(out), len(self.rows)
        within = np.arange(n) - (self.sizes.cumsum() - self.sizes)[self.cluster]
        shuffled = (self.cluster + random.random((samples, n))).argsort(axis=1)
        places = self.rows[laid(self.sizes, samples, random)[:, self.cluster] + within]
        np.put_along_axis(out, places, labels[self.rows[shuffled]], axis=1)


def chance_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the expected average precision if the correct rows are random within each stratum."""
    n, top = rows.sum(axis=-2), rows.cumsum(axis=-2)
    share = np.divide(right, n, out=np.zeros_like(n), where=n > 0)
    both = np.divide(share * (right - 1), n - 1, out=share**2, where=n > 1)
    expected = _by_stratum(rows, share) * _by_stratum(top, share)
    expected += _by_stratum(rows * top, both - share**2) + _by_stratum(rows, share - both)
    above = top.sum(axis=-1)
    precision = np.divide(expected, above, out=np.zeros_like(expected), where=above > 0)
    return divided(precision.sum(axis=-1), right.sum(axis=-1))


def _by_stratum(values: Floats, factors: Floats) -> Floats:
    """Multiply the values of each stratum by the stratum's factor, and sum over the strata."""
    sums: Floats = np.einsum("...ts,...s->...t", values, factors)
    return sums


def lifts_within_strata(right: Floats, rows: Floats) -> Floats:
    """Compute the lift of each sample from counts of rows per threshold and stratum."""
    chance = chance_within_strata(right.sum(axis=-2), rows)
    over = average_precisions(right.sum(axis=-1), rows.sum(axis=-1)) - chance
    return np.divide(over, 1 - chance, out=np.full_like(over, np.nan), where=chance < 1)


def _onward(values: Floats) -> Floats:
    """For each value, return the sum of that value and all later values."""
    return values[::-1].cumsum()[::-1]
