"""The figures that are compared over the size of models: lift, background score and accuracy.

All models of a family are measured on the anchors for which each has an answer and a background
score. Resamples draw question concepts. A block of Page's test is a group of question concepts,
because the lift has no value for a single concept: every 20th concept in alphabetical order.
"""

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
"""The largest number of blocks, and the smallest mean number of question concepts in one."""


def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
    """Return the figures of some models; see ``ScaledFigure``.

    Args:
        found: The findings of each model, with the table ``anchors``.
    """
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
    """Return the block of each question concept, shape (concepts,)."""
    return np.arange(concepts) % max(1, min(MOST_BLOCKS, concepts // CONCEPTS_PER_BLOCK))
