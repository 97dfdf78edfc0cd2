"""Candidate sets (the words that a model ranks), and the chance levels of the rankings.

Among few candidates, a high reciprocal rank can be due to chance, so every rank-based measure is
reported with the number of candidates and the chance level.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from tacit.probes.assumptions.elicitation_measures import precisions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import polars as pl

    from tacit.probes.assumptions.elicitation import Eliciting
    from tacit.probes.assumptions.retrieval import Retrieval
    from tacit.requests import Ranking

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


def digests(
    retrieved: Iterable[tuple[Retrieval, Sequence[Ranking]]],
    elicited: tuple[Eliciting, Sequence[Ranking]],
) -> dict[str, dict[str, str | None]]:
    """The digest of each set of candidates, of retrieval by wording and of elicitation by relation.

    The digest is None if some of the candidates have no score in a prompt.
    """
    eliciting, rankings = elicited
    ranked = [
        ("retrieval", part.wording, part.vocabulary, ranking)
        for part, found in retrieved
        for ranking in found
    ]
    ranked += [
        (item.over, item.prompt.relation, eliciting.candidates(item), ranking)
        for item, ranking in zip(eliciting.items, rankings, strict=True)
    ]
    known: dict[str, dict[str, str | None]] = {"retrieval": {}}
    for part, of, words, ranking in ranked:
        sets = known.setdefault(part, {})
        lacking = ranking.missing > 0 and ranking.unranked is None
        sets[of] = None if lacking or sets.get(of, "") is None else words.digest
    return known
