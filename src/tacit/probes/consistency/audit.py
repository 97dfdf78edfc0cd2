"""The audit of the background facts as a table of findings."""

from __future__ import annotations

from tacit.findings.spec import Column, Layout, TableSpec
from tacit.knowledge.audit import ALL

AUDIT = TableSpec(
    "audit",
    "Audit of the background facts",
    "How many concepts and facts depend on a rule of the extraction, summed over the questions. "
    "Those that the options exclude are counted too.",
    columns=(
        Column("audited", "audited", meaning="What is counted."),
        Column("relation", "relation", meaning="All, then each relation of the facts."),
        Column(
            "count",
            "count",
            "count",
            "How many there are; null if they are not counted: facts of different parts if parts "
            "are pooled, and facts by pooling if paths have several hops.",
        ),
        Column(
            "n",
            "of",
            "count",
            "The concepts or facts in total, including these. Facts by pooling are counted before "
            "the cap.",
        ),
        Column("share", "share", "percent", "The count divided by the total."),
        Column("included", "included", "truth", "Whether the options include them."),
    ),
    keys=2,
    printed=Layout(
        where={"relation": (ALL,)}, columns=("audited", "count", "n", "share", "included")
    ),
    optional=True,
)
