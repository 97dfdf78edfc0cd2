"""Extract the background of anchor questions: concepts, facts and false facts (negatives)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.facts import concepts_in, facts_between
from tacit.knowledge.negatives import CONDITIONS, negatives, tails_of
from tacit.knowledge.options import BackgroundOptions
from tacit.knowledge.words import Words
from tacit.strings import strings

_FACT = ["head", "relation", "tail"]
_QUANTILES = {
    "least": 0.0,
    "lower_quarter": 0.25,
    "median": 0.5,
    "upper_quarter": 0.75,
    "most": 1.0,
}


@dataclass(frozen=True)
class Background:
    """The background of anchor questions; ``anchor`` is the index of a question.

    Attributes:
        concepts: The concepts of each question.
        facts: The facts of each question, with their negatives.
        found: Each question's number of facts before the maximum ``cap`` is applied.
        counts: Counts of the concepts, facts and negatives.
        by_part: The concepts of each part of a question: its text (0) and its choices.
        topics: The concepts in the topic of each question.
        tails: Attributes of the tails of facts and negatives.
    """

    concepts: pl.DataFrame
    facts: pl.DataFrame
    found: pl.DataFrame
    counts: Mapping[str, Any] = field(default_factory=dict)
    by_part: pl.DataFrame | None = None
    topics: pl.DataFrame | None = None
    tails: pl.DataFrame | None = None

    def named(self, ids: Sequence[str]) -> pl.DataFrame:
        """Return the facts with each question's index replaced by its id."""
        names = pl.Series("anchor", ids, pl.String)
        return self.facts.with_columns(names.gather(self.facts["anchor"]))

    def check_facts(self) -> None:
        """Raise ``RequestError`` if no question has a fact."""
        if self.facts.is_empty():
            raise RequestError(
                "no question has a background fact in this knowledge base: try --length 2, add "
                "relations to --relations, or use another knowledge base"
            )

    def summary(self) -> dict[str, Any]:
        """Return counts, and quantiles of the number of facts per question."""
        counts = self.found["found"]
        some = counts.filter(counts > 0)
        distinct = self.facts.unique(_FACT)
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
            **self.counts,
            "relations": dict(relations.iter_rows()),
        }


def background(
    base: KnowledgeBase,
    questions: Sequence[Sequence[str]],
    options: BackgroundOptions | None = None,
    *,
    topics: Sequence[str | None] | None = None,
    tails: bool = False,
) -> Background:
    """Extract the background of all questions, each with its choices, in one pass."""
    options = options or BackgroundOptions()
    words = Words(options.paper_version, options.tagger)
    questions = [strings(texts, "questions") for texts in questions]
    relations = base.chosen(options.relation_names)
    read = iter(words.parts([text for texts in questions for text in texts]))
    parts = [[next(read) for _ in texts] for texts in questions]
    concepts = concepts_in(base, parts, options)
    members = concepts.filter("counts").select("anchor", "concept").unique(maintain_order=True)
    facts = facts_between(
        base, members, relations, options.length, options.most_facts, options.seed
    )
    drawn = negatives(base, facts.select(_FACT).unique(maintain_order=True), options)
    counts = _counts(base, concepts, facts, drawn, options)
    if options.parts == "pooled":
        concepts = concepts_in(base, parts, replace(options, parts="separate"))
    about = None
    if topics is not None:
        named = [[part] for part in words.parts([topic or "" for topic in topics])]
        found = concepts_in(base, named, options).filter("counts")
        about = _labelled(base, found.select("anchor", "concept"))
    return Background(
        _labelled(base, members),
        _named(base, facts, drawn),
        _found(facts, len(questions)),
        counts,
        _labelled(base, concepts.filter("counts").select("anchor", "part", "concept")),
        about,
        tails_of(base, drawn, own=options.negatives != "uniform") if tails else None,
    )


def _named(base: KnowledgeBase, facts: pl.DataFrame, drawn: pl.DataFrame) -> pl.DataFrame:
    """Return the facts with their negatives, by the names of concepts and relations."""
    return base.table(
        """
        SELECT anchor, h.label AS head, r.name AS relation, t.label AS tail, n.label AS negative,
            length, weight
        FROM facts JOIN drawn USING (head, relation, tail)
            JOIN base.concepts h ON h.id = facts.head JOIN base.concepts t ON t.id = facts.tail
            JOIN base.relations r ON r.id = facts.relation
            LEFT JOIN base.concepts n ON n.id = drawn.negative
        ORDER BY facts.place""",
        facts=facts.with_row_index("place"),
        drawn=drawn,
    )


def _labelled(base: KnowledgeBase, members: pl.DataFrame) -> pl.DataFrame:
    """Replace the ids of concepts, the last column, by their labels; sort by all columns."""
    return base.table(
        """
        SELECT DISTINCT members.* REPLACE (label AS concept)
        FROM members JOIN base.concepts ON id = concept ORDER BY ALL""",
        members=members,
    )


def _found(facts: pl.DataFrame, questions: int) -> pl.DataFrame:
    counts = facts.group_by("anchor").agg(pl.col("found").first())
    return (
        pl.DataFrame({"anchor": range(questions)}, {"anchor": pl.Int32})
        .join(counts, on="anchor", how="left", maintain_order="left")
        .with_columns(pl.col("found").fill_null(0))
    )


def _counts(
    base: KnowledgeBase,
    concepts: pl.DataFrame,
    facts: pl.DataFrame,
    drawn: pl.DataFrame,
    options: BackgroundOptions,
) -> dict[str, Any]:
    by_anchor = concepts.group_by("anchor", "concept").agg(pl.col("by_lemmas", "counts").any())
    across, sharing = _joined(base, concepts.filter("counts"), facts)
    beyond = pl.col("found").first() - pl.len().cast(pl.Int64)
    cut = facts.group_by("anchor").agg(beyond=beyond)["beyond"]
    drawing: dict[str, Any] = dict.fromkeys(
        ("eligible_negatives", "frequency_cap", "negatives_beyond_cap")
    )
    if options.negatives == "uniform":
        drawing = base.eligible_negatives(options.frequent)
    relaxed = None
    if options.negatives == "matched":
        relaxed = {
            name: drawn.filter(relaxed=dropped).height
            for dropped, name in enumerate(CONDITIONS, start=1)
        }
    return {
        "question_concepts": by_anchor.filter("counts").height,
        "verbatim_only_concepts": by_anchor.filter(~pl.col("by_lemmas")).height,
        "question_facts": facts.height,
        "facts_across_parts": None if options.parts == "pooled" else across,
        "facts_sharing_a_word": sharing,
        "cap": options.most_facts,
        "questions_beyond_cap": cut.filter(cut > 0).len(),
        "facts_beyond_cap": int(cut.sum()),
        **drawing,
        "negatives": options.negatives,
        "relaxed_negatives": relaxed,
    }


def _joined(base: KnowledgeBase, members: pl.DataFrame, facts: pl.DataFrame) -> tuple[int, int]:
    """Count the facts that join concepts of different parts, and concepts that share a word."""
    found = base.table(
        """
        WITH apart AS (
            SELECT place FROM ends
                JOIN members h ON h.anchor = ends.anchor AND h.concept = ends.head
                JOIN members t ON t.anchor = ends.anchor AND t.concept = ends.tail
            GROUP BY place HAVING NOT bool_or(h.part = t.part)),
        pairs AS (SELECT DISTINCT head, tail FROM ends),
        words AS (
            SELECT DISTINCT concept, lemma FROM base.terms
            WHERE concept IN (SELECT head FROM pairs UNION SELECT tail FROM pairs)),
        sharing AS (
            SELECT DISTINCT head, tail FROM pairs JOIN words h ON h.concept = head
                JOIN words t ON t.concept = tail AND t.lemma = h.lemma)
        SELECT count(apart.place) AS across, count(sharing.head) AS sharing
        FROM ends LEFT JOIN apart USING (place)
            LEFT JOIN sharing ON sharing.head = ends.head AND sharing.tail = ends.tail""",
        ends=facts.select("anchor", "head", "tail").with_row_index("place"),
        members=members,
    )
    return found.row(0)


def mean_zipf(concepts: pl.DataFrame, questions: int) -> pl.Series:
    """Return, for each question, the mean Zipf frequency of its concepts."""
    from wordfreq import zipf_frequency

    if concepts.is_empty():
        return pl.Series([None] * questions, dtype=pl.Float64)
    names = concepts["concept"].unique().sort()
    zipf = pl.DataFrame({"concept": names, "zipf": [zipf_frequency(one, "en") for one in names]})
    # Sorted, because a sum of floats depends on the order of the rows.
    means = (
        concepts.join(zipf, on="concept")
        .sort("anchor", "concept")
        .group_by("anchor", maintain_order=True)
        .agg(pl.col("zipf").mean())
    )
    rows = pl.DataFrame({"anchor": pl.Series(range(questions), dtype=means["anchor"].dtype)})
    return rows.join(means, on="anchor", how="left", maintain_order="left")["zipf"]
