"""Measures of several models: estimates, paired differences, and slopes by model size."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tacit.findings.findings import Findings
from tacit.findings.spec import QUESTIONS, TableSpec
from tacit.statistics import Bootstrap, Change, Estimate
from tacit.statistics.bootstrap import ratios_by_cluster

Floats: TypeAlias = NDArray[np.float64]
Measures: TypeAlias = Callable[[Mapping[str, Findings]], Sequence["Measure"]]


@dataclass(frozen=True)
class Measure:
    """A statistic of several models over the same clusters of questions.

    ``of`` maps weights of clusters, shape (samples, clusters), to values, shape (samples, models).
    ``behind`` is the number of clusters of the model that has questions in the fewest.
    """

    name: str
    n: int
    clusters: int
    behind: int
    of: Callable[[Floats], Floats]
    main: bool = False  # has a slope and is drawn by size
    chance: tuple[float | None, ...] | None = None  # of each model
    note: str | None = None
    metric: str | None = None  # the label of the headline with the same value, if it is another
    apart: str | None = None  # why the values of the models cannot be compared

    @property
    def values(self) -> tuple[float | None, ...]:
        """The value of each model; None if it is undefined."""
        return tuple(None if value != value else float(value) for value in self._observed)  # noqa: PLR0124 - NaN

    @property
    def _observed(self) -> Floats:
        values: Floats = self.of(np.ones((1, self.clusters)))[0]
        return values

    @property
    def remark(self) -> str | None:
        """The caveat and the reason why the models are not compared, for a table."""
        apart = f"not compared: {self.apart}" if self.apart else None
        return "; ".join(filter(None, (self.note, apart))) or None

    def estimates(self, how: Bootstrap) -> list[Estimate]:
        """The value of each model with its interval."""
        return [each.estimate for each in self._changes(how, lambda values: values)]

    def difference(self, how: Bootstrap) -> Change:
        """The second model's value minus the first's, on the same resamples."""
        if self.apart:
            return Change(None)
        (change,) = self._changes(how, lambda values: values[:, [1]] - values[:, [0]])
        return change

    def slope(self, parameters: Sequence[int], how: Bootstrap) -> Change:
        """The least-squares change of the value if the number of parameters increases tenfold."""
        if self.apart:
            return Change(None)
        x = np.log10(parameters)
        x -= x.mean()
        (change,) = self._changes(how, lambda values: values @ (x / (x @ x))[:, None])
        return change

    def _changes(self, how: Bootstrap, contrasts: Callable[[Floats], Floats]) -> list[Change]:
        """Estimate ``contrasts``, which maps values of models to the numbers of interest."""
        return how.of_clusters(self.clusters, self.behind, lambda times: contrasts(self.of(times)))


def ratio(name: str, clusters: ArrayLike, over: ArrayLike, under: ArrayLike) -> Measure:
    """A ratio of sums over the clusters in which a model has a denominator; arrays by model."""
    n, behind, of = ratios_by_cluster(clusters, over, under)
    return Measure(name, n, n, behind, of)


def mean(name: str, clusters: ArrayLike, values: Floats) -> Measure:
    """The mean of each model's ``values``, shape (models, questions)."""
    return replace(ratio(name, clusters, values, np.ones_like(values)), n=values.shape[1])


def shared(
    tables: Sequence[pl.DataFrame], keys: Sequence[str], values: Sequence[str]
) -> tuple[pl.DataFrame, dict[str, Floats]]:
    """The first model's rows for which every model has all ``values``, and these by model."""
    import polars as pl

    rows = tables[0]
    for at, table in enumerate(tables):
        own = [pl.col(name).cast(pl.Float64).alias(f"{name} {at}") for name in values]
        known = table.drop_nulls(values).select(*keys, *own)
        rows = rows.join(known, on=keys, maintain_order="left")
    each = range(len(tables))
    return rows, {
        name: np.stack([rows[f"{name} {at}"].to_numpy() for at in each]) for name in values
    }


def declared_means(specs: Sequence[TableSpec], found: Mapping[str, Findings]) -> list[Measure]:
    """The columns that ``specs`` declare as means over questions, by the keys of their tables."""
    keys = next((spec.key_names for spec in specs if spec.name == QUESTIONS), ())
    questions = [findings.questions for findings in found.values()]
    return [
        measure
        for spec in specs
        for column in spec.columns
        if keys and column.of and column.ends
        for measure in _by_group(spec, column.heading, *shared(questions, keys, [column.of]))
    ]


def _by_group(
    spec: TableSpec, heading: str, rows: pl.DataFrame, values: Mapping[str, Floats]
) -> Iterator[Measure]:
    by, (values_of,) = list(spec.key_names), values.values()
    rows = rows.with_row_index("at")
    for group in rows.partition_by(by, maintain_order=True) if by else [rows]:
        name = ", ".join((heading, *(f"{key} {group[key][0]}" for key in by)))
        clusters = group[spec.cluster] if spec.cluster else group["at"]
        yield replace(mean(name, clusters, values_of[:, group["at"]]), main=True)
