"""The violation rate before repair, which is compared over model size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.scale import ScaledFigure, ratios
from tacit.probes.parts.compare import VIOLATION, violations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.findings.findings import Findings


def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
    """Return the violation rate of each model for comparison over model size; see ``ScaledFigure``.

    The violation rate is computed over the decided constraints of all drawings. The bootstrap
    resamples things. Each thing, with all of its drawings, is a block of Page's trend test.

    Args:
        found: The findings of each model.
    """
    import polars as pl

    counts = [violations(findings) for findings in found.values()]
    things = pl.concat(each.select("thing") for each in counts).unique().sort("thing")
    aligned = [things.join(each, on="thing", how="left", maintain_order="left") for each in counts]
    over, under = (
        np.stack([each[name].fill_null(0).to_numpy() for each in aligned])
        for name in ("over", "under")
    )
    return [ratios(VIOLATION, ("thing", things["thing"].to_numpy()), over, under, falls=True)]
