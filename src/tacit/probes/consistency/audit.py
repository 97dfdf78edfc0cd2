"""Audit background facts, with a table of findings and a sample for human rating."""

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
"""The columns of a sample, before the rating."""
RATING_QUESTION = (
    "Is the fact true, and is it relevant to the question or to one of its choices? 1: both; "
    "0: not both; leave blank what you cannot judge."
)

AUDIT = TableSpec(
    "audit",
    "Audit of the background facts",
    "How many concepts and facts depend on each rule of the extraction, summed over the questions. "
    "The counts include concepts and facts that the options exclude.",
    columns=(
        Column("audited", "audited", meaning="What is counted."),
        Column("relation", "relation", meaning="All, then each relation of the facts."),
        Column(
            "count",
            "count",
            "count",
            "The number of these concepts or facts. Null for facts of different parts if parts are "
            "pooled, and for facts by pooling if paths have several hops.",
        ),
        Column(
            "n",
            "of",
            "count",
            "The total number of concepts or facts, including those counted. Facts by pooling are "
            "counted before the cap.",
        ),
        Column("share", "share", "percent", "The count divided by the total."),
        Column(
            "included", "included", "truth", "Whether the options include these concepts or facts."
        ),
    ),
    keys=2,
    printed=Layout(
        where={"relation": (ALL,)}, columns=("audited", "count", "n", "share", "included")
    ),
    optional=True,
)


def sample(asked: Asked, anchors: Sequence[Anchor], n: int, seed: int) -> pl.DataFrame:
    """Draw background facts of questions without replacement, for human rating.

    Each fact of each question has the same probability of being drawn. The draw depends only on the
    seed, the questions' ids and the facts. The facts with the smallest hashes are drawn, in the
    order of the hashes.

    Args:
        asked: The facts and their questions.
        anchors: The questions.
        n: The number of facts to draw; all facts are returned if there are fewer.
        seed: The seed of the hashes.

    Returns:
        Table with the columns of ``SAMPLE`` and an empty column ``rating``. The choices are
        separated by vertical bars, and each fact is worded as a question.
    """
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
