"""Compute attributes of a fact's tail that are independent of the fact's head.

The attributes of tails (second concepts of facts) are used to draw negatives (false facts) that
resemble facts. The no-knowledge baseline uses a tail's attributes, such as its word frequency, to
predict whether the tail belongs to a fact or a negative (METHODS section 4, "Negatives").
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
    """Return attributes of tails, such as the word frequency, for each relation and tail.

    A tail is the second concept of a fact.

    Args:
        base: The knowledge base.
        tails: Table with the columns ``relation`` and ``concept`` (identifiers), one row per pair.

    Returns:
        Table with the columns ``relation``, ``concept``, ``words``, ``characters``, ``zipf``,
        ``part_of_speech``, ``degree`` and ``as_tail``, sorted by relation and concept. ``words``
        and ``characters`` are the numbers of words and characters of the concept's label. ``zipf``
        is 100 times the Zipf frequency of the concept's label, rounded to an integer, or 0 if the
        frequency is unknown. ``part_of_speech`` is the result of ``Words.parts_of_speech`` for the
        concept's label. ``degree`` is the number of facts that contain the concept as head or tail.
        ``as_tail`` is the number of facts that have the relation ``relation`` and the tail
        ``concept``.
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
    """Return attributes, such as the word frequency, of the tails of facts and negatives.

    A negative is a false fact, which results from replacing the tail (second concept) of a true
    fact.

    The counts ``degree`` and ``as_tail`` must not reveal whether a tail belongs to a fact or to a
    negative. For a fact's tail, the counts ``degree`` and ``as_tail`` exclude the fact itself. With
    the presets ``same-relation`` and ``matched``, the tail of a negative is taken from another
    fact, which is excluded from the tail's counts ``degree`` and ``as_tail``. With the preset
    ``uniform``, the tail of a negative is a random dictionary word, and the word's counts include
    all facts.

    Args:
        base: The knowledge base.
        drawn: Table with the columns ``head``, ``relation``, ``tail`` and ``negative``
            (identifiers), one row per fact.
        own: The number of facts to exclude from the counts ``degree`` and ``as_tail`` of a
            negative's tail: 0 for the preset ``uniform``, and 1 for the presets ``same-relation``
            and ``matched``.

    Returns:
        Table with two rows per fact, one for the fact's tail and one for the negative's tail. The
        columns are ``head``, ``relation``, ``tail``, ``is_negative``, ``words``, ``characters``,
        ``frequency``, ``part_of_speech``, ``degree`` and ``as_tail``. The columns ``head``,
        ``relation`` and ``tail`` contain the labels of the true fact, even in the row that
        describes the negative's tail. ``is_negative`` is true in the row that describes the
        negative's tail. ``frequency`` is the Zipf frequency of the tail that the row describes. A
        fact without a negative has only one row.
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
