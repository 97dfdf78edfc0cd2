"""Find which concepts of a knowledge base a text contains (METHODS 1, "Concepts of an anchor")."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.knowledge.base import KnowledgeBase
    from tacit.knowledge.words import Part

Overlap = Literal["all-words", "content-words"]
Parts = Literal["separate", "pooled"]
Verbatim = Literal["on", "off"]

OVERLAPS: tuple[Overlap, ...] = get_args(Overlap)
PARTS: tuple[Parts, ...] = get_args(Parts)
VERBATIMS: tuple[Verbatim, ...] = get_args(Verbatim)

# The words of a label of which more than half must be in the text: SQL condition, count column.
_OF = {"all-words": ("true", "words"), "content-words": ("NOT stop", "content")}


@dataclass(frozen=True)
class Matching:
    """Rules that determine whether a text contains a concept of the knowledge base.

    Args:
        overlap: Which words of a concept's label count: all words (``all-words``), or only words
            that are not stop words (``content-words``). A text matches a concept by overlap if it
            contains more than half of those words of the concept's label that count. A word of the
            label matches a word of the text if the two words share a lemma.
        parts: Where the words of a concept must occur: within one part of a text, such as one
            choice of a question (``separate``), or anywhere in the text (``pooled``).
        verbatim: Whether the verbatim occurrence of a concept's label in a part of a text always
            counts as a match: ``on`` or ``off``.

    Raises:
        RequestError: If the value of ``overlap``, ``parts`` or ``verbatim`` is unknown.
    """

    overlap: Overlap = "all-words"
    parts: Parts = "separate"
    verbatim: Verbatim = "on"

    def __post_init__(self) -> None:
        for name, preset, known in (
            ("overlap", self.overlap, OVERLAPS),
            ("parts", self.parts, PARTS),
            ("verbatim", self.verbatim, VERBATIMS),
        ):
            if preset not in known:
                raise RequestError(f"unknown {name} {preset!r}; expected one of {', '.join(known)}")


def concepts_in(
    base: KnowledgeBase, texts: Sequence[Sequence[Part]], matching: Matching | None = None
) -> pl.DataFrame:
    """Find the concepts of the knowledge base that occur in each text.

    By default, a part of a text contains a concept if more than half of the concept's words share a
    lemma with a word of the part. Even if too few lemmas match, a concept is found if its label
    occurs verbatim in a part of a text, as one or more consecutive tokens. A concept that consists
    only of stop words is found only if its label occurs verbatim in the text. A concept whose label
    contains no word is never found.

    Args:
        base: The knowledge base.
        texts: The texts; each text is a list of parts. For example, the parts of an anchor question
            are the question itself and each of its choices.
        matching: The matching rules; None for the defaults.

    Returns:
        Table with the columns ``text``, ``part``, ``concept``, ``by_lemmas``, ``verbatim`` and
        ``counts``. ``text`` is the index of the text in ``texts``. ``part`` is the index of the
        part within the text, or null if the concept was found by pooling the lemmas of all parts.
        ``by_lemmas`` is true if the concept was found by its lemmas. ``verbatim`` is true if the
        concept's label was found verbatim. ``counts`` is false for a match that is ignored: the
        concept was found only verbatim, and the option ``verbatim`` is ``off``. The table has one
        row per combination of ``text``, ``part`` and ``concept``, and the rows are sorted by these
        three columns.
    """
    matching = matching or Matching()
    counted, words = _OF[matching.overlap]
    return base.table(
        f"""
        WITH {_OVERLAPPING.format(counted=counted, words=words)}, {_VERBATIM},
        found AS (
            SELECT text, part, concept, true AS by_lemmas, false AS verbatim
            FROM overlapping JOIN bags USING (bag)
            UNION ALL
            SELECT text, part, concept, false, true FROM contained JOIN lines USING (line))
        SELECT text, part, concept, bool_or(by_lemmas) AS by_lemmas, bool_or(verbatim) AS verbatim,
            bool_or(by_lemmas) OR {matching.verbatim == "on"} AS counts
        FROM found GROUP BY text, part, concept ORDER BY text, part, concept""",
        **_tables(texts, pooled=matching.parts == "pooled"),
    )


def pooled_only(
    base: KnowledgeBase, texts: Sequence[Sequence[Part]], found: pl.DataFrame, matching: Matching
) -> pl.DataFrame:
    """Find the concepts that match a whole text (all its parts together) but no single part.

    Args:
        base: The knowledge base.
        texts: The texts; each text is a list of parts. For example, the parts of an anchor question
            are the question itself and each of its choices.
        found: The table that ``concepts_in`` returns for ``texts`` and ``matching``.
        matching: The rules that determine whether a text contains a concept.

    Returns:
        Table with the columns ``text`` and ``concept``; its rows are in no particular order.
    """
    import polars as pl

    pooled = matching.parts == "pooled"
    counted, words = _OF[matching.overlap]
    tables = _tables(texts, pooled=not pooled)
    other = base.table(
        f"""
        WITH {_OVERLAPPING.format(counted=counted, words=words)}
        SELECT DISTINCT text, concept FROM overlapping JOIN bags USING (bag)""",
        **{name: tables[name] for name in ("bags", "lemmas")},
    )
    key = ["text", "concept"]
    inside = found.filter("counts").select(key).unique()
    if not pooled:
        return other.join(inside, on=key, how="anti")
    verbatim = found.filter(pl.col("counts") & pl.col("verbatim")).select(key)
    return inside.join(pl.concat([other, verbatim]), on=key, how="anti")


def _tables(texts: Sequence[Sequence[Part]], *, pooled: bool) -> dict[str, pl.DataFrame]:
    """Return the tables ``lines``, ``tokens``, ``lemmas`` and ``bags`` of the given texts.

    A bag is a set of lemmas. If ``pooled`` is false, the table ``bags`` has one bag of lemmas per
    part of a text, such as the question or one of its choices. If ``pooled`` is true, the table
    ``bags`` has one bag of lemmas per text, and its column ``part`` is null.
    """
    import polars as pl

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
