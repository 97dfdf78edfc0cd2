"""Compare the violation rate before repair between models of different sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.scale import ScaledFigure, ratios
from tacit.probes.parts.compare import VIOLATION, violations

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.findings.findings import Findings


def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
    """Return the violation rates of models of different sizes; see ``ScaledFigure``."""
    import polars as pl

    counts = [violations(findings) for findings in found.values()]
    things = pl.concat(each.select("thing") for each in counts).unique().sort("thing")
    aligned = [things.join(each, on="thing", how="left", maintain_order="left") for each in counts]
    over, under = (
        np.stack([each[name].fill_null(0).to_numpy() for each in aligned])
        for name in ("over", "under")
    )
    return [ratios(VIOLATION, ("thing", things["thing"].to_numpy()), over, under, falls=True)]
