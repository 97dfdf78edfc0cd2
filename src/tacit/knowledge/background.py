"""The background of questions: their concepts, the facts that connect these, and the negatives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.knowledge.concepts import Overlap, concepts_in
from tacit.knowledge.facts import facts_between
from tacit.knowledge.negatives import Draw, negatives
from tacit.knowledge.words import Words

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
        overlap: Of which words of a concept more than half must be in the question.
        relations: The relations; None for the 14 of Sahu et al. (2022) that are there.
        length: The longest path between two concepts, in hops: 1, 2 or 3.
        cap: At most so many facts of one question; None for all.
        draw: How the negatives are drawn.
    """

    words: Words = field(default_factory=Words)
    overlap: Overlap = "all-words"
    relations: tuple[str, ...] | None = None
    length: int = 1
    cap: int | None = None
    draw: Draw = field(default_factory=Draw)

    def to_json(self) -> dict[str, Any]:
        """What a manifest says of it."""
        return {
            "version": self.words.version,
            "tagger": self.words.tagger,
            "overlap": self.overlap,
            "relations": None if self.relations is None else list(self.relations),
            "length": self.length,
            "cap": self.cap,
            "seed": self.draw.seed,
            "frequent": self.draw.frequent,
        }


@dataclass(frozen=True)
class Background:
    """What ``background`` found; questions are told by their place in the sequence.

    Args:
        concepts: ``question`` and ``concept``, by question and alphabet.
        facts: ``question``, ``head``, ``relation``, ``tail``, ``negative`` (the tail that makes
            it false; null when there is none), ``length`` (of the shortest path it is on),
            ``weight`` (null when not given), in the order of ``facts_between``.
        found: ``question`` and ``found``: how many facts it has without the cap, 0 included.
    """

    concepts: pl.DataFrame
    facts: pl.DataFrame
    found: pl.DataFrame

    def summary(self, cap: int | None) -> dict[str, Any]:
        """How many facts the questions have; quantities of no question are null."""
        import polars as pl

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
            "cap": cap,
            "capped": 0 if cap is None else self.found.filter(pl.col("found") > cap).height,
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
    """Extracts the background of all questions together.

    Args:
        base: The knowledge base.
        questions: The texts of each: the question and its choices, whose words go into one bag.
        extraction: How to extract.

    Raises:
        RequestError: An option is out of range, or a relation is not there.
        ModelError: The tagger cannot be loaded.
    """
    how = extraction or Extraction()
    relations = base.chosen(how.relations)
    members = concepts_in(base, _bags(questions, how.words), how.overlap)
    facts = facts_between(base, members, relations, how.length, how.cap)
    key = ["head", "relation", "tail"]
    drawn = negatives(base, facts.select(key).unique(maintain_order=True), how.draw)
    told = base.table(
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
    return Background(_labelled(base, members), told, _found(facts, len(questions)))


def _bags(questions: Sequence[Sequence[str]], words: Words) -> list[set[str]]:
    """The content lemmas of each question's texts, in one bag."""
    lemmas = iter(words.content_lemmas([text for texts in questions for text in texts]))
    return [set().union(*(next(lemmas) for _ in texts)) for texts in questions]


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
