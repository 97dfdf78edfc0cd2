"""Measures to plot against model size: the mean reciprocal ranks of concept retrieval."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tacit.findings.scale import ScaledFigure, ratios
from tacit.probes.assumptions.block import NUMBERS
from tacit.probes.assumptions.compare import Side, comparable, retrieval_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tacit.findings.findings import Findings


def scaling(found: Mapping[str, Findings]) -> list[ScaledFigure]:
    """Return the measures to plot against model size; see ``ScaledFigure``."""
    wordings = [set(findings.tables["retrieval"]["wording"]) for findings in found.values()]
    shared = sorted(set.intersection(*wordings))
    return [figure for wording in shared for figure in _of_wording(found, wording)]


def _of_wording(found: Mapping[str, Findings], wording: str) -> list[ScaledFigure]:
    """Return the mean reciprocal rank of concepts for each number of properties in the prompt."""
    import polars as pl

    values = comparable([Side.of(findings, wording) for findings in found.values()])
    ranks = values[0].select("n", "concept")
    for at, table in enumerate(values):
        own = table.drop_nulls("mrr").select("n", "concept", pl.col("mrr").alias(str(at)))
        ranks = ranks.join(own, on=["n", "concept"], maintain_order="left")
    figures = []
    for n in NUMBERS:
        some = ranks.filter(n=n)
        if some.height:
            mrr = some.drop("n", "concept").to_numpy().T
            concepts = ("concept", some["concept"].to_numpy())
            name = retrieval_name("mrr", n, wording)
            figures.append(ratios(name, concepts, mrr, np.ones_like(mrr)))
    return figures
