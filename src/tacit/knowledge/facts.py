"""Find the facts that connect a text's concepts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

if TYPE_CHECKING:
    from tacit.knowledge.base import KnowledgeBase

# Number of texts per query, by path length. Three hops can reach much of a knowledge base.
_TEXTS = {1: 100_000, 2: 200, 3: 20}


def facts_between(
    base: KnowledgeBase,
    concepts: pl.DataFrame,
    relations: Sequence[str],
    length: int = 1,
    cap: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Find the facts that connect the concepts of each text."""
    names = base.chosen(relations)
    texts = concepts["text"].unique(maintain_order=True).to_list()
    parts = [texts[i : i + _TEXTS[length]] for i in range(0, len(texts), _TEXTS[length])] or [[]]
    return pl.concat(
        base.table(
            f"""
            WITH {_CHOSEN}{_met(length) if length > 1 else _BETWEEN},
            counted AS (SELECT *, count(*) OVER (PARTITION BY text) AS found FROM facts),
            {"kept AS (FROM counted)" if cap is None else _capped(cap, seed)}
            SELECT text, head, relation, tail, length::TINYINT AS length, weight,
                found::INTEGER AS found
            FROM kept
            ORDER BY text, length, weight DESC NULLS LAST, head, relation, tail""",
            members=concepts.filter(pl.col("text").is_in(part)),
            named=pl.DataFrame({"name": names}),
        )
        for part in parts
    )


def _capped(cap: int, seed: int) -> str:
    """Return the SQL that limits the number of facts per text to ``cap``."""
    return f"""
        digests AS (
            SELECT head, relation, tail,
                md5(concat_ws(chr(9), '{seed:d}', h.label, r.name, t.label)) AS digest
            FROM (SELECT DISTINCT head, relation, tail FROM counted WHERE found > {cap:d}) f
                JOIN base.concepts h ON h.id = f.head JOIN base.concepts t ON t.id = f.tail
                JOIN base.relations r ON r.id = f.relation),
        kept AS (
            SELECT * FROM counted LEFT JOIN digests USING (head, relation, tail)
            QUALIFY row_number() OVER (
                PARTITION BY text ORDER BY weight DESC NULLS LAST, digest) <= {cap:d})"""


def _met(length: int) -> str:
    """Return the SQL that selects facts on paths between two concepts of a text."""
    steps = "".join((_REACHED, _NEXT)[: length - 1])
    legs = " UNION ALL ".join((_DIRECT, _TWO_HOPS, _THREE_HOPS)[:length])
    return f"""{steps},
        met AS (SELECT text, a, b, min(length) AS length FROM ({legs}) GROUP BY ALL),
        facts AS (
            SELECT text, n.concept AS head, n.relation, n.other AS tail, length, n.weight
            FROM met JOIN base.neighbours n ON n.concept = met.a AND n.other = met.b
            WHERE n.forward AND n.relation IN (SELECT id FROM chosen))"""


# The chosen relations. `named` and `members` are frames that `base.table` registers.
_CHOSEN = "chosen AS MATERIALIZED (SELECT id FROM base.relations JOIN named USING (name))"
# One hop. Edges between members of any text are selected first: a small part of the table.
_BETWEEN = """,
    near AS MATERIALIZED (
        SELECT concept AS head, relation, other AS tail, weight FROM base.neighbours
        WHERE forward AND concept IN (SELECT concept FROM members)
            AND other IN (SELECT concept FROM members) AND relation IN (SELECT id FROM chosen)),
    facts AS (
        SELECT m.text, head, relation, tail, 1 AS length, weight
        FROM members m JOIN near ON head = m.concept
            JOIN members o ON o.text = m.text AND o.concept = tail)"""
_DIRECT = """
    SELECT m.text, m.concept AS a, n.other AS b, 1 AS length
    FROM members m JOIN base.neighbours n ON n.concept = m.concept
        JOIN members o ON o.text = m.text AND o.concept = n.other
    WHERE n.relation IN (SELECT id FROM chosen)"""
# `steps`: one hop, from a text's concept u to x. `reached`: for each x, `near`, `near_sum`, and
# whether x is itself a concept of the text (`inside`).
_REACHED = """,
    steps AS MATERIALIZED (
        SELECT DISTINCT m.text, m.concept AS u, n.other AS x
        FROM members m JOIN base.neighbours n ON n.concept = m.concept
        WHERE n.relation IN (SELECT id FROM chosen)),
    reached AS MATERIALIZED (
        SELECT s.text, x, count(*) AS near, sum(u)::BIGINT AS near_sum,
            (any_value(m.concept) IS NOT NULL)::INTEGER AS inside
        FROM steps s LEFT JOIN members m ON m.text = s.text AND m.concept = s.x
        GROUP BY s.text, x)"""
_TWO_HOPS = """
    SELECT text, unnest([u, x]), unnest([x, u]), 2
    FROM steps JOIN reached USING (text, x) WHERE near > 1"""
# Edges {x, y} whose ends are both one hop away. `before` counts the text's concepts in N(x)
# without y, `beyond` those in N(y) without x. `…_sum` are the sums of their identifiers.
_NEXT = """,
    inner_links AS MATERIALIZED (
        SELECT DISTINCT x.text, x.x, y.x AS y,
            x.near - y.inside AS before, x.near_sum - y.inside * y.x AS before_sum,
            y.near - x.inside AS beyond, y.near_sum - x.inside * x.x AS beyond_sum
        FROM reached x JOIN base.neighbours n ON n.concept = x.x
            JOIN reached y ON y.text = x.text AND y.x = n.other
        WHERE n.relation IN (SELECT id FROM chosen) AND y.near > x.inside),
    onward AS (SELECT text, x, count(*) AS ways FROM inner_links GROUP BY text, x),
    single AS (SELECT text, x, beyond_sum AS u, count(*) AS ways FROM inner_links WHERE beyond = 1
        GROUP BY text, x, beyond_sum)"""
# The middle edges of three hops, then the first and last. Of the continuations from x, those that
# lead only back to u (`single`) and the one to y = u do not count.
_THREE_HOPS = """
    SELECT text, x, y, 3 FROM inner_links
    WHERE before > 0 AND NOT (before = 1 AND beyond = 1 AND before_sum = beyond_sum)
    UNION ALL
    SELECT s.text, unnest([s.u, s.x]), unnest([s.x, s.u]), 3
    FROM steps s JOIN onward w ON w.text = s.text AND w.x = s.x
        LEFT JOIN single o ON o.text = s.text AND o.x = s.x AND o.u = s.u
        LEFT JOIN inner_links b ON b.text = s.text AND b.x = s.x AND b.y = s.u
    WHERE w.ways - coalesce(o.ways, 0) - (b.y IS NOT NULL)::INTEGER > 0"""
