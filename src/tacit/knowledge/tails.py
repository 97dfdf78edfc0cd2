"""Attributes of tails that do not depend on a fact's head.

They serve to match negatives with facts, and as the predictors of the no-knowledge baseline
(METHODS section 4, "Negatives").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.knowledge.words import Words

if TYPE_CHECKING:
    import polars as pl

    from tacit.knowledge.base import KnowledgeBase

# A frequency is compared in hundredths of the Zipf scale, wordfreq's precision.
_LEAST_FREQUENCY = 1e-9


def attributes(base: KnowledgeBase, tails: pl.DataFrame) -> pl.DataFrame:
    """Return the attributes of concepts as tails of relations.

    Args:
        base: The knowledge base.
        tails: ``relation`` and ``concept`` (identifiers), each pair once.

    Returns:
        ``relation``, ``concept``, ``words`` (their number), ``characters``, ``zipf`` (the frequency
        on the Zipf scale in hundredths; 0 if unknown), ``part_of_speech`` (see
        ``Words.parts_of_speech``), ``degree`` (number of facts with the concept) and ``as_tail``
        (number of facts of the relation with the concept as tail), sorted by relation and concept.
    """
    import polars as pl

    english = Words()
    found = base.table(
        """
        WITH counted AS (
            SELECT concept, relation, count(*) AS facts, count(*) FILTER (NOT forward) AS as_tail
            FROM base.neighbours WHERE concept IN (SELECT concept FROM tails) GROUP BY ALL),
        degrees AS (SELECT concept, sum(facts)::BIGINT AS degree FROM counted GROUP BY concept)
        SELECT relation, concept, label, words, frequency, coalesce(degree, 0) AS degree,
            coalesce(as_tail, 0) AS as_tail
        FROM tails JOIN base.concepts ON id = concept LEFT JOIN degrees USING (concept)
            LEFT JOIN counted USING (concept, relation)
        ORDER BY relation, concept""",
        tails=tails,
    )
    labels = found["label"].unique()
    known = {label: english.parts_of_speech(label) for label in labels}
    frequency = pl.max_horizontal("frequency", pl.lit(_LEAST_FREQUENCY))
    return found.select(
        "relation",
        "concept",
        "words",
        characters=pl.col("label").str.len_chars().cast(pl.Int64),
        zipf=(100 * (frequency.log10() + 9)).round().cast(pl.Int64),
        part_of_speech=pl.col("label").replace_strict(known, return_dtype=pl.String),
        degree="degree",
        as_tail="as_tail",
    )


def tails_of(base: KnowledgeBase, drawn: pl.DataFrame, *, own: int) -> pl.DataFrame:
    """Return the attributes of the tails of facts and of their negatives.

    The counts ``degree`` and ``as_tail`` leave out the fact through which a tail was drawn, since
    it would reveal the label: each tail of a fact has at least one fact, the fact itself. For a
    fact, it is this fact. For a negative that is the tail of another fact (``same-relation``,
    ``matched``), it is that other fact; leaving out one only for facts would mark every negative by
    a count that is larger by one. A negative drawn from all words has none to leave out.

    Args:
        base: The knowledge base.
        drawn: ``head``, ``relation``, ``tail`` and ``negative`` (identifiers), each fact once.
        own: Number of facts to leave out of the counts of a negative: 1 if negatives are tails of
            other facts, otherwise 0.

    Returns:
        ``head``, ``relation``, ``tail`` (labels of the fact), ``is_negative`` (whether the row
        describes the negative), ``words``, ``characters``, ``frequency`` (on the Zipf scale),
        ``part_of_speech``, ``degree`` and ``as_tail``. A fact without a negative has one row.
    """
    import polars as pl

    fact = ["head", "relation", "tail"]
    ends = pl.concat(
        drawn.select(*fact, concept=end, is_negative=pl.lit(end == "negative"))
        for end in ("tail", "negative")
    ).drop_nulls("concept")
    known = attributes(base, ends.select("relation", "concept").unique())
    return base.table(
        f"""
        SELECT h.label AS head, r.name AS relation, t.label AS tail, is_negative, known.words,
            characters, zipf / 100 AS frequency, part_of_speech,
            greatest(0, degree - left_out) AS degree, greatest(0, as_tail - left_out) AS as_tail
        FROM (SELECT *, CASE WHEN is_negative THEN {own:d} ELSE 1 END AS left_out FROM ends) e
            JOIN known USING (relation, concept)
            JOIN base.concepts h ON h.id = e.head JOIN base.concepts t ON t.id = e.tail
            JOIN base.relations r ON r.id = e.relation
        ORDER BY h.label, r.name, t.label, is_negative""",
        ends=ends,
        known=known,
    )
