"""Find which concepts of a knowledge base an anchor question and its choices contain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from tacit.knowledge.base import KnowledgeBase
from tacit.knowledge.options import BackgroundOptions

if TYPE_CHECKING:
    from tacit.knowledge.words import Part

# The words of a label of which more than half must be in the text: SQL condition, count column.
_OF = {"all-words": ("true", "words"), "content-words": ("NOT stop", "content")}


def concepts_in(
    base: KnowledgeBase, anchors: Sequence[Sequence[Part]], options: BackgroundOptions | None = None
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


def _tables(anchors: Sequence[Sequence[Part]], *, pooled: bool) -> dict[str, pl.DataFrame]:
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
