"""A negative for each fact: another tail that makes it false (METHODS section 1, "Negatives").

The tail is drawn from the frequent dictionary words of the knowledge base. It is not the head, and
the resulting fact is not an edge of the knowledge base. The draw depends only on the seed and the
fact, so a fact has the same negative everywhere.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.knowledge.base import relation_sets

if TYPE_CHECKING:
    import polars as pl

    from tacit.knowledge.base import KnowledgeBase

# Draws per round and fact; only a head that is joined to most candidates needs more.
_TRIES = 8
_ROUNDS = 4
_BITS = 64
_MOST = 1_000_000_000


@dataclass(frozen=True)
class Draw:
    """How negatives are drawn.

    Args:
        seed: The seed of the draws.
        frequent: Number of most frequent dictionary words to draw from. Words of equal frequency
            are sorted alphabetically.

    Raises:
        RequestError: ``frequent`` is out of range.
    """

    seed: int = 0
    frequent: int = 10_000

    def __post_init__(self) -> None:
        if not 1 <= self.frequent <= _MOST:
            raise RequestError(
                f"cannot draw negatives from the {self.frequent} most frequent words; expected 1 "
                f"to {_MOST:,}"
            )


def eligible(base: KnowledgeBase) -> int:
    """Return the number of concepts that are dictionary words, from which negatives are drawn."""
    found: int = base.about["dictionary_words"]
    return found


def negatives(base: KnowledgeBase, facts: pl.DataFrame, draw: Draw | None = None) -> pl.DataFrame:
    """Draw a negative for each fact.

    Args:
        base: The knowledge base. A negative must not be an edge of it, in either direction for a
            symmetric relation.
        facts: ``head``, ``relation`` and ``tail`` (identifiers), each fact once.
        draw: How to draw; the defaults if None.

    Returns:
        The facts with ``negative``, the identifier of the new tail. It is drawn uniformly from all
        possible tails and is null if there is none.
    """
    import polars as pl

    draw = draw or Draw()
    pool = base.table(
        "SELECT id AS negative FROM base.concepts WHERE dictionary "
        f"ORDER BY frequency DESC, label LIMIT {draw.frequent:d}"
    )
    waiting = _asked(base, facts)
    found = [pl.DataFrame(schema={"fact": pl.Int64, "negative": pl.Int32})]
    for attempt in range(0, _TRIES * _ROUNDS, _TRIES):
        if pool.is_empty() or waiting.is_empty():
            break
        found.append(_first_possible(base, _draws(waiting, pool, draw.seed, attempt)))
        waiting = waiting.join(found[-1], on="fact", how="anti")
    if not (pool.is_empty() or waiting.is_empty()):
        found.append(_of_all_possible(base, waiting, pool, draw.seed))
    return (
        facts.with_columns(fact=pl.int_range(pl.len()))
        .join(pl.concat(found), on="fact", how="left", maintain_order="left")
        .drop("fact")
    )


def _asked(base: KnowledgeBase, facts: pl.DataFrame) -> pl.DataFrame:
    """Return the facts with their index, their text, and whether their relation is symmetric."""
    import polars as pl

    return base.table(
        """
        SELECT f.fact, f.head, f.relation, r.name IN (SELECT name FROM either_way) AS symmetric,
            concat_ws(chr(9), h.label, r.name, t.label) AS words
        FROM facts f JOIN base.concepts h ON h.id = f.head JOIN base.concepts t ON t.id = f.tail
            JOIN base.relations r ON r.id = f.relation
        ORDER BY fact""",
        facts=facts.select("head", "relation", "tail", fact=pl.int_range(pl.len())),
        either_way=pl.DataFrame({"name": relation_sets()["symmetric"]}),
    )


def _draws(waiting: pl.DataFrame, pool: pl.DataFrame, seed: int, attempt: int) -> pl.DataFrame:
    """Return the next few draws of each fact, one row per draw."""
    import polars as pl

    numbers = [
        (_number(seed, words, attempt + k) * pool.height) >> _BITS
        for words in waiting["words"]
        for k in range(_TRIES)
    ]
    each = waiting.drop("words").select(pl.all().repeat_by(_TRIES).explode())
    return each.with_columns(
        pool["negative"].gather(numbers), attempt=pl.int_range(pl.len()) % _TRIES
    )


def _first_possible(base: KnowledgeBase, draws: pl.DataFrame) -> pl.DataFrame:
    """Return the first draw of each fact that is not an edge, for facts that have such a draw."""
    return base.table(
        f"""
        SELECT fact, arg_min(negative, attempt) AS negative FROM draws d
        WHERE negative <> head AND NOT {_EDGE} GROUP BY fact ORDER BY fact""",
        draws=draws,
    )


def _of_all_possible(
    base: KnowledgeBase, waiting: pl.DataFrame, pool: pl.DataFrame, seed: int
) -> pl.DataFrame:
    """Draw from all tails that make no edge, for facts for which all earlier draws failed."""
    import polars as pl

    possible = base.table(
        f"""
        SELECT fact, list(negative ORDER BY negative) AS possible
        FROM (SELECT * FROM waiting, pool) d
        WHERE negative <> head AND NOT {_EDGE} GROUP BY fact""",
        waiting=waiting,
        pool=pool,
    )
    words = dict(waiting.select("fact", "words").iter_rows())
    drawn = [
        (fact, choice[(_number(seed, words[fact], _TRIES * _ROUNDS) * len(choice)) >> _BITS])
        for fact, choice in possible.iter_rows()
    ]
    return pl.DataFrame(drawn, {"fact": pl.Int64, "negative": pl.Int32}, orient="row")


# SQL condition: the draw d is an edge of the knowledge base.
_EDGE = """EXISTS (FROM base.neighbours n WHERE n.concept = d.head AND n.relation = d.relation
    AND n.other = d.negative AND (n.forward OR d.symmetric))"""


def _number(seed: int, words: str, attempt: int) -> int:
    """Return a reproducible pseudo-random number below 2 to the power of 64."""
    said = f"{seed}\t{attempt}\t{words}".encode()
    return int.from_bytes(hashlib.blake2b(said, digest_size=_BITS // 8).digest(), "big")
