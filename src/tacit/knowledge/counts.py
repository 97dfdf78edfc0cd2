"""What an extraction counts besides its facts, and how it reads in a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.knowledge.negatives import eligible

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.knowledge.background import Extraction
    from tacit.knowledge.base import KnowledgeBase


@dataclass(frozen=True)
class Counts:
    """What an extraction counts besides its facts.

    Args:
        question_concepts: Concepts, summed over the questions.
        verbatim_only_concepts: Concepts that a question contains verbatim and that the overlap of
            words does not find, summed over the questions. They are among ``question_concepts``
            unless the preset ``verbatim`` is ``off``.
        question_facts: Facts, without those beyond the cap, summed over the questions.
        facts_across_parts: Of these, facts whose two concepts are both in the question but not
            together in one of its parts; None where parts are pooled.
        facts_sharing_a_word: Of these, facts whose two concepts have a word with a common lemma.
        cap: At most so many facts of one question; None for all.
        questions_beyond_cap: Questions with more facts than the cap.
        facts_beyond_cap: Facts that the cap leaves out, summed over the questions.
        eligible_negatives: Dictionary words of the knowledge base, from which negatives are drawn.
        frequency_cap: Of these, at most so many of the most frequent.
        negatives_beyond_cap: Of these, how many the frequency cap leaves out.
    """

    question_concepts: int
    verbatim_only_concepts: int
    question_facts: int
    facts_across_parts: int | None
    facts_sharing_a_word: int
    cap: int | None
    questions_beyond_cap: int
    facts_beyond_cap: int
    eligible_negatives: int
    frequency_cap: int
    negatives_beyond_cap: int


def count(
    base: KnowledgeBase, concepts: pl.DataFrame, facts: pl.DataFrame, how: Extraction
) -> Counts:
    """Count what an extraction found.

    Args:
        base: The knowledge base.
        concepts: As ``concepts_in`` returns them.
        facts: As ``facts_between`` returns them.
        how: How they were extracted.
    """
    import polars as pl

    by_text = concepts.group_by("text", "concept").agg(pl.col("by_lemmas", "counts").any())
    cut = facts.group_by("text").agg(beyond=pl.col("found").first() - pl.len().cast(pl.Int64))
    joined = _joined(base, concepts.filter("counts"), facts)
    separate = how.matching.parts == "separate"
    words, frequency_cap = eligible(base), how.draw.frequent
    return Counts(
        question_concepts=by_text.filter("counts").height,
        verbatim_only_concepts=by_text.filter(~pl.col("by_lemmas")).height,
        question_facts=facts.height,
        facts_across_parts=joined["across"].item() if separate else None,
        facts_sharing_a_word=joined["sharing"].item(),
        cap=how.cap,
        questions_beyond_cap=cut.filter(pl.col("beyond") > 0).height,
        facts_beyond_cap=int(cut["beyond"].sum()),
        eligible_negatives=words,
        frequency_cap=frequency_cap,
        negatives_beyond_cap=max(0, words - frequency_cap),
    )


def _joined(base: KnowledgeBase, members: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """How many facts join concepts of different parts, and concepts that share a word."""
    return base.table(
        """
        WITH apart AS (
            SELECT place FROM ends JOIN members h ON h.text = ends.text AND h.concept = ends.head
                JOIN members t ON t.text = ends.text AND t.concept = ends.tail
            GROUP BY place HAVING NOT bool_or(h.part = t.part)),
        pairs AS (SELECT DISTINCT head, tail FROM ends),
        words AS (
            SELECT DISTINCT concept, lemma FROM base.terms
            WHERE concept IN (SELECT head FROM pairs UNION SELECT tail FROM pairs)),
        sharing AS (
            SELECT DISTINCT head, tail FROM pairs JOIN words h ON h.concept = head
                JOIN words t ON t.concept = tail AND t.lemma = h.lemma)
        SELECT (SELECT count(*) FROM apart) AS across,
            (SELECT count(*) FROM ends JOIN sharing USING (head, tail)) AS sharing""",
        ends=facts.select("text", "head", "tail").with_row_index("place"),
        members=members,
    )


def counts_in_words(summary: Mapping[str, Any]) -> Iterator[str]:
    """Sentences about the counts.

    Args:
        summary: A mapping that contains the fields of ``Counts``.
    """
    yield (
        f"Concepts, summed over questions: {summary['question_concepts']:,}; contained verbatim "
        f"but not found by their words: {summary['verbatim_only_concepts']:,}"
    )
    across = summary["facts_across_parts"]
    apart = "" if across is None else f"joining concepts of different parts: {across:,}; "
    yield (
        f"Facts, summed over questions: {summary['question_facts']:,}; {apart}joining concepts "
        f"that share a word: {summary['facts_sharing_a_word']:,}"
    )
    if summary["facts_beyond_cap"]:
        yield (
            f"Questions with more facts than the cap of {summary['cap']:,}: "
            f"{summary['questions_beyond_cap']:,}; facts left out: "
            f"{summary['facts_beyond_cap']:,} (the heaviest are kept; of equally heavy ones, those "
            "that a seeded hash chooses)"
        )
    yield negatives_in_words(summary["eligible_negatives"], summary["frequency_cap"])


def negatives_in_words(words: int, frequency_cap: int) -> str:
    """How many words negatives are drawn from, and whether the frequency cap leaves any out."""
    out = max(0, words - frequency_cap)
    return (
        f"Words that a negative can be: {words:,}; left out by the cap of the {frequency_cap:,} "
        f"most frequent: {f'{out:,}' if out else 'none'}"
    )
