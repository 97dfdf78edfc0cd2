"""Count the concepts and facts that the extraction rules may have found by mistake.

See METHODS section 1, "Concepts of an anchor". A concept or fact that is found in several questions
is counted once for each of the questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.knowledge.concepts import pooled_only
from tacit.knowledge.facts import facts_between

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.background import Extraction
    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.words import Part

ALL = "all"
"""The value of the column ``relation`` in the rows that sum over all relations."""

VERBATIM_CONCEPTS = "concepts found only verbatim"
POOLED_CONCEPTS = "concepts found only by pooling parts"
FACTS_ACROSS_PARTS = "facts between concepts of different parts"
FACTS_SHARING_A_WORD = "facts between concepts that share a word"
POOLED_FACTS = "facts found only by pooling parts"

_ROW = ("audited", "relation", "count", "n")


@dataclass(frozen=True)
class Found:
    """The concepts and facts that were found for a set of questions.

    Args:
        texts: The parts of each question: its text and its choices.
        concepts: The table that ``concepts_in`` returns.
        facts: The table that ``facts_between`` returns.
        relations: The names of the relations whose facts were extracted.
    """

    texts: Sequence[Sequence[Part]]
    concepts: pl.DataFrame
    facts: pl.DataFrame
    relations: Sequence[str]


def audit(base: KnowledgeBase, found: Found, how: Extraction) -> pl.DataFrame:
    """Count the concepts and facts that the extraction rules may have found by mistake.

    Args:
        base: The knowledge base.
        found: The concepts and facts that were extracted for the questions.
        how: The options for extracting concepts and facts for the questions.

    Returns:
        Table with the columns ``audited`` (one of this module's constants), ``relation`` (``all``
        or a relation's name), ``count``, ``n``, ``share`` and ``included``. In rows that count
        concepts (such as ``VERBATIM_CONCEPTS``), ``n`` is the number of all concepts found in the
        questions. In rows that count facts (such as ``FACTS_SHARING_A_WORD``), ``n`` is the number
        of all facts of the questions. Unless ``relation`` is ``all``, only facts with the row's
        relation are counted. ``share`` is ``count`` divided by ``n``. ``included`` is true if the
        extraction options ``how`` include the concepts or facts that the row counts, and false
        otherwise. In the rows ``FACTS_ACROSS_PARTS`` (facts between concepts of different parts),
        ``count`` is null if the option ``parts`` is ``pooled``, because the words of one concept
        may then come from different parts of a question. In the rows ``POOLED_FACTS`` (facts found
        only by pooling the parts of a question), ``count`` and ``n`` ignore the maximum number of
        facts per question. If the maximum path length is 2 or 3 hops, ``count`` and ``n`` are null
        for ``POOLED_FACTS``, because counting would be slow.
    """
    import polars as pl

    pooled = how.matching.parts == "pooled"
    only = pooled_only(base, found.texts, found.concepts, how.matching)
    by_text = found.concepts.group_by("text", "concept").agg(pl.col("by_lemmas", "counts").any())
    members = by_text.filter("counts")
    concepts = pl.DataFrame(
        [
            (VERBATIM_CONCEPTS, ALL, by_text.filter(~pl.col("by_lemmas")).height, by_text.height),
            (POOLED_CONCEPTS, ALL, only.height, members.height + (0 if pooled else only.height)),
        ],
        _schema(),
        orient="row",
    )
    included = {VERBATIM_CONCEPTS: how.matching.verbatim == "on"}
    included |= dict.fromkeys((POOLED_CONCEPTS, POOLED_FACTS), pooled)
    joined = _joined(base, found.concepts.filter("counts"), found.facts)
    across = _by_relation(FACTS_ACROSS_PARTS, joined, "across")
    facts = [
        across.with_columns(count=pl.lit(None, pl.Int64)) if pooled else across,
        _by_relation(FACTS_SHARING_A_WORD, joined, "sharing"),
        _by_pooling(base, found, only, how),
    ]
    return pl.concat([concepts, *facts]).with_columns(
        share=pl.when(pl.col("n") > 0).then(pl.col("count") / pl.col("n")),
        included=pl.col("audited").replace_strict(included, default=True, return_dtype=pl.Boolean),
    )


def total(table: pl.DataFrame, audited: str) -> int | None:
    """Return one count from the audit table, over all relations; None if it was not computed."""
    row = table.filter(audited=audited, relation=ALL)
    count: int | None = row["count"].item()
    return count


def _schema() -> pl.Schema:
    import polars as pl

    return pl.Schema(zip(_ROW, (pl.String, pl.String, pl.Int64, pl.Int64), strict=True))


def _by_relation(audited: str, facts: pl.DataFrame, counted: str) -> pl.DataFrame:
    """Return a row that sums over all relations, followed by one row per relation.

    Args:
        audited: The value of the column ``audited`` in the returned rows.
        facts: Table with one row per relation. The columns are ``relation`` (the name), ``n`` (the
            number of all facts with the relation), and one or more columns that count facts
            possibly found by mistake.
        counted: The name of the column that contains the counts.
    """
    import polars as pl

    named = facts.sort("relation").select("relation", pl.col(counted).alias("count"), "n")
    every = named.select(pl.lit(ALL).alias("relation"), pl.col("count", "n").sum())
    rows = pl.concat([every, named]).select(pl.lit(audited).alias("audited"), *_ROW[1:])
    return rows.cast(_schema())


def _by_pooling(
    base: KnowledgeBase, found: Found, only: pl.DataFrame, how: Extraction
) -> pl.DataFrame:
    """Count each relation's facts that are found only if question parts are pooled.

    The parts of a question are its text and its choices. If the parts of a question are pooled, the
    words of a concept may come from several parts.

    If the maximum path length is 2 or 3 hops, the number of facts is null, because counting the
    facts would double the extraction time.
    """
    import polars as pl

    if how.length > 1:
        return pl.DataFrame([(POOLED_FACTS, ALL, None, None)], _schema(), orient="row")
    key = ["text", "concept"]
    members = pl.concat([found.concepts.filter("counts").select(key), only.select(key)]).unique()
    facts = facts_between(base, members, found.relations)
    counts = base.table(
        """
        SELECT r.name AS relation, count(*) AS n,
            count(*) FILTER (h.concept IS NOT NULL OR t.concept IS NOT NULL) AS pooled
        FROM facts f JOIN base.relations r ON r.id = f.relation
            LEFT JOIN only_pooled h ON h.text = f.text AND h.concept = f.head
            LEFT JOIN only_pooled t ON t.text = f.text AND t.concept = f.tail
        GROUP BY r.name""",
        facts=facts.select("text", "head", "relation", "tail"),
        only_pooled=only,
    )
    return _by_relation(POOLED_FACTS, counts, "pooled")


def _joined(base: KnowledgeBase, members: pl.DataFrame, facts: pl.DataFrame) -> pl.DataFrame:
    """Count, for each relation, all facts and two kinds of facts that may be mistakes.

    A fact may be a mistake if no part of the question (its text or one choice) contains both
    concepts of the fact, or if the two concepts share a word.
    """
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
        SELECT r.name AS relation, count(*) AS n, count(apart.place) AS across,
            count(sharing.head) AS sharing
        FROM ends JOIN base.relations r ON r.id = ends.relation LEFT JOIN apart USING (place)
            LEFT JOIN sharing ON sharing.head = ends.head AND sharing.tail = ends.tail
        GROUP BY r.name""",
        ends=facts.select("text", "head", "relation", "tail").with_row_index("place"),
        members=members,
    )
