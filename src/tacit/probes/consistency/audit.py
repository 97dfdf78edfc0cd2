"""Audit background facts: count them by extraction rule, and draw a sample to rate."""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

from tacit.findings.spec import Column, Layout, TableSpec
from tacit.knowledge.audit import ALL
from tacit.sources.ratings import FACT, RATING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.questions import Asked
    from tacit.sources.anchors import Anchor

SAMPLE = ("question_id", "question", "choices", "fact", "relation", "head", "tail", "negative")
"""The columns of a sample of facts, except the column ``rating``."""
RATING_QUESTION = (
    "Is the fact true, and is it relevant to the question or to one of its choices? Write 1 for a "
    "fact that is true and relevant, and 0 for any other fact. Leave the cell blank if you cannot "
    "judge."
)

AUDIT = TableSpec(
    "audit",
    "Audit of the background facts",
    "Rules determine which facts of the knowledge base are background facts of a question. Each "
    "row is about one rule for the selection of background facts. The column \u201ccount\u201d "
    "contains the number of concepts or facts to which the rule applies, summed over all "
    "questions. The counts include concepts and facts that the run's extraction options (such as "
    "--verbatim off) exclude.",
    columns=(
        Column("audited", "audited", meaning="The concepts or facts that are counted."),
        Column(
            "relation", "relation", meaning="The value \u201call\u201d, or a relation of the facts."
        ),
        Column(
            "count",
            "count",
            "count",
            "The number of concepts or facts of the kind in the column \u201caudited\u201d. If "
            "the run uses the option --parts pooled, the count is null for facts whose two "
            "concepts occur in different parts of a question. If the run uses the option --length "
            "2 or 3, the count is null for facts that are found only with the option --parts "
            "pooled.",
        ),
        Column(
            "n",
            "of",
            "count",
            "The number of all concepts or facts, including those in the column \u201ccount\u201d. "
            "In the rows about facts that are found only with the option --parts pooled, the "
            "counts ignore the maximum number of facts per question (the option --cap).",
        ),
        Column(
            "share",
            "share",
            "percent",
            "The number in the column \u201ccount\u201d, divided by the number of all concepts or "
            "facts.",
        ),
        Column(
            "included",
            "included",
            "truth",
            "Whether the run uses the concepts or facts in the column \u201ccount\u201d.",
        ),
    ),
    keys=2,
    printed=Layout(
        where={"relation": (ALL,)}, columns=("audited", "count", "n", "share", "included")
    ),
    optional=True,
)


def sample(asked: Asked, anchors: Sequence[Anchor], n: int, seed: int) -> pl.DataFrame:
    """Draw a random sample of background facts, without replacement, for people to rate."""
    import polars as pl

    facts = asked.links.join(asked.facts, on="fact", how="left", maintain_order="left")
    rows = []
    for fact in facts.iter_rows(named=True):
        anchor = anchors[fact["anchor"]]
        worded = {
            "question_id": anchor.id,
            "question": anchor.question,
            "choices": " | ".join(anchor.choices),
            "fact": f"{asked.texts[fact['positive_question']]}?",
        }
        rows.append({**fact, **worded, RATING: None})
    rows.sort(key=lambda row: _digest(seed, *(row[name] for name in FACT)))
    columns = dict.fromkeys((*SAMPLE, RATING), pl.String)
    return pl.DataFrame([{name: row[name] for name in columns} for row in rows[:n]], columns)


def _digest(*texts: object) -> str:
    return md5("\t".join(map(str, texts)).encode(), usedforsecurity=False).hexdigest()
