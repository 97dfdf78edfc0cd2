"""Tests and intervals from permutations that keep the rows of a cluster together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, stdtrit

from tacit.statistics.estimate import Estimate

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Labels: TypeAlias = NDArray[np.bool_]

TOO_FEW = "too few rows"

# Values closer than this are equal: summation in another order changes the last digits.
_EQUAL = 1e-12


@dataclass(frozen=True)
class Permutations:
    """The parameters of p-values and intervals that are based on permutations."""

    permutations: int = 5000
    seed: int = 0
    level: float = 0.95

    def to_json(self) -> dict[str, Any]:
        """Return the method and its parameters as a JSON-compatible dictionary."""
        return {"method": "studentised permutations", **asdict(self)}


def deal(labels: Labels, clusters: Ints, samples: int, random: np.random.Generator) -> Labels:
    """Permute the labels of a stratum's rows, whose scores stay.

    The labels of a cluster are shuffled, and then laid together over rows in a random order of
    clusters.
    """
    order = np.argsort(clusters, kind="stable")
    _, cluster, sizes = np.unique(clusters[order], return_inverse=True, return_counts=True)
    within = np.arange(len(order)) - (sizes.cumsum() - sizes)[cluster]
    shuffled = (cluster + random.random((samples, len(order)))).argsort(axis=1)
    places = order[laid(sizes, samples, random)[:, cluster] + within]
    dealt = np.empty((samples, len(order)), dtype=bool)
    np.put_along_axis(dealt, places, labels[order[shuffled]], axis=1)
    return dealt


def laid(sizes: Ints, samples: int, random: np.random.Generator) -> Ints:
    """Put clusters in random orders; return the new index of each cluster's first row."""
    order = random.permuted(np.tile(np.arange(len(sizes)), (samples, 1)), axis=1)
    lengths = sizes[order]
    starts = np.empty_like(order)
    np.put_along_axis(starts, order, lengths.cumsum(axis=1) - lengths, axis=1)
    return starts


@dataclass(frozen=True)
class Permuted:
    """A statistic on an unbounded scale with its error, and what permutations make of both."""

    value: float
    error: float
    values: Floats
    errors: Floats
    clusters: int

    @property
    def ratio(self) -> float:
        return float(over_error(np.array([self.value]), np.array([self.error]))[0])

    @cached_property
    def ratios(self) -> Floats:
        return over_error(self.values, self.errors)

    @property
    def p_value(self) -> float:
        return p_value(self.ratio, self.ratios)

    def interval(self, figure: float, back: Callable[[float], float], level: float) -> Estimate:
        """Return a figure with the interval of the values that the test does not reject.

        The test of 0 is the permutation test. Tests of other values allow for few clusters, as
        Student's t does, because their errors vary more than those of permutations.
        """
        tail = (1 - level) / 2
        high, low = critical_value(self.ratios, tail), critical_value(-self.ratios, tail)
        if high is None or low is None or not np.isfinite([self.value, high, low]).all():
            return Estimate(figure, why=TOO_FEW)
        if self.clusters == 1 or not self.error > _EQUAL:
            return Estimate(figure, why=TOO_FEW)
        wider = float(stdtrit(self.clusters - 1, 1 - tail) / ndtri(1 - tail))
        below, above = (
            _widened(sign * self.value - end * self.error, (wider - 1) * abs(end) * self.error)
            for sign, end in ((1, high), (-1, low))
        )
        return Estimate(figure, back(below), back(-above))

    def smallest(self, level: float = 0.05, power: float = 0.8) -> float | None:
        """Return the smallest value that the test is likely to detect.

        Errors rise with the value, by the line fitted to the permutations: the test is likely to
        pass the critical value c from the value x with x - z * (a + b * x) = c.
        """
        critical = critical_value(self.values, level)
        finite = np.isfinite(self.values) & (self.errors > _EQUAL)
        values, errors = self.values[finite], self.errors[finite]
        if critical is None or not np.isfinite(critical) or not finite.any():
            return None
        spread = values - values.mean()
        if not spread @ spread > _EQUAL:
            return None
        b, z = spread @ errors / (spread @ spread), float(ndtri(power))
        a = errors.mean() - b * values.mean()
        return float((critical + z * a) / (1 - z * b)) if z * b < 1 else None


def _widened(end: float, by: float) -> float:
    """Lower an interval's lower end; one above 0 keeps at least half of its distance from 0."""
    return end - by if end <= 0 else max(end - by, end / 2)


def over_error(values: Floats, errors: Floats) -> Floats:
    """Divide each value by its standard error."""
    unmoved = ~(errors > _EQUAL) | np.isinf(values)
    ends = np.where(np.abs(values) <= _EQUAL, 0.0, np.copysign(np.inf, values))
    return np.where(unmoved, ends, values / np.where(unmoved, 1.0, errors))


def p_value(observed: float, permuted: Floats) -> float:
    """Return (1 + k)/(1 + n), where k of the n permuted values are at least ``observed``."""
    reached = int((permuted >= observed - _EQUAL).sum())
    return (1 + reached) / (1 + len(permuted))


def critical_value(permuted: Floats, level: float = 0.05) -> float | None:
    """Return the value above which a statistic has a p-value of at most ``level``."""
    allowed = int(level * (1 + len(permuted)) + _EQUAL) - 1
    if allowed < 0:
        return None
    return float(np.sort(permuted)[::-1][allowed]) + _EQUAL
