"""Compute attributes of a fact's tail that are independent of the fact's head."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.knowledge.words import Words

if TYPE_CHECKING:
    import polars as pl

    from tacit.knowledge.base import KnowledgeBase

# A frequency is compared in hundredths of the Zipf scale, wordfreq's precision.
_LEAST_FREQUENCY = 1e-9


def attributes(base: KnowledgeBase, tails: pl.DataFrame) -> pl.DataFrame:
    """Return attributes of tails, such as the word frequency, for each relation and tail."""
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
    """Return attributes, such as the word frequency, of the tails of facts and negatives."""
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
