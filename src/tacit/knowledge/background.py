"""The background of questions: their concepts, the facts that connect these, and the negatives."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.knowledge.concepts import Matching, concepts_in
from tacit.knowledge.counts import Counts, count
from tacit.knowledge.facts import facts_between
from tacit.knowledge.negatives import Draw, negatives
from tacit.knowledge.words import Words
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.base import KnowledgeBase

# How many facts of one question are kept where paths of several hops would give thousands.
CAP = 200


@dataclass(frozen=True)
class Extraction:
    """How a background is extracted (METHODS section 1).

    Args:
        words: Which words of a question count.
        matching: When a concept is in a question.
        relations: The relations; None for the 14 of Sahu et al. (2022) that are there.
        length: The longest path between two concepts, in hops: 1, 2 or 3.
        cap: At most so many facts of one question; None for all.
        draw: How the negatives are drawn; its seed also chooses among equally heavy facts where the
            cap cuts.
    """

    words: Words = field(default_factory=Words)
    matching: Matching = field(default_factory=Matching)
    relations: tuple[str, ...] | None = None
    length: int = 1
    cap: int | None = None
    draw: Draw = field(default_factory=Draw)

    def __post_init__(self) -> None:
        convert_strings(self, "relations")

    def to_json(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {
            "version": self.words.version,
            "tagger": self.words.tagger,
            "overlap": self.matching.overlap,
            "parts": self.matching.parts,
            "verbatim": self.matching.verbatim,
            "relations": None if self.relations is None else list(self.relations),
            "length": self.length,
            "cap": self.cap,
            "seed": self.draw.seed,
            "frequent": self.draw.frequent,
        }


@dataclass(frozen=True)
class Background:
    """What ``background`` found; questions are identified by their index in the sequence.

    Args:
        concepts: ``question`` and ``concept``, by question and alphabet.
        facts: ``question``, ``head``, ``relation``, ``tail``, ``negative`` (the tail that makes
            it false; null when there is none), ``length`` (of the shortest path it is on),
            ``weight`` (null when not given), in the order of ``facts_between``.
        found: ``question`` and ``found``: how many facts it has without the cap, 0 included.
        counts: What was counted; None for facts that were not extracted from a knowledge base.
    """

    concepts: pl.DataFrame
    facts: pl.DataFrame
    found: pl.DataFrame
    counts: Counts | None = None

    def summary(self) -> dict[str, Any]:
        """How many facts the questions have, and ``counts``; quantities of no question are null."""
        counts = self.found["found"]
        some = counts.filter(counts > 0)
        fact = ["head", "relation", "tail"]
        distinct = self.facts.unique(fact)
        relations = distinct.group_by("relation").len().sort("relation")
        return {
            "questions": counts.len(),
            "with_facts": some.len(),
            "without_facts": counts.len() - some.len(),
            "facts": self.facts.height,
            "distinct_facts": distinct.height,
            "without_negative": distinct["negative"].null_count(),
            "per_question": {
                name: None if some.is_empty() else some.quantile(share, "nearest")
                for name, share in _QUANTILES.items()
            },
            **({} if self.counts is None else asdict(self.counts)),
            "relations": dict(relations.iter_rows()),
        }


_QUANTILES = {
    "least": 0.0,
    "lower_quarter": 0.25,
    "median": 0.5,
    "upper_quarter": 0.75,
    "most": 1.0,
}


def background(
    base: KnowledgeBase, questions: Sequence[Sequence[str]], extraction: Extraction | None = None
) -> Background:
    """Extract the background of all questions together.

    Args:
        base: The knowledge base.
        questions: The parts of each: the question and its choices.
        extraction: How to extract.

    Raises:
        RequestError: An option is out of range, a relation is not there, or the texts of a
            question are one string.
        ModelError: The tagger cannot be loaded.
    """
    how = extraction or Extraction()
    questions = [strings(texts, "questions") for texts in questions]
    relations = base.chosen(how.relations)
    parts = iter(how.words.parts([text for texts in questions for text in texts]))
    texts = [[next(parts) for _ in texts] for texts in questions]
    concepts = concepts_in(base, texts, how.matching)
    members = concepts.filter("counts").select("text", "concept").unique(maintain_order=True)
    facts = facts_between(base, members, relations, how.length, how.cap, how.draw.seed)
    key = ["head", "relation", "tail"]
    drawn = negatives(base, facts.select(key).unique(maintain_order=True), how.draw)
    named = base.table(
        """
        SELECT text AS question, h.label AS head, r.name AS relation, t.label AS tail,
            n.label AS negative, length, weight
        FROM facts JOIN drawn USING (head, relation, tail)
            JOIN base.concepts h ON h.id = facts.head JOIN base.concepts t ON t.id = facts.tail
            JOIN base.relations r ON r.id = facts.relation
            LEFT JOIN base.concepts n ON n.id = drawn.negative
        ORDER BY facts.place""",
        facts=facts.with_row_index("place"),
        drawn=drawn,
    )
    counts = count(base, concepts, facts, how)
    return Background(_labelled(base, members), named, _found(facts, len(questions)), counts)


def _labelled(base: KnowledgeBase, members: pl.DataFrame) -> pl.DataFrame:
    return base.table(
        """
        SELECT text AS question, label AS concept
        FROM members JOIN base.concepts ON id = members.concept ORDER BY text, label""",
        members=members,
    )


def _found(facts: pl.DataFrame, questions: int) -> pl.DataFrame:
    """How many facts each question has without the cap."""
    import polars as pl

    counts = facts.group_by("text").agg(pl.col("found").first())
    return (
        pl.DataFrame({"question": range(questions)}, {"question": pl.Int32})
        .join(counts, left_on="question", right_on="text", how="left", maintain_order="left")
        .with_columns(pl.col("found").fill_null(0))
    )
