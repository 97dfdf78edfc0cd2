"""Extract the background of questions: concepts, facts and false facts (negatives)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from tacit.errors import RequestError
from tacit.knowledge.concepts import Matching, concepts_in
from tacit.knowledge.facts import facts_between
from tacit.knowledge.negatives import CONDITIONS, Draw, eligible, negatives
from tacit.knowledge.tails import tails_of
from tacit.knowledge.words import Words
from tacit.strings import convert_strings, strings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.negatives import Preset


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
    negatives: Preset = "uniform"
    relaxed_negatives: Mapping[str, int] | None = None


def count(
    base: KnowledgeBase,
    concepts: pl.DataFrame,
    facts: pl.DataFrame,
    drawn: pl.DataFrame,
    how: Extraction,
) -> Counts:
    """Count the concepts, facts and negatives of an extraction."""
    import polars as pl

    by_text = concepts.group_by("text", "concept").agg(pl.col("by_lemmas", "counts").any())
    across, sharing = _joined(base, concepts.filter("counts"), facts)
    cut = facts.group_by("text").agg(beyond=pl.col("found").first() - pl.len().cast(pl.Int64))
    uniform = how.draw.preset == "uniform"
    words, frequency_cap = eligible(base), how.draw.frequent
    return Counts(
        question_concepts=by_text.filter("counts").height,
        verbatim_only_concepts=by_text.filter(~pl.col("by_lemmas")).height,
        question_facts=facts.height,
        facts_across_parts=None if how.matching.parts == "pooled" else across,
        facts_sharing_a_word=sharing,
        cap=how.cap,
        questions_beyond_cap=cut.filter(pl.col("beyond") > 0).height,
        facts_beyond_cap=int(cut["beyond"].sum()),
        eligible_negatives=words if uniform else None,
        frequency_cap=frequency_cap if uniform else None,
        negatives_beyond_cap=max(0, words - frequency_cap) if uniform else None,
        negatives=how.draw.preset,
        relaxed_negatives=_relaxed(drawn) if how.draw.preset == "matched" else None,
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


def counts_in_words(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield one sentence on omitted facts, if any, and one on false facts (negatives)."""
    if summary["facts_beyond_cap"]:
        yield (
            f"Questions with more facts than the cap of {summary['cap']:,}: "
            f"{summary['questions_beyond_cap']:,}; facts left out: "
            f"{summary['facts_beyond_cap']:,} (facts with the highest weights are included; a "
            "seeded hash breaks ties)"
        )
    yield _preset_in_words(summary)


def _preset_in_words(summary: Mapping[str, Any]) -> str:
    """Return a phrase that describes how the negatives were drawn."""
    preset = summary.get("negatives", "uniform")  # absent from runs before there were presets
    if preset == "uniform":
        return negatives_in_words(summary["eligible_negatives"], summary["frequency_cap"])
    if preset == "same-relation":
        return "Negatives: the tails of other facts of the same relation"
    relaxed = [(name.replace("_", " "), n) for name, n in summary["relaxed_negatives"].items()]
    dropped = ", then ".join(f"{name}: {n:,}" for name, n in relaxed)
    return (
        "Negatives: tails of the same relation that match the fact's tail in part of speech, "
        "number of words, frequency and degree; distinct facts without such a tail: "
        f"{sum(n for _, n in relaxed):,} (conditions dropped until there was one, {dropped})"
    )


def negatives_in_words(words: int, frequency_cap: int) -> str:
    """Return a phrase on how many words can be the second concept of a false fact."""
    if words > frequency_cap:
        used = (
            f"only the {frequency_cap:,} most frequent of them are used, which excludes "
            f"{words - frequency_cap:,}"
        )
    else:
        used = f"all of them are used, because the limit is {frequency_cap:,} words"
    return f"{words:,} words can replace the second concept of a fact to make a negative; {used}"


# Default maximum of facts per question for paths of several hops, which can yield thousands.
CAP = 200


@dataclass(frozen=True)
class Extraction:
    """Options for extracting the background of questions (METHODS section 1)."""

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
            "negatives": self.draw.preset,
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
    extraction: Extraction | None = None,
    *,
    topics: Sequence[str | None] | None = None,
    tails: bool = False,
) -> Background:
    """Extract the background of all questions in one pass."""
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
    own = 0 if how.draw.preset == "uniform" else 1
    counts = count(base, concepts, facts, drawn, how)
    if how.matching.parts == "pooled":
        concepts = concepts_in(base, texts, replace(how.matching, parts="separate"))
    return Background(
        _labelled(base, members),
        named,
        _found(facts, len(questions)),
        counts,
        _by_part(base, concepts.filter("counts")),
        None if topics is None else _topics(base, topics, how),
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


def _topics(base: KnowledgeBase, topics: Sequence[str | None], how: Extraction) -> pl.DataFrame:
    """Return the concepts found in each question's topic (a word such as "bank")."""
    parts = how.words.parts([topic or "" for topic in topics])
    found = concepts_in(base, [[part] for part in parts], how.matching).filter("counts")
    return _by_part(base, found).select("question", "concept")


def _found(facts: pl.DataFrame, questions: int) -> pl.DataFrame:
    """Return each question's number of facts before the maximum ``cap`` is applied."""
    import polars as pl

    counts = facts.group_by("text").agg(pl.col("found").first())
    return (
        pl.DataFrame({"question": range(questions)}, {"question": pl.Int32})
        .join(counts, left_on="question", right_on="text", how="left", maintain_order="left")
        .with_columns(pl.col("found").fill_null(0))
    )
