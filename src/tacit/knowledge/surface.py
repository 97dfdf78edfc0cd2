"""Look up surface texts: sentences in the knowledge base that express a fact."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from tacit.knowledge.base import KnowledgeBase


def surface_texts(base: KnowledgeBase, facts: pl.DataFrame) -> pl.DataFrame:
    """Return each fact's surface text, in which ``[[`` and ``]]`` enclose each concept."""
    return base.table(
        """
        SELECT head, relation, tail, surface FROM (
            SELECT f.head, f.relation, f.tail, e.surface, e.weight
            FROM (SELECT DISTINCT head, relation, tail FROM facts) f
                JOIN base.concepts h ON h.label = f.head JOIN base.concepts t ON t.label = f.tail
                JOIN base.relations r ON r.name = f.relation
                JOIN base.edges e ON e.head = h.id AND e.relation = r.id AND e.tail = t.id
            WHERE e.surface IS NOT NULL)
        QUALIFY row_number() OVER (
            PARTITION BY head, relation, tail ORDER BY weight DESC NULLS LAST, surface) = 1
        ORDER BY head, relation, tail""",
        facts=facts.select("head", "relation", "tail"),
    )
