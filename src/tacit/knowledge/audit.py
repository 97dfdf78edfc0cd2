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
    """The concepts and facts that were found for a set of questions."""

    texts: Sequence[Sequence[Part]]
    concepts: pl.DataFrame
    facts: pl.DataFrame
    relations: Sequence[str]


def audit(base: KnowledgeBase, found: Found, how: Extraction) -> pl.DataFrame:
    """Count the concepts and facts that the extraction rules may have found by mistake."""
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
    """Return a row that sums over all relations, followed by one row per relation."""
    import polars as pl

    named = facts.sort("relation").select("relation", pl.col(counted).alias("count"), "n")
    every = named.select(pl.lit(ALL).alias("relation"), pl.col("count", "n").sum())
    rows = pl.concat([every, named]).select(pl.lit(audited).alias("audited"), *_ROW[1:])
    return rows.cast(_schema())


def _by_pooling(
    base: KnowledgeBase, found: Found, only: pl.DataFrame, how: Extraction
) -> pl.DataFrame:
    """Count each relation's facts that are found only if question parts are pooled."""
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
    """Count, for each relation, all facts and two kinds of facts that may be mistakes."""
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
