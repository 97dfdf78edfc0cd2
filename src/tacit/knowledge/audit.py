"""The audit of an extraction: counts of concepts and facts that its rules may find wrongly.

See METHODS section 1, "Concepts of an anchor". The counts are sums over the questions.
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
"""The name of the rows over all relations."""

VERBATIM_CONCEPTS = "concepts found only verbatim"
POOLED_CONCEPTS = "concepts found only by pooling parts"
FACTS_ACROSS_PARTS = "facts between concepts of different parts"
FACTS_SHARING_A_WORD = "facts between concepts that share a word"
POOLED_FACTS = "facts found only by pooling parts"

_ROW = ("audited", "relation", "count", "n")


@dataclass(frozen=True)
class Found:
    """What an extraction found.

    Args:
        texts: The parts of each question.
        concepts: The table that ``concepts_in`` returns.
        facts: The table that ``facts_between`` returns.
        relations: The relations of the facts.
    """

    texts: Sequence[Sequence[Part]]
    concepts: pl.DataFrame
    facts: pl.DataFrame
    relations: Sequence[str]


def audit(base: KnowledgeBase, found: Found, how: Extraction) -> pl.DataFrame:
    """Count the concepts and facts that the rules of an extraction may find wrongly.

    Args:
        base: The knowledge base.
        found: What the extraction found.
        how: The options of the extraction.

    Returns:
        ``audited`` (one of the constants of this module), ``relation`` (``all``, and for facts each
        relation), ``count`` (null if it is not counted: facts across parts if parts are pooled, and
        facts by pooling if paths have several hops), ``n`` (the number of concepts or facts,
        including these), ``share`` and ``included`` (whether these are part of the extraction).
        Facts by pooling are counted before the cap.
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
    """Return a count over all relations; None if it is not counted."""
    row = table.filter(audited=audited, relation=ALL)
    count: int | None = row["count"].item()
    return count


def _schema() -> pl.Schema:
    import polars as pl

    return pl.Schema(zip(_ROW, (pl.String, pl.String, pl.Int64, pl.Int64), strict=True))


def _by_relation(audited: str, facts: pl.DataFrame, counted: str) -> pl.DataFrame:
    """Return the rows of one count: over all relations, then for each.

    Args:
        audited: What is counted.
        facts: ``relation`` (its name), ``n`` and the counts, with a row per relation.
        counted: The column with the counts.
    """
    import polars as pl

    named = facts.sort("relation").select("relation", pl.col(counted).alias("count"), "n")
    every = named.select(pl.lit(ALL).alias("relation"), pl.col("count", "n").sum())
    rows = pl.concat([every, named]).select(pl.lit(audited).alias("audited"), *_ROW[1:])
    return rows.cast(_schema())


def _by_pooling(
    base: KnowledgeBase, found: Found, only: pl.DataFrame, how: Extraction
) -> pl.DataFrame:
    """Return the rows of the facts that have a concept which only pooling finds.

    Longer paths would double the time of the extraction, so their facts are not counted.
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
    """Count by relation the facts that join different parts, and concepts that share a word."""
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
