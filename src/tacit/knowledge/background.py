"""The background of questions: concepts, connecting facts, negatives, and counts of these."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tacit.knowledge.concepts import Matching, concepts_in
from tacit.knowledge.facts import facts_between
from tacit.knowledge.negatives import Draw, eligible, negatives
from tacit.knowledge.words import Words
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.knowledge.base import KnowledgeBase


@dataclass(frozen=True)
class Counts:
    """Counts that an extraction reports in addition to its facts.

    Args:
        question_concepts: Number of concepts, summed over the questions.
        verbatim_only_concepts: Number of concepts that a question contains verbatim and that the
            word overlap does not find, summed over the questions. They are among
            ``question_concepts`` unless the preset ``verbatim`` is ``off``.
        question_facts: Number of facts within the cap, summed over the questions.
        facts_across_parts: Of these, facts whose two concepts are both in the question but never in
            the same part; None if parts are pooled.
        facts_sharing_a_word: Of these, facts whose two concepts have words with a common lemma.
        cap: Maximum number of facts per question; None for no maximum.
        questions_beyond_cap: Number of questions with more facts than the cap.
        facts_beyond_cap: Number of facts that the cap leaves out, summed over the questions.
        eligible_negatives: Number of dictionary words in the knowledge base, from which negatives
            are drawn.
        frequency_cap: Maximum number of these words that are used, the most frequent first.
        negatives_beyond_cap: Number of these words that the frequency cap leaves out.
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
        concepts: The table that ``concepts_in`` returns.
        facts: The table that ``facts_between`` returns.
        how: The options of the extraction.
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
    """Count the facts that join concepts of different parts, and concepts that share a word."""
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
    """Yield sentences that report the counts.

    Args:
        summary: A mapping that contains the fields of ``Counts``.
    """
    yield (
        f"Concepts, summed over questions: {summary['question_concepts']:,}; found only verbatim, "
        f"not by word overlap: {summary['verbatim_only_concepts']:,}"
    )
    across = summary["facts_across_parts"]
    apart = "" if across is None else f"between concepts of different parts: {across:,}; "
    yield (
        f"Facts, summed over questions: {summary['question_facts']:,}; {apart}between concepts "
        f"that share a word: {summary['facts_sharing_a_word']:,}"
    )
    if summary["facts_beyond_cap"]:
        yield (
            f"Questions with more facts than the cap of {summary['cap']:,}: "
            f"{summary['questions_beyond_cap']:,}; facts left out: "
            f"{summary['facts_beyond_cap']:,} (facts with the highest weights are included; a "
            "seeded hash breaks ties)"
        )
    yield negatives_in_words(summary["eligible_negatives"], summary["frequency_cap"])


def negatives_in_words(words: int, frequency_cap: int) -> str:
    """Return a phrase with the number of eligible negatives and how many the cap leaves out."""
    out = max(0, words - frequency_cap)
    return (
        f"Words eligible as negatives: {words:,}; excluded by the limit to the {frequency_cap:,} "
        f"most frequent: {f'{out:,}' if out else 'none'}"
    )


# Default maximum of facts per question for paths of several hops, which can yield thousands.
CAP = 200


@dataclass(frozen=True)
class Extraction:
    """Options of a background extraction (METHODS section 1).

    Args:
        words: Which words of a question count.
        matching: When a concept is in a question.
        relations: The relations of the facts; None for those of the 14 relations of Sahu et al.
            (2022) that the knowledge base has.
        length: Maximum length of a path between two concepts, in hops: 1, 2 or 3.
        cap: Maximum number of facts per question; None for no maximum.
        draw: How the negatives are drawn. Its seed also selects among equally heavy facts at the
            cap.
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
        """Return the options as values that JSON can represent."""
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
    """The result of ``background``. A question is identified by its index in the input.

    Args:
        concepts: ``question`` and ``concept``, sorted by question, then alphabetically.
        facts: ``question``, ``head``, ``relation``, ``tail``, ``negative`` (a tail that makes the
            fact false; null if there is none), ``length`` (of the shortest path that contains the
            fact), ``weight`` (null if unknown), in the order of ``facts_between``.
        found: ``question`` and ``found``, the number of facts before the cap (0 for a question
            without facts).
        counts: The counts of the extraction; None if the facts do not come from a knowledge base.
        by_part: ``question``, ``part`` (0 for the question's text, 1 for its first choice, ...) and
            ``concept``, sorted; with pooled parts, the concepts that a part has on its own. None if
            the facts do not come from a knowledge base.
    """

    concepts: pl.DataFrame
    facts: pl.DataFrame
    found: pl.DataFrame
    counts: Counts | None = None
    by_part: pl.DataFrame | None = None

    def summary(self) -> dict[str, Any]:
        """Return the numbers of facts, their quantiles per question, and ``counts``.

        The quantiles are over the questions that have facts; they are None if there are none.
        """
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
    """Extract the background of all questions in one pass.

    Args:
        base: The knowledge base.
        questions: The parts of each question: its text and its choices.
        extraction: The options; the defaults if None.

    Raises:
        RequestError: An option is out of range, the knowledge base lacks a relation, or the parts
            of a question are given as one string.
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
    if how.matching.parts == "pooled":
        concepts = concepts_in(base, texts, replace(how.matching, parts="separate"))
    by_part = _by_part(base, concepts.filter("counts"))
    found = _found(facts, len(questions))
    return Background(_labelled(base, members), named, found, counts, by_part)


def _by_part(base: KnowledgeBase, concepts: pl.DataFrame) -> pl.DataFrame:
    return base.table(
        """
        SELECT text AS question, part, label AS concept
        FROM members JOIN base.concepts ON id = members.concept ORDER BY text, part, label""",
        members=concepts.select("text", "part", "concept"),
    )


def _labelled(base: KnowledgeBase, members: pl.DataFrame) -> pl.DataFrame:
    return base.table(
        """
        SELECT text AS question, label AS concept
        FROM members JOIN base.concepts ON id = members.concept ORDER BY text, label""",
        members=members,
    )


def _found(facts: pl.DataFrame, questions: int) -> pl.DataFrame:
    """Return the number of facts of each question before the cap."""
    import polars as pl

    counts = facts.group_by("text").agg(pl.col("found").first())
    return (
        pl.DataFrame({"question": range(questions)}, {"question": pl.Int32})
        .join(counts, left_on="question", right_on="text", how="left", maintain_order="left")
        .with_columns(pl.col("found").fill_null(0))
    )
