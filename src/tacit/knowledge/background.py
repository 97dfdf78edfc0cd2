"""Extract the background of questions: concepts, facts and false facts (negatives)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import polars as pl

from tacit.errors import RequestError
from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.concepts import concepts_in
from tacit.knowledge.facts import facts_between
from tacit.knowledge.negatives import CONDITIONS, eligible, negatives, tails_of
from tacit.knowledge.options import BackgroundOptions, Negatives
from tacit.knowledge.words import Words
from tacit.strings import strings


@dataclass(frozen=True)
class Counts:
    """Counts of the concepts, facts and false facts (negatives) of a set of questions."""

    question_concepts: int
    verbatim_only_concepts: int
    question_facts: int
    facts_across_parts: int | None
    facts_sharing_a_word: int
    cap: int | None
    questions_beyond_cap: int
    facts_beyond_cap: int
    eligible_negatives: int | None
    frequency_cap: int | None
    negatives_beyond_cap: int | None
    negatives: Negatives = "uniform"
    relaxed_negatives: Mapping[str, int] | None = None


def count(
    base: KnowledgeBase,
    concepts: pl.DataFrame,
    facts: pl.DataFrame,
    drawn: pl.DataFrame,
    options: BackgroundOptions,
) -> Counts:
    """Count the concepts, facts and negatives of an extraction."""
    by_text = concepts.group_by("text", "concept").agg(pl.col("by_lemmas", "counts").any())
    across, sharing = _joined(base, concepts.filter("counts"), facts)
    cut = facts.group_by("text").agg(beyond=pl.col("found").first() - pl.len().cast(pl.Int64))
    uniform = options.negatives == "uniform"
    words, frequency_cap = eligible(base), options.frequent
    return Counts(
        question_concepts=by_text.filter("counts").height,
        verbatim_only_concepts=by_text.filter(~pl.col("by_lemmas")).height,
        question_facts=facts.height,
        facts_across_parts=None if options.parts == "pooled" else across,
        facts_sharing_a_word=sharing,
        cap=options.most_facts,
        questions_beyond_cap=cut.filter(pl.col("beyond") > 0).height,
        facts_beyond_cap=int(cut["beyond"].sum()),
        eligible_negatives=words if uniform else None,
        frequency_cap=frequency_cap if uniform else None,
        negatives_beyond_cap=max(0, words - frequency_cap) if uniform else None,
        negatives=options.negatives,
        relaxed_negatives=_relaxed(drawn) if options.negatives == "matched" else None,
    )


def _joined(base: KnowledgeBase, members: pl.DataFrame, facts: pl.DataFrame) -> tuple[int, int]:
    """Count the facts that join concepts of different parts, and concepts that share a word."""
    found = base.table(
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
        SELECT count(apart.place) AS across, count(sharing.head) AS sharing
        FROM ends LEFT JOIN apart USING (place)
            LEFT JOIN sharing ON sharing.head = ends.head AND sharing.tail = ends.tail""",
        ends=facts.select("text", "head", "tail").with_row_index("place"),
        members=members,
    )
    return found.row(0)


def _relaxed(drawn: pl.DataFrame) -> dict[str, int]:
    """Count negatives (false facts) by the last condition dropped to find them."""
    return {
        name: drawn.filter(drawn["relaxed"] == dropped).height
        for dropped, name in enumerate(CONDITIONS, start=1)
    }


@dataclass(frozen=True)
class Background:
    """The background of questions: their concepts, facts and negatives (false facts)."""

    concepts: pl.DataFrame
    facts: pl.DataFrame
    found: pl.DataFrame
    counts: Counts | None = None
    by_part: pl.DataFrame | None = None
    topics: pl.DataFrame | None = None
    tails: pl.DataFrame | None = None

    def named(self, ids: Sequence[str]) -> pl.DataFrame:
        """Return the facts with each question's index replaced by its id."""
        names = pl.Series("question", ids, pl.String)
        return self.facts.with_columns(names.gather(self.facts["question"]))

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
    base: KnowledgeBase,
    questions: Sequence[Sequence[str]],
    options: BackgroundOptions | None = None,
    *,
    topics: Sequence[str | None] | None = None,
    tails: bool = False,
) -> Background:
    """Extract the background of all questions in one pass."""
    options = options or BackgroundOptions()
    words = Words(options.paper_version, options.tagger)
    questions = [strings(texts, "questions") for texts in questions]
    relations = base.chosen(options.relation_names)
    parts = iter(words.parts([text for texts in questions for text in texts]))
    texts = [[next(parts) for _ in texts] for texts in questions]
    concepts = concepts_in(base, texts, options)
    members = concepts.filter("counts").select("text", "concept").unique(maintain_order=True)
    facts = facts_between(
        base, members, relations, options.length, options.most_facts, options.seed
    )
    key = ["head", "relation", "tail"]
    drawn = negatives(base, facts.select(key).unique(maintain_order=True), options)
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
    own = 0 if options.negatives == "uniform" else 1
    counts = count(base, concepts, facts, drawn, options)
    if options.parts == "pooled":
        concepts = concepts_in(base, texts, replace(options, parts="separate"))
    return Background(
        _labelled(base, members),
        named,
        _found(facts, len(questions)),
        counts,
        _by_part(base, concepts.filter("counts")),
        None if topics is None else _topics(base, topics, words, options),
        tails_of(base, drawn, own=own) if tails else None,
    )


def _labelled(base: KnowledgeBase, members: pl.DataFrame) -> pl.DataFrame:
    return base.table(
        """
        SELECT text AS question, label AS concept
        FROM members JOIN base.concepts ON id = members.concept ORDER BY text, label""",
        members=members,
    )


def _by_part(base: KnowledgeBase, members: pl.DataFrame) -> pl.DataFrame:
    return base.table(
        """
        SELECT DISTINCT text AS question, part, label AS concept
        FROM members JOIN base.concepts ON id = members.concept ORDER BY text, part, label""",
        members=members.select("text", "part", "concept"),
    )


def _topics(
    base: KnowledgeBase,
    topics: Sequence[str | None],
    words: Words,
    options: BackgroundOptions,
) -> pl.DataFrame:
    """Return the concepts found in each question's topic (a word such as "bank")."""
    parts = words.parts([topic or "" for topic in topics])
    found = concepts_in(base, [[part] for part in parts], options).filter("counts")
    return _by_part(base, found).select("question", "concept")


def _found(facts: pl.DataFrame, questions: int) -> pl.DataFrame:
    """Return each question's number of facts before the maximum ``cap`` is applied."""
    counts = facts.group_by("text").agg(pl.col("found").first())
    return (
        pl.DataFrame({"question": range(questions)}, {"question": pl.Int32})
        .join(counts, left_on="question", right_on="text", how="left", maintain_order="left")
        .with_columns(pl.col("found").fill_null(0))
    )


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
        .sort("question", "concept")
        .group_by("question", maintain_order=True)
        .agg(pl.col("zipf").mean())
    )
    rows = pl.DataFrame({"question": pl.Series(range(questions), dtype=means["question"].dtype)})
    return rows.join(means, on="question", how="left", maintain_order="left")["zipf"]
