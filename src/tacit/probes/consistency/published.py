"""Compare the numbers of prompts and questions with those of Sahu et al. (2022).

The results of Sahu et al. (2022) are not compared with the results of a run, because the paper
shows its results only in plots.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import polars as pl

from tacit.findings.published import beside, printed_values
from tacit.probes.consistency.lift import frequent_concepts

if TYPE_CHECKING:
    from tacit.probes.consistency.probe import ConsistencyProbe

_ARXIV = "arxiv"


def method_table(probe: ConsistencyProbe, relations: Mapping[str, int]) -> pl.DataFrame:
    """Compare a probe's numbers of prompts and questions with those of Sahu et al. (2022)."""
    version = probe.version if probe.version == _ARXIV else "review"
    words = [word for variant in probe.variants for word in variant.answers]
    ours = {
        "meta-prompts": len({variant.meta for variant in probe.variants}),
        "answer words": len(set(words)),
        "inputs of a question": len(words),
        "relations in the knowledge base": len(relations),
        "relations asked about": probe.asked.facts["relation"].n_unique(),
        "largest number of choices of a question": max(
            len(anchor.choices) for anchor in probe.anchors
        ),
        "concepts for which consistency is computed separately": frequent_concepts(
            probe.asked.links, probe.asked.facts
        ).height,
    }
    table = pl.DataFrame({"row": list(ours), "value": list(ours.values())})
    printed = [cell for cell in printed_values("consistency") if cell.model == version]
    numbers = pl.col("ours", "published", "difference").cast(pl.Int64)
    return beside(printed, {"method": table}).select("table", "row", numbers)
