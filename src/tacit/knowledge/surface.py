"""The surface text of facts: the sentences that people wrote or that a source generated."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl

    from tacit.knowledge.base import KnowledgeBase


def surface_texts(base: KnowledgeBase, facts: pl.DataFrame) -> pl.DataFrame:
    """Return the surface text of facts, with both concepts in double brackets.

    If several assertions of a fact have a text, the heaviest one's is returned, and among equally
    heavy ones the first in the order of the texts.

    Args:
        base: The knowledge base.
        facts: ``head``, ``relation`` and ``tail``, by name; repeated facts count once.

    Returns:
        ``head``, ``relation``, ``tail`` and ``surface``, sorted; facts without a text are left out.
    """
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
