"""Create a negative (false version) of each fact."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import polars as pl

from tacit.knowledge.base import KnowledgeBase, relation_sets
from tacit.knowledge.options import BackgroundOptions
from tacit.knowledge.words import parts_of_speech

# Draws per round and fact; only a head that is joined to most candidates needs more.
_TRIES = 8
_ROUNDS = 4
_BITS = 64

# What a matched tail shares with the fact's own tail, in the order in which conditions are dropped.
# SQL conditions on the candidate c and the fact w.
CONDITIONS = {
    "part_of_speech": "c.part_of_speech = w.part_of_speech",
    "words": "c.words = w.words",
    "frequency": "abs(c.zipf - w.zipf) <= 50",
    "degree": "c.degree <= 2 * w.degree AND w.degree <= 2 * c.degree",
}
# A frequency is compared in hundredths of the Zipf scale, wordfreq's precision.
_LEAST_FREQUENCY = 1e-9
# Number of facts per query of matched tails; bounds the memory.
_FACTS = 5_000


def negatives(
    base: KnowledgeBase, facts: pl.DataFrame, options: BackgroundOptions | None = None
) -> pl.DataFrame:
    """Draw a new tail for each fact; the fact with the new tail (its negative) is false."""
    options = options or BackgroundOptions()
    waiting = _asked(base, facts)
    found = [_none().with_columns(relaxed=pl.lit(None, pl.Int8))]
    if options.negatives == "matched":
        found += _matched(base, waiting, options.seed)
        waiting = waiting.join(pl.concat(found), on="fact", how="anti")
    dropped = len(CONDITIONS) if options.negatives == "matched" else None
    rest = _drawn(base, waiting, _pool(base, waiting, options), options.seed)
    found.append(rest.with_columns(relaxed=pl.lit(dropped, pl.Int8)))
    return (
        facts.with_columns(fact=pl.int_range(pl.len()))
        .join(pl.concat(found), on="fact", how="left", maintain_order="left")
        .drop("fact")
    )


def _none() -> pl.DataFrame:
    return pl.DataFrame(schema={"fact": pl.Int64, "negative": pl.Int32})


def _asked(base: KnowledgeBase, facts: pl.DataFrame) -> pl.DataFrame:
    """Return each fact with its index, its text, and whether its relation is symmetric."""
    return base.table(
        """
        SELECT f.fact, f.head, f.relation, f.tail,
            r.name IN (SELECT name FROM either_way) AS symmetric,
            concat_ws(chr(9), h.label, r.name, t.label) AS text
        FROM facts f JOIN base.concepts h ON h.id = f.head JOIN base.concepts t ON t.id = f.tail
            JOIN base.relations r ON r.id = f.relation
        ORDER BY fact""",
        facts=facts.select("head", "relation", "tail", fact=pl.int_range(pl.len())),
        either_way=pl.DataFrame({"name": relation_sets()["symmetric"]}),
    )


def _pool(base: KnowledgeBase, asked: pl.DataFrame, options: BackgroundOptions) -> pl.DataFrame:
    """Return the tails that can be drawn, with their relations if the preset is not ``uniform``."""
    if options.negatives == "uniform":
        return base.table(
            "SELECT id AS negative FROM base.concepts WHERE dictionary "
            f"ORDER BY frequency DESC, label LIMIT {options.frequent:d}"
        )
    return base.table(
        """
        SELECT relation, other AS negative FROM base.neighbours
        WHERE forward AND relation IN (SELECT relation FROM asked)
        ORDER BY relation, other, concept""",
        asked=asked,
    )


def _drawn(
    base: KnowledgeBase, waiting: pl.DataFrame, pool: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Draw a random tail for each fact, so that the fact with this tail is false."""
    waiting = _located(waiting, pool)
    found = [_none()]
    for attempt in range(0, _TRIES * _ROUNDS, _TRIES):
        if waiting.is_empty():
            break
        found.append(_first_possible(base, _draws(waiting, pool, seed, attempt)))
        waiting = waiting.join(found[-1], on="fact", how="anti")
    if not waiting.is_empty():
        found.append(_of_all_possible(base, waiting, pool, seed))
    return pl.concat(found)


def _located(waiting: pl.DataFrame, pool: pl.DataFrame) -> pl.DataFrame:
    """Add the columns ``start`` and ``size``: each fact's range of rows in the table ``pool``."""
    if "relation" not in pool.columns:
        whole = waiting.with_columns(start=pl.lit(0), size=pl.lit(pool.height))
        return whole.filter(pl.col("size") > 0)
    rows = pool.with_row_index("start").group_by("relation")
    sizes = rows.agg(pl.col("start").min().cast(pl.Int64), size=pl.len().cast(pl.Int64))
    return waiting.join(sizes, on="relation", maintain_order="left")


def _draws(waiting: pl.DataFrame, pool: pl.DataFrame, seed: int, attempt: int) -> pl.DataFrame:
    """Return ``_TRIES`` random tails for each fact, one row per tail."""
    rows = [
        start + _below(size, seed, words, attempt + k)
        for words, start, size in waiting.select("text", "start", "size").iter_rows()
        for k in range(_TRIES)
    ]
    each = waiting.select(*_ASKED).select(pl.all().repeat_by(_TRIES).explode())
    return each.with_columns(pool["negative"].gather(rows), attempt=pl.int_range(pl.len()) % _TRIES)


def _first_possible(base: KnowledgeBase, draws: pl.DataFrame) -> pl.DataFrame:
    """Choose for each fact the first drawn tail that is not connected with the fact's head."""
    return base.table(
        f"""
        SELECT fact, arg_min(negative, attempt) AS negative FROM draws d
        WHERE negative <> head AND NOT {_EDGE} GROUP BY fact ORDER BY fact""",
        draws=draws,
    )


def _of_all_possible(
    base: KnowledgeBase, waiting: pl.DataFrame, pool: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Draw a negative for each fact from all tails that form no edge with the fact's head."""
    shared = "USING (relation)" if "relation" in pool.columns else "ON true"
    possible = base.table(
        f"""
        SELECT fact, list(negative ORDER BY negative) AS possible
        FROM (SELECT * FROM waiting JOIN pool {shared}) d
        WHERE negative <> head AND NOT {_EDGE} GROUP BY fact""",
        waiting=waiting,
        pool=pool,
    )
    words = dict(waiting.select("fact", "text").iter_rows())
    drawn = [
        (fact, choice[_below(len(choice), seed, words[fact], _TRIES * _ROUNDS)])
        for fact, choice in possible.iter_rows()
    ]
    return pl.DataFrame(drawn, {"fact": pl.Int64, "negative": pl.Int32}, orient="row")


def _matched(base: KnowledgeBase, asked: pl.DataFrame, seed: int) -> Iterator[pl.DataFrame]:
    """Yield negatives that meet all ``CONDITIONS``, then negatives that meet fewer of them."""
    tails = base.table(
        """
        SELECT DISTINCT relation, other AS concept FROM base.neighbours
        WHERE forward AND relation IN (SELECT relation FROM asked)""",
        asked=asked,
    )
    known = attributes(base, tails)
    waiting = asked.join(known, left_on=("relation", "tail"), right_on=("relation", "concept"))
    for dropped in range(len(CONDITIONS)):
        conditions = " AND ".join([*CONDITIONS.values()][dropped:])
        found = [
            _one_of(part, _candidates(base, part, known, conditions), seed)
            for part in waiting.iter_slices(_FACTS)
        ]
        for part in found:
            yield part.with_columns(relaxed=pl.lit(dropped, pl.Int8))
            waiting = waiting.join(part, on="fact", how="anti")


def _candidates(
    base: KnowledgeBase, facts: pl.DataFrame, known: pl.DataFrame, conditions: str
) -> pl.DataFrame:
    """Return possible tails of each fact's negative under ``conditions``, one per row."""
    return base.table(
        f"""
        SELECT fact, negative, as_tail FROM (
            SELECT w.fact, w.head, w.relation, w.symmetric, c.concept AS negative, c.as_tail
            FROM facts w JOIN known c ON c.relation = w.relation AND {conditions}) d
        WHERE negative <> head AND NOT {_EDGE} ORDER BY fact, negative""",
        facts=facts,
        known=known,
    )


def _one_of(facts: pl.DataFrame, candidates: pl.DataFrame, seed: int) -> pl.DataFrame:
    """Draw a tail for each negative; a tail's weight is the number of facts with that tail."""
    totals = candidates.group_by("fact").agg(total=pl.col("as_tail").sum())
    sizes = facts.select("fact", "text").join(totals, on="fact", maintain_order="left")
    numbers = [(fact, _below(total, seed, words, 0)) for fact, words, total in sizes.iter_rows()]
    drawn = pl.DataFrame(numbers, {"fact": pl.Int64, "number": pl.Int64}, orient="row")
    reached = pl.col("as_tail").cum_sum().over("fact") > pl.col("number")
    return (
        candidates.join(drawn, on="fact", maintain_order="left")
        .filter(reached)
        .unique("fact", keep="first", maintain_order=True)
        .select("fact", "negative")
    )


# SQL condition: the draw d is an edge of the knowledge base.
_EDGE = """EXISTS (FROM base.neighbours n WHERE n.concept = d.head AND n.relation = d.relation
    AND n.other = d.negative AND (n.forward OR d.symmetric))"""


# The columns of `_asked` that `_EDGE` reads, with the fact's index.
_ASKED = ("fact", "head", "relation", "symmetric")


def _below(size: int, seed: int, words: str, attempt: int) -> int:
    """Return a reproducible pseudo-random integer from 0 to ``size`` - 1."""
    text = f"{seed}\t{attempt}\t{words}".encode()
    number = int.from_bytes(hashlib.blake2b(text, digest_size=_BITS // 8).digest(), "big")
    return (number * size) >> _BITS


def attributes(base: KnowledgeBase, tails: pl.DataFrame) -> pl.DataFrame:
    """Return attributes of tails, such as the word frequency, for each relation and tail."""
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
    known = {label: parts_of_speech(label) for label in labels}
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


def tails_of(base: KnowledgeBase, drawn: pl.DataFrame, *, own: bool) -> pl.DataFrame:
    """Return attributes of the tails of facts and negatives.

    A count of facts leaves out the fact itself and, if a negative's tail is the tail of its ``own``
    other fact, this other fact.
    """
    ends = pl.concat(
        drawn.select("head", "relation", "tail", concept=end, is_negative=pl.lit(end == "negative"))
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
