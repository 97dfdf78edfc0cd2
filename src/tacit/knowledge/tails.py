"""Compute attributes of tails that do not depend on a fact's head.

The attributes are used to match negatives with facts, and as predictors of the no-knowledge
baseline (METHODS section 4, "Negatives").
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
    """Return the attributes of concepts, each as the tail of a given relation.

    Args:
        base: The knowledge base.
        tails: Table with the columns ``relation`` and ``concept`` (identifiers), one row per pair.

    Returns:
        Table with the columns ``relation``, ``concept``, ``words``, ``characters``, ``zipf``,
        ``part_of_speech``, ``degree`` and ``as_tail``, sorted by relation and concept. ``words``
        and ``characters`` are the label's numbers of words and of characters. ``zipf`` is the
        label's frequency on the Zipf scale in hundredths, or 0 if unknown. ``part_of_speech`` is
        described in ``Words.parts_of_speech``. ``degree`` is the number of facts with the concept.
        ``as_tail`` is the number of the relation's facts that have the concept as tail.
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

    The counts ``degree`` and ``as_tail`` exclude the fact from which a tail was drawn. A count that
    included the fact from which the tail was drawn would reveal which tails belong to facts,
    because the tail of a fact always has at least one fact, the fact itself. The counts for a
    fact's own tail exclude the fact itself. The counts for a negative that is the tail of another
    fact (presets ``same-relation`` and ``matched``) exclude the other fact. If a fact were excluded
    only from the counts for the tails of facts, every count for a negative would be too large by
    one. The counts for a negative drawn from dictionary words (preset ``uniform``) exclude no fact.

    Args:
        base: The knowledge base.
        drawn: Table with the columns ``head``, ``relation``, ``tail`` and ``negative``
            (identifiers), one row per fact.
        own: Number of facts to exclude from the counts of a negative: 1 if negatives are tails of
            other facts, 0 if negatives are dictionary words.

    Returns:
        Table with the columns ``head``, ``relation``, ``tail``, ``is_negative``, ``words``,
        ``characters``, ``frequency``, ``part_of_speech``, ``degree`` and ``as_tail``. ``head``,
        ``relation`` and ``tail`` are the labels of the fact. ``is_negative`` states whether the row
        describes the negative's tail. ``frequency`` is on the Zipf scale. Each fact has two rows,
        or one row if it has no negative.
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
