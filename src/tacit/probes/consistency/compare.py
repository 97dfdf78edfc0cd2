"""Comparison of models: paired differences with confidence intervals.

Every figure is computed over the anchors for which both models have an answer and a background
score, so both are measured on the same questions. Intervals resample question concepts, with the
same resamples for both models.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.findings.compare import schema
from tacit.statistics import Bootstrap, Estimate
from tacit.statistics.permutation import chance_levels
from tacit.statistics.ranking import aurocs, average_precisions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import polars as pl
    from numpy.typing import NDArray

    from tacit.findings.findings import Findings

    Floats: TypeAlias = NDArray[np.float64]
    Figure: TypeAlias = Callable[[Floats, Floats], Floats]

_FEWEST_CLUSTERS = 2
# Maximum size of a batch of draws (resamples times clusters); bounds the memory.
_CELLS = 4_000_000


def _lifts(right: Floats, rows: Floats) -> Floats:
    """Return (consistency - chance)/(1 - chance); NaN if chance is 1 or no row is right."""
    chance = chance_levels(right.sum(axis=-1), rows)
    over = average_precisions(right, rows) - chance
    return np.divide(over, 1 - chance, out=np.full_like(over, np.nan), where=chance < 1)


_RANKED: Mapping[str, Figure] = {
    "conceptual consistency": average_precisions,
    "lift above chance": _lifts,
    "AUROC": aurocs,
}


def compare(found: Mapping[str, Findings], bootstrap: Bootstrap | None = None) -> pl.DataFrame:
    """Return the figures of each pair of models and their difference.

    Args:
        found: The findings of each model, by the model's name.
        bootstrap: The bootstrap for the intervals; the default if None.

    Returns:
        The columns of ``tacit.findings.compare.COMPARISON``. ``n`` is the number of anchors.
        Undefined figures are null. The background score is the mean over questions here, so that it
        can be paired.
    """
    import polars as pl

    bootstrap = bootstrap or Bootstrap()
    rows: list[tuple[str | float | int | None, ...]] = []
    for first, second in combinations(found, 2):
        pair = _Pair.of(*(found[name].tables["anchors"] for name in (first, second)))
        for figure, values, change in pair.figures(bootstrap):
            ends = (change.value, change.low, change.high)
            rows.append((figure, first, second, *values, *ends, len(pair.clusters)))
    return pl.DataFrame(rows, schema(), orient="row")


@dataclass(frozen=True)
class _Pair:
    """The anchors of two models, aligned.

    Args:
        clusters: The question concept of each anchor, shape (anchors,).
        scores: The background scores, shape (2, anchors).
        right: 1 if the answer is right, else 0, shape (2, anchors).
    """

    clusters: NDArray[np.str_]
    scores: Floats
    right: Floats

    @classmethod
    def of(cls, first: pl.DataFrame, second: pl.DataFrame) -> _Pair:
        """Align the anchors for which both models have a background score and an answer."""
        columns = ["anchor", "background_score", "right"]
        both = (
            first.select(*columns, "cluster")
            .join(second.select(columns), on="anchor", maintain_order="left")
            .drop_nulls(["background_score", "right", "background_score_right", "right_right"])
        )
        pairs = (("background_score", "background_score_right"), ("right", "right_right"))
        scores, right = (
            np.stack([both[name].cast(float).to_numpy() for name in names]) for names in pairs
        )
        return cls(both["cluster"].to_numpy().astype(np.str_), scores, right)

    def figures(
        self, bootstrap: Bootstrap
    ) -> Iterator[tuple[str, tuple[float | None, float | None], Estimate]]:
        """Yield each figure's name, its value for each model, and the difference."""
        ones = np.ones_like(self.scores)
        means = {
            "background score, mean over questions": self.scores,
            "questions right": self.right,
        }
        for name, values in means.items():
            change = bootstrap.difference(self.clusters, values, ones)
            yield name, (_mean(values[0]), _mean(values[1])), change
        counted = [
            _Thresholds.of(*each, self.clusters)
            for each in zip(self.right, self.scores, strict=True)
        ]
        for name, figure in _RANKED.items():
            one, other = (_one(each.figures(figure, None)) for each in counted)
            yield name, (one, other), self._change(figure, counted, (one, other), bootstrap)

    def _change(
        self,
        figure: Figure,
        counted: list[_Thresholds],
        values: tuple[float | None, float | None],
        bootstrap: Bootstrap,
    ) -> Estimate:
        first, second = values
        if first is None or second is None:
            return Estimate(None, None, None)
        clusters = len(np.unique(self.clusters))
        if clusters < _FEWEST_CLUSTERS:
            return Estimate(second - first, None, None)
        changes = np.concatenate(
            [
                counted[1].figures(figure, times) - counted[0].figures(figure, times)
                for times in _draws(clusters, bootstrap)
            ]
        )
        # Drop resamples in which a figure is undefined, such as those with only right answers.
        defined = changes[~np.isnan(changes)]
        if not len(defined):
            return Estimate(second - first, None, None)
        tail = (1 - bootstrap.level) / 2
        low, high = np.quantile(defined, [tail, 1 - tail])
        return Estimate(second - first, float(low), float(high))


@dataclass(frozen=True)
class _Thresholds:
    """The number of rows and of right rows per cluster and score, highest score first.

    Args:
        right: Number of right rows, shape (clusters, thresholds).
        rows: Number of rows, shape (clusters, thresholds).
    """

    right: Floats
    rows: Floats

    @classmethod
    def of(cls, right: Floats, score: Floats, clusters: NDArray[np.str_]) -> _Thresholds:
        names, cluster = np.unique(clusters, return_inverse=True)
        levels, level = np.unique(-score, return_inverse=True)
        cells, shape = cluster * len(levels) + level, (len(names), len(levels))
        counts = [
            np.bincount(cells, weights, shape[0] * shape[1]).astype(np.float64).reshape(shape)
            for weights in (right, np.ones_like(right))
        ]
        return cls(counts[0], counts[1])

    def figures(self, figure: Figure, times: Floats | None) -> Floats:
        """Compute the figure for each resample, or for the original rows if ``times`` is None.

        Args:
            figure: The function that computes the figure from the counts per threshold.
            times: How often each cluster is drawn, shape (resamples, clusters).
        """
        drawn = np.ones((1, len(self.rows))) if times is None else times
        return figure(drawn @ self.right, drawn @ self.rows)


def _draws(clusters: int, bootstrap: Bootstrap) -> Iterator[Floats]:
    """Yield how often each cluster is drawn in each resample, in batches (resamples, clusters)."""
    generator = np.random.default_rng(bootstrap.seed)
    step = max(1, _CELLS // clusters)
    for begin in range(0, bootstrap.resamples, step):
        rows = min(step, bootstrap.resamples - begin)
        drawn = generator.integers(0, clusters, size=(rows, clusters))
        cells = drawn + clusters * np.arange(rows)[:, None]
        times = np.bincount(cells.ravel(), minlength=rows * clusters).astype(np.float64)
        yield times.reshape(rows, clusters)


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _one(values: Floats) -> float | None:
    return None if np.isnan(values[0]) else float(values[0])
