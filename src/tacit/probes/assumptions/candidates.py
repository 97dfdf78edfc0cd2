"""Candidate sets (the words that a model ranks), and the chance levels of the rankings.

Among few candidates, a high reciprocal rank can be due to chance, so every rank-based measure is
reported with the number of candidates and the chance level.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tacit.probes.assumptions.elicitation_measures import precisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import polars as pl

    from tacit.probes.assumptions.elicitation import Eliciting
    from tacit.probes.assumptions.retrieval import Retrieval
    from tacit.requests import Ranking

RETRIEVAL, ELICITATION = "retrieval", "elicitation"

_PROMPT = ("relation", "preface", "over", "concept")
_DRAWS, _TAIL = 10_000, 0.025


@cache
def chance_mrr(candidates: int) -> float:
    """Return the expected reciprocal rank of a target whose rank is uniformly random."""
    return sum(1 / rank for rank in range(candidates, 0, -1)) / candidates


@cache
def chance_range(candidates: tuple[int, ...]) -> tuple[float, float]:
    """Return the range that contains the MRRs of 95 % of random rankings."""
    import numpy as np

    random = np.random.default_rng(0)
    total = np.zeros(_DRAWS)
    for size in sorted(candidates):
        total += 1 / random.integers(1, size + 1, _DRAWS)
    low, high = np.quantile(total / len(candidates), [_TAIL, 1 - _TAIL])
    return float(low), float(high)


def chance_precision(responses: int, candidates: int) -> float:
    """Return the expected average precision of a uniformly random ranking."""
    alone = chance_mrr(candidates)
    return alone if responses == 1 else alone + (responses - 1) / (candidates - 1) * (1 - alone)


def chance_of(candidates: pl.Series) -> pl.Series:
    """Return the reciprocal rank expected by chance for each number of candidates."""
    import polars as pl

    found = [chance_mrr(n) if n else None for n in candidates]
    return pl.Series("chance_mrr", found, pl.Float64)


def chance_precisions(elicitation: pl.DataFrame) -> pl.DataFrame:
    """Compute the chance level of each prompt's average precision."""
    import polars as pl

    found = precisions(elicitation)
    counts = found.select("responses", "candidates").iter_rows()
    chance = [chance_precision(m, n) if m else None for m, n in counts]
    return found.select(*_PROMPT, "candidates").with_columns(
        chance=pl.Series(chance, dtype=pl.Float64)
    )


def with_chance(by_relation: pl.DataFrame, elicitation: pl.DataFrame) -> pl.DataFrame:
    """Add the number of candidates and the chance level to a table of mean average precisions."""
    import polars as pl

    group = list(_PROMPT[:3])
    chance = (
        chance_precisions(elicitation)
        .group_by(group)
        .agg(pl.col("candidates").max(), chance_map=pl.col("chance").mean())
    )
    return by_relation.join(chance, on=group, how="left", maintain_order="left")


def candidate_sets(
    retrieved: Iterable[tuple[Retrieval, Sequence[Ranking]]],
    elicited: tuple[Eliciting, Sequence[Ranking]],
) -> pl.DataFrame:
    """Return a table of the candidate sets of a run, with one row per set."""
    import polars as pl

    schema = {
        **dict.fromkeys(("part", "of", "relation"), pl.String),
        **dict.fromkeys(("words", "missing"), pl.Int64),
        "digest": pl.String,
    }
    rows = [*_of_retrieval(retrieved), *_of_elicitation(*elicited)]
    return pl.DataFrame(rows, schema, orient="row")


def _of_retrieval(
    retrieved: Iterable[tuple[Retrieval, Sequence[Ranking]]],
) -> Iterator[tuple[str, str, None, int, int, str]]:
    for part, rankings in retrieved:
        words = part.vocabulary
        missing = max((one.missing for one in rankings if one.unranked is None), default=0)
        yield RETRIEVAL, part.wording, None, len(words), missing, words.digest


def _of_elicitation(
    part: Eliciting, rankings: Sequence[Ranking]
) -> Iterator[tuple[str, str, str, int, int, str]]:
    missing: dict[tuple[str, str], int] = {}
    words = {}
    for item, ranking in zip(part.items, rankings, strict=True):
        key = item.over, item.prompt.relation
        words[key] = part.candidates(item)
        lacking = ranking.missing if ranking.unranked is None else 0
        missing[key] = max(lacking, missing.get(key, 0))
    for key, among in words.items():
        yield ELICITATION, *key, len(among), missing[key], among.digest
