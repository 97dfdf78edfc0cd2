"""Compute the lift, the background score and the accuracy of models of different sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.scale import ScaledFigure, ratios
from tacit.probes.consistency.compare import LIFT, Aligned, lifts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from tacit.findings.findings import Findings

CONCEPT = "question concept"
MOST_BLOCKS, CONCEPTS_PER_BLOCK = 20, 10
"""Limits for Page's trend test: maximum number of blocks, minimum mean concepts per block."""


def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
    """Return the measures that are compared across models of different sizes."""
    aligned = Aligned.of([findings.tables["anchors"] for findings in found.values()])
    blocks = blocks_of(len(np.unique(aligned.clusters)))
    counted = aligned.thresholds()

    def compute(times: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.stack([each.figures(lifts, times) for each in counted], axis=1)

    means = [
        ratios(name, (CONCEPT, aligned.clusters), values, np.ones_like(values), blocks=blocks)
        for name, values in aligned.means.items()
    ]
    return [ScaledFigure(LIFT, CONCEPT, compute, blocks), *means]


def blocks_of(concepts: int) -> NDArray[np.intp]:
    """Return each question concept's block index for Page's trend test, shape (concepts,)."""
    return np.arange(concepts) % max(1, min(MOST_BLOCKS, concepts // CONCEPTS_PER_BLOCK))
