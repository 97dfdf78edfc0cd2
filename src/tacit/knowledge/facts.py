"""Find the concepts that an anchor question and its choices contain, and the facts between them."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.options import BackgroundOptions
from tacit.knowledge.words import TextPart

# The words of a label of which more than half must be in the text: SQL condition, count column.
_OF = {"all-words": ("true", "words"), "content-words": ("NOT stop", "content")}


def concepts_in(
    base: KnowledgeBase,
    anchors: Sequence[Sequence[TextPart]],
    options: BackgroundOptions | None = None,
) -> pl.DataFrame:
    """Find the concepts of the knowledge base that occur in each anchor's parts."""
    options = options or BackgroundOptions()
    counted, words = _OF[options.overlap]
    return base.table(
        f"""
        WITH {_OVERLAPPING.format(counted=counted, words=words)}, {_VERBATIM},
        found AS (
            SELECT anchor, part, concept, true AS by_lemmas, false AS verbatim
            FROM overlapping JOIN bags USING (bag)
            UNION ALL
            SELECT anchor, part, concept, false, true FROM contained JOIN lines USING (line))
        SELECT anchor, part, concept,
            bool_or(by_lemmas) AS by_lemmas, bool_or(verbatim) AS verbatim,
            bool_or(by_lemmas) OR {options.verbatim == "on"} AS counts
        FROM found GROUP BY anchor, part, concept ORDER BY anchor, part, concept""",
        **_tables(anchors, pooled=options.parts == "pooled"),
    )


def _tables(anchors: Sequence[Sequence[TextPart]], *, pooled: bool) -> dict[str, pl.DataFrame]:
    """Return the tables ``lines`` (the parts), ``tokens``, ``lemmas`` and ``bags``."""
    parts = pl.DataFrame(
        [
            (anchor, number, part.text, part.starts, part.ends, sorted(part.lemmas))
            for anchor, parts in enumerate(anchors)
            for number, part in enumerate(parts)
        ],
        _PARTS,
        orient="row",
    ).with_row_index("line")
    lines = parts.select("line", "anchor", "part", "words")
    lemmas = parts.select("anchor", "line", lemma="lemmas").explode("lemma").drop_nulls()
    if pooled:
        bags = lines.select("anchor", part=pl.lit(None, pl.Int32), bag="anchor").unique()
    else:
        bags = lines.select("anchor", "part", bag="line")
    return {
        "lines": lines,
        "tokens": parts.select("line", "start", "stop").explode("start", "stop").drop_nulls(),
        "bags": bags,
        "lemmas": lemmas.select("lemma", bag="anchor" if pooled else "line").unique(),
    }


_PARTS: dict[str, pl.DataType | type[pl.DataType]] = {
    "anchor": pl.Int32,
    "part": pl.Int32,
    "words": pl.String,
    "start": pl.List(pl.Int32),
    "stop": pl.List(pl.Int32),
    "lemmas": pl.List(pl.String),
}
# `hits` are the words of concepts that are in some bag, and `able` the concepts with enough of them
# over all bags. A word with two lemmas in a bag counts once. The costly distinct count per bag runs
# last, on few concepts.
_OVERLAPPING = """
        hits AS MATERIALIZED (
            SELECT lemma, concept, place, {words} AS counted FROM base.terms
            WHERE content > 0 AND {counted} AND lemma IN (SELECT lemma FROM lemmas)),
        able AS (
            SELECT concept FROM hits GROUP BY concept, counted
            HAVING 2 * count(DISTINCT place) > counted),
        few AS (FROM hits WHERE concept IN (SELECT concept FROM able)),
        likely AS (
            SELECT bag, concept FROM lemmas JOIN few USING (lemma)
            GROUP BY bag, concept, counted HAVING 2 * count(*) > counted),
        overlapping AS (
            SELECT bag, concept
            FROM likely JOIN lemmas USING (bag) JOIN few USING (lemma, concept)
            GROUP BY bag, concept, counted HAVING 2 * count(DISTINCT place) > counted)"""
# Compare labels with all spans of whole tokens that are no longer than the longest label.
_VERBATIM = """
        longest AS MATERIALIZED (SELECT max(length(label)) AS letters FROM base.concepts),
        contained AS (
            SELECT DISTINCT line, c.id AS concept
            FROM tokens a JOIN tokens b USING (line) JOIN lines USING (line), longest,
                base.concepts c
            WHERE b.stop > a.start AND b.stop <= a.start + letters AND c.words > 0
                AND lower(c.label) = substring(lines.words, a.start + 1, b.stop - a.start))"""

# Number of anchors per query, by path length. Three hops can reach much of a knowledge base.
_ANCHORS = {1: 100_000, 2: 200, 3: 20}


def facts_between(
    base: KnowledgeBase,
    concepts: pl.DataFrame,
    relations: Sequence[str],
    length: int = 1,
    cap: int | None = None,
    seed: int = 0,
) -> pl.DataFrame:
    """Find the facts that connect the concepts of each anchor."""
    anchors = concepts["anchor"].unique(maintain_order=True)
    parts = list(anchors.to_frame().iter_slices(_ANCHORS[length])) or [anchors.to_frame()]
    return pl.concat(
        base.table(
            f"""
            WITH {_CHOSEN}{_met(length) if length > 1 else _BETWEEN},
            counted AS (SELECT *, count(*) OVER (PARTITION BY anchor) AS found FROM facts),
            {"kept AS (FROM counted)" if cap is None else _capped(cap, seed)}
            SELECT anchor, head, relation, tail, length::TINYINT AS length, weight,
                found::INTEGER AS found
            FROM kept
            ORDER BY anchor, length, weight DESC NULLS LAST, head, relation, tail""",
            members=concepts.join(part, on="anchor", how="semi", maintain_order="left"),
            named=pl.DataFrame({"name": relations}),
        )
        for part in parts
    )


def _capped(cap: int, seed: int) -> str:
    """Return the SQL that limits the number of facts per anchor to ``cap``."""
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
                PARTITION BY anchor ORDER BY weight DESC NULLS LAST, digest) <= {cap:d})"""


def _met(length: int) -> str:
    """Return the SQL that selects facts on paths between two concepts of an anchor."""
    steps = "".join((_REACHED, _NEXT)[: length - 1])
    legs = " UNION ALL ".join((_DIRECT, _TWO_HOPS, _THREE_HOPS)[:length])
    return f"""{steps},
        met AS (SELECT anchor, a, b, min(length) AS length FROM ({legs}) GROUP BY ALL),
        facts AS (
            SELECT anchor, n.concept AS head, n.relation, n.other AS tail, length, n.weight
            FROM met JOIN base.neighbours n ON n.concept = met.a AND n.other = met.b
            WHERE n.forward AND n.relation IN (SELECT id FROM chosen))"""


# The chosen relations. `named` and `members` are frames that `base.table` registers.
_CHOSEN = "chosen AS MATERIALIZED (SELECT id FROM base.relations JOIN named USING (name))"
# One hop. Edges between members of any anchor are selected first: a small part of the table.
_BETWEEN = """,
    near AS MATERIALIZED (
        SELECT concept AS head, relation, other AS tail, weight FROM base.neighbours
        WHERE forward AND concept IN (SELECT concept FROM members)
            AND other IN (SELECT concept FROM members) AND relation IN (SELECT id FROM chosen)),
    facts AS (
        SELECT m.anchor, head, relation, tail, 1 AS length, weight
        FROM members m JOIN near ON head = m.concept
            JOIN members o ON o.anchor = m.anchor AND o.concept = tail)"""
_DIRECT = """
    SELECT m.anchor, m.concept AS a, n.other AS b, 1 AS length
    FROM members m JOIN base.neighbours n ON n.concept = m.concept
        JOIN members o ON o.anchor = m.anchor AND o.concept = n.other
    WHERE n.relation IN (SELECT id FROM chosen)"""
# `steps`: one hop, from an anchor's concept u to x. `reached`: for each x, `near`, `near_sum`, and
# whether x is itself a concept of the anchor (`inside`).
_REACHED = """,
    steps AS MATERIALIZED (
        SELECT DISTINCT m.anchor, m.concept AS u, n.other AS x
        FROM members m JOIN base.neighbours n ON n.concept = m.concept
        WHERE n.relation IN (SELECT id FROM chosen)),
    reached AS MATERIALIZED (
        SELECT s.anchor, x, count(*) AS near, sum(u)::BIGINT AS near_sum,
            (any_value(m.concept) IS NOT NULL)::INTEGER AS inside
        FROM steps s LEFT JOIN members m ON m.anchor = s.anchor AND m.concept = s.x
        GROUP BY s.anchor, x)"""
_TWO_HOPS = """
    SELECT anchor, unnest([u, x]), unnest([x, u]), 2
    FROM steps JOIN reached USING (anchor, x) WHERE near > 1"""
# Edges {x, y} whose ends are both one hop away. `before` counts the anchor's concepts in N(x)
# without y, `beyond` those in N(y) without x. `…_sum` are the sums of their identifiers.
_NEXT = """,
    inner_links AS MATERIALIZED (
        SELECT DISTINCT x.anchor, x.x, y.x AS y,
            x.near - y.inside AS before, x.near_sum - y.inside * y.x AS before_sum,
            y.near - x.inside AS beyond, y.near_sum - x.inside * x.x AS beyond_sum
        FROM reached x JOIN base.neighbours n ON n.concept = x.x
            JOIN reached y ON y.anchor = x.anchor AND y.x = n.other
        WHERE n.relation IN (SELECT id FROM chosen) AND y.near > x.inside),
    onward AS (SELECT anchor, x, count(*) AS ways FROM inner_links GROUP BY anchor, x),
    single AS (SELECT anchor, x, beyond_sum AS u, count(*) AS ways FROM inner_links WHERE beyond = 1
        GROUP BY anchor, x, beyond_sum)"""
# The middle edges of three hops, then the first and last. Of the continuations from x, those that
# lead only back to u (`single`) and the one to y = u do not count.
_THREE_HOPS = """
    SELECT anchor, x, y, 3 FROM inner_links
    WHERE before > 0 AND NOT (before = 1 AND beyond = 1 AND before_sum = beyond_sum)
    UNION ALL
    SELECT s.anchor, unnest([s.u, s.x]), unnest([s.x, s.u]), 3
    FROM steps s JOIN onward w ON w.anchor = s.anchor AND w.x = s.x
        LEFT JOIN single o ON o.anchor = s.anchor AND o.x = s.x AND o.u = s.u
        LEFT JOIN inner_links b ON b.anchor = s.anchor AND b.x = s.x AND b.y = s.u
    WHERE w.ways - coalesce(o.ways, 0) - (b.y IS NOT NULL)::INTEGER > 0"""
