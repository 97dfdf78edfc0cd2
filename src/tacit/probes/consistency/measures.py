"""What is compared between models: measures of the anchor questions that all of them answered."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.findings.findings import Findings
from tacit.findings.measure import Measure, mean, shared
from tacit.statistics.lift import strata_of
from tacit.statistics.ranking import aurocs, average_precisions, lifts_within_strata

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]
Statistic: TypeAlias = Callable[[Floats, Floats], Floats]

_CELLS = 500_000  # counts per batch of resamples; bounds the memory


def measures(found: Mapping[str, Findings]) -> list[Measure]:
    """Background scores, accuracy, and how well the scores predict which answers are correct."""
    tables = [findings.tables["anchors"] for findings in found.values()]
    rows, values = shared(tables, ["anchor"], ["background_score", "right"])
    score, right = values["background_score"], values["right"]
    names, clusters = np.unique(rows["cluster"].to_numpy().astype(np.str_), return_inverse=True)
    strata = strata_of(rows["facts"].to_numpy())

    def predicted(name: str, statistic: Statistic, strata: Ints) -> Measure:
        counted = [_counts(*each, clusters, strata) for each in zip(right, score, strict=True)]

        def of(weights: Floats) -> Floats:
            return np.stack([_computed(statistic, *each, weights) for each in counted], axis=1)

        return Measure(name, rows.height, len(names), len(names), of)

    together = np.zeros_like(strata)
    return [
        replace(mean("background score, mean over questions", clusters, score), main=True),
        replace(mean("questions right", clusters, right), main=True, metric="anchor accuracy"),
        predicted("conceptual consistency", _over(average_precisions), together),
        replace(predicted("lift above chance", lifts_within_strata, together), main=True),
        predicted("AUROC", _over(aurocs), together),
        replace(
            predicted("lift, adjusted for the number of facts", lifts_within_strata, strata),
            metric="adjusted lift",
        ),
    ]


def _over(statistic: Statistic) -> Statistic:
    """Apply a statistic of counts per score to counts per score and stratum."""
    return lambda right, rows: statistic(right.sum(axis=-1), rows.sum(axis=-1))


def _counts(right: Floats, score: Floats, clusters: Ints, strata: Ints) -> tuple[Floats, Floats]:
    """Correct answers and questions by cluster, by score (highest first) and by stratum."""
    level = np.unique(-score, return_inverse=True)[1]
    places = (clusters, level, strata)
    shape = [int(codes.max(initial=-1)) + 1 for codes in places]
    cells, size = np.ravel_multi_index(places, shape), math.prod(shape)
    of_right, rows = (np.bincount(cells, each, size) for each in (right, np.ones_like(right)))
    return of_right.reshape(shape).astype(np.float64), rows.reshape(shape).astype(np.float64)


def _computed(statistic: Statistic, right: Floats, rows: Floats, weights: Floats) -> Floats:
    parts = np.array_split(weights, 1 + len(weights) * math.prod(rows.shape[1:]) // _CELLS)
    return np.concatenate(
        [statistic(*(np.tensordot(part, each, 1) for each in (right, rows))) for part in parts]
    )
