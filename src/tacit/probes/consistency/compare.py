"""Compare models by paired differences with confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.findings.compare import schema
from tacit.probes.consistency.adjusted import ratio_of
from tacit.statistics import Bootstrap, Change
from tacit.statistics.permutation import chance_levels
from tacit.statistics.ranking import aurocs, average_precisions
from tacit.statistics.regression import difference
from tacit.statistics.stratified import lifts_within_strata, strata_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl
    from numpy.typing import NDArray

    from tacit.findings.findings import Findings

    Floats: TypeAlias = NDArray[np.float64]
    Figure: TypeAlias = Callable[[Floats, Floats], Floats]
    Compute: TypeAlias = Callable[[Floats | None], Floats]

_FEWEST_CLUSTERS = 2
_CELLS = 2_000_000  # counts per batch of resamples; bounds the memory


def lifts(right: Floats, rows: Floats) -> Floats:
    """Return the lift (consistency - chance)/(1 - chance), or NaN if the lift is undefined."""
    chance = chance_levels(right.sum(axis=-1), rows)
    over = average_precisions(right, rows) - chance
    return np.divide(over, 1 - chance, out=np.full_like(over, np.nan), where=chance < 1)


LIFT = "lift above chance"
ADJUSTED_LIFT = "lift, adjusted for the number of facts"
LOG_ODDS_RATIO = (
    "log odds ratio of a correct answer (background score 1 versus 0), adjusted "
    "for the number of facts"
)
_RANKED: Mapping[str, Figure] = {
    "conceptual consistency": average_precisions,
    LIFT: lifts,
    "AUROC": aurocs,
}


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Return, for each pair of models, both models' measures and their differences."""
    import polars as pl

    bootstrap = bootstrap or Bootstrap.for_pairs(len(found))
    rows: list[tuple[str | float | int | None, ...]] = []
    for first, second in combinations(found, 2):
        pair = Aligned.of([found[name].tables["anchors"] for name in (first, second)])
        for figure, values, change in (*pair.figures(bootstrap), pair.odds_ratios()):
            ends = (change.value, change.low, change.high, change.p_value)
            rows.append((figure, first, second, *values, *ends, len(pair.clusters)))
    return pl.DataFrame(rows, schema(), orient="row")


@dataclass(frozen=True)
class Aligned:
    """The anchor questions for which every model has an answer and a background score."""

    clusters: NDArray[np.str_]
    scores: Floats
    right: Floats
    tables: tuple[pl.DataFrame, ...]

    @classmethod
    def of(cls, tables: Sequence[pl.DataFrame]) -> Aligned:
        """Select the anchor questions with an answer and a background score for every model."""
        import polars as pl

        columns = ["background_score", "right"]
        aligned = tables[0].select("anchor", "cluster")
        for at, table in enumerate(tables):
            own = table.drop_nulls(columns).select(
                "anchor", *(pl.col(name).cast(pl.Float64).alias(f"{name} {at}") for name in columns)
            )
            aligned = aligned.join(own, on="anchor", maintain_order="left")
        scores, right = (
            np.stack([aligned[f"{name} {at}"].to_numpy() for at in range(len(tables))])
            for name in columns
        )
        parts = tuple(aligned.select("anchor").join(table, on="anchor") for table in tables)
        return cls(aligned["cluster"].to_numpy().astype(np.str_), scores, right, parts)

    def figures(
        self, bootstrap: Bootstrap
    ) -> Iterator[tuple[str, tuple[float | None, float | None], Change]]:
        """Yield the name of each measure, both models' values, and the values' difference."""
        ones = np.ones_like(self.scores)
        for name, values in self.means.items():
            change = bootstrap.difference(self.clusters, values, ones)
            yield name, (_mean(values[0]), _mean(values[1])), change
        counted = self.thresholds()
        ranked: dict[str, list[Compute]] = {
            name: [partial(each.figures, figure) for each in counted]
            for name, figure in _RANKED.items()
        }
        ranked[ADJUSTED_LIFT] = [each.lifts for each in self._within_strata()]
        for name, computes in ranked.items():
            one, other = (_one(compute(None)) for compute in computes)
            yield name, (one, other), self._change(computes, (one, other), bootstrap)

    def odds_ratios(self) -> tuple[str, tuple[float | None, float | None], Change]:
        """Return the measure's name, both models' log odds ratios, and the ratios' difference."""
        first, second = (ratio_of(table) for table in self.tables)
        values = (first.logarithm, second.logarithm)
        return LOG_ODDS_RATIO, values, difference(first, second)

    @property
    def means(self) -> Mapping[str, Floats]:
        """The values whose means are computed: background scores, and correctness (1 or 0)."""
        return {"background score, mean over questions": self.scores, "questions right": self.right}

    def thresholds(self) -> list[Thresholds]:
        """Count anchor questions and correct answers by model, cluster and background score."""
        return [
            Thresholds.of(*each, self.clusters)
            for each in zip(self.right, self.scores, strict=True)
        ]

    def _within_strata(self) -> list[WithinStrata]:
        """Count, for each model, the anchor questions and correct answers within strata."""
        strata = strata_of(self.tables[0]["facts"].to_numpy())
        return [
            WithinStrata.of(*each, self.clusters, strata)
            for each in zip(self.right, self.scores, strict=True)
        ]

    def _change(
        self,
        computes: Sequence[Compute],
        values: tuple[float | None, float | None],
        bootstrap: Bootstrap,
    ) -> Change:
        first, second = values
        if first is None or second is None:
            return Change(None, None, None)
        clusters = len(np.unique(self.clusters))
        if clusters < _FEWEST_CLUSTERS:
            return Change(second - first, None, None)
        # A figure is undefined in some resamples, such as those with only right answers.
        changes = [computes[1](times) - computes[0](times) for times in bootstrap.draws(clusters)]
        return bootstrap.change(second - first, np.concatenate(changes))


@dataclass(frozen=True)
class Thresholds:
    """Counts of anchor questions and of correct answers, by cluster and background score."""

    right: Floats
    rows: Floats

    @classmethod
    def of(cls, right: Floats, score: Floats, clusters: NDArray[np.str_]) -> Thresholds:
        """Count anchor questions and correct answers in each cell (group of questions)."""
        names, cluster = np.unique(clusters, return_inverse=True)
        levels, level = np.unique(-score, return_inverse=True)
        cells, shape = cluster * len(levels) + level, (len(names), len(levels))
        counts = [
            np.bincount(cells, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
            for weights in (right, np.ones_like(right))
        ]
        return cls(counts[0], counts[1])

    def figures(self, figure: Figure, times: Floats | None) -> Floats:
        """Compute a measure for each resample, or for the original sample if ``times`` is None."""
        drawn = np.ones((1, len(self.rows))) if times is None else times
        return figure(drawn @ self.right, drawn @ self.rows)


@dataclass(frozen=True)
class WithinStrata:
    """Counts of anchor questions and of correct answers within strata."""

    right: Floats
    rows: Floats
    strata: int

    @classmethod
    def of(
        cls, right: Floats, score: Floats, clusters: NDArray[np.str_], strata: NDArray[np.intp]
    ) -> WithinStrata:
        """Count anchor questions and correct answers in each cell (group of questions)."""
        names, cluster = np.unique(clusters, return_inverse=True)
        levels, level = np.unique(-score, return_inverse=True)
        n = int(strata.max(initial=0)) + 1
        cells, shape = (cluster * len(levels) + level) * n + strata, (len(names), len(levels) * n)
        counts = [
            np.bincount(cells, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
            for weights in (right, np.ones_like(right))
        ]
        return cls(counts[0], counts[1], n)

    def lifts(self, times: Floats | None) -> Floats:
        """Compute the lift within strata for each resample, or for the original sample."""
        drawn = np.ones((1, len(self.rows))) if times is None else times
        found = []
        for part in np.array_split(drawn, 1 + drawn.shape[0] * self.rows.shape[1] // _CELLS):
            right, rows = (
                (part @ counts).reshape(len(part), counts.shape[1] // self.strata, self.strata)
                for counts in (self.right, self.rows)
            )
            found.append(lifts_within_strata(right, rows))
        return np.concatenate(found)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _one(values: Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])
