"""The numbers that Sahu et al. (2022) print beside one's own: ours, published, difference.

They are about the method and the data. The paper draws its results and prints none of them.
"""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import yaml

from tacit.probes.consistency.consistency import frequent_concepts
from tacit.probes.consistency.inputs import Inputs

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.probes.consistency.probe import ConsistencyProbe

_ARXIV = "arxiv"


def method_table(probe: ConsistencyProbe, relations: Mapping[str, int]) -> pl.DataFrame:
    """What the paper says of its method and data, beside a probe's.

    Args:
        probe: The probe.
        relations: How many edges each relation of the knowledge base has.

    Returns:
        Columns table (where it is printed), row, ours, published, difference.
    """
    import polars as pl

    path = resources.files("tacit") / "data" / "published" / "consistency.yaml"
    version = probe.version if probe.version == _ARXIV else "review"
    printed = yaml.safe_load(path.read_text(encoding="utf-8"))[version]
    inputs = Inputs.of(probe.forms)
    ours = {
        "meta-prompts": len(inputs.metas),
        "answer words": len({*inputs.words}),
        "inputs of a question": len(inputs.words),
        "relations in the knowledge base": len(relations),
        "relations asked about": probe.asked.facts["relation"].n_unique(),
        "most choices of a question": max(len(anchor.choices) for anchor in probe.anchors),
        "concepts with their own consistency": frequent_concepts(probe.asked).height,
    }
    rows = [
        (cell["where"], row, ours[row], cell["value"], ours[row] - cell["value"])
        for row, cell in printed.items()
    ]
    names = ("ours", "published", "difference")
    schema = {"table": pl.String, "row": pl.String, **dict.fromkeys(names, pl.Int64)}
    return pl.DataFrame(rows, schema, orient="row")
