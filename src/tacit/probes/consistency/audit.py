"""Audit background facts: count them by extraction rule, and draw a sample to rate."""

from __future__ import annotations

from hashlib import md5
from typing import TYPE_CHECKING

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
