"""Find which concepts of a knowledge base a text contains."""

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
    base: KnowledgeBase, texts: Sequence[Sequence[Part]], options: BackgroundOptions | None = None
) -> pl.DataFrame:
    """Find the concepts of the knowledge base that occur in each text."""
    options = options or BackgroundOptions()
    counted, words = _OF[options.overlap]
    return base.table(
        f"""
        WITH {_OVERLAPPING.format(counted=counted, words=words)}, {_VERBATIM},
        found AS (
            SELECT text, part, concept, true AS by_lemmas, false AS verbatim
            FROM overlapping JOIN bags USING (bag)
            UNION ALL
            SELECT text, part, concept, false, true FROM contained JOIN lines USING (line))
        SELECT text, part, concept, bool_or(by_lemmas) AS by_lemmas, bool_or(verbatim) AS verbatim,
            bool_or(by_lemmas) OR {options.verbatim == "on"} AS counts
        FROM found GROUP BY text, part, concept ORDER BY text, part, concept""",
        **_tables(texts, pooled=options.parts == "pooled"),
    )


def _tables(texts: Sequence[Sequence[Part]], *, pooled: bool) -> dict[str, pl.DataFrame]:
    """Return the tables ``lines``, ``tokens``, ``lemmas`` and ``bags`` of the given texts."""
    parts = [(text, n, part) for text, parts in enumerate(texts) for n, part in enumerate(parts)]
    lines = pl.DataFrame(
        {
            "line": range(len(parts)),
            "text": [text for text, _, _ in parts],
            "part": [n for _, n, _ in parts],
            "words": [part.text for _, _, part in parts],
        },
        {**dict.fromkeys(("line", "text", "part"), pl.Int32), "words": pl.String},
    )
    tokens = pl.DataFrame(
        {
            "line": [line for line, (_, _, one) in enumerate(parts) for _ in one.starts],
            "start": [start for _, _, one in parts for start in one.starts],
            "stop": [stop for _, _, one in parts for stop in one.ends],
        },
        dict.fromkeys(("line", "start", "stop"), pl.Int32),
    )
    lemmas = pl.DataFrame(
        {
            "line": [line for line, (_, _, one) in enumerate(parts) for _ in one.lemmas],
            "lemma": [lemma for _, _, one in parts for lemma in sorted(one.lemmas)],
        },
        {"line": pl.Int32, "lemma": pl.String},
    )
    bags = lines.select("text", "part", bag="line")
    bag_lemmas = lemmas.select("lemma", bag="line")
    if pooled:
        bags = lines.select("text", part=pl.lit(None, pl.Int32), bag="text").unique()
        bag_lemmas = lemmas.join(lines, on="line").select("lemma", bag="text").unique()
    return {"lines": lines, "tokens": tokens, "bags": bags, "lemmas": bag_lemmas}


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
