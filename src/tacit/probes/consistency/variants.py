"""Results by the prompt variant and the method that answer (Sahu et al. 2022, Figure 6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency import answer_tables
from tacit.probes.consistency.answers import Method, yes_or_no
from tacit.probes.consistency.background import by_anchor, mean_of
from tacit.probes.consistency.tables import TABLES
from tacit.statistics.ranking import average_precision, chance_level, lift

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import polars as pl

    from tacit.probes.consistency.answers import Preset
    from tacit.probes.consistency.questions import Asked

SHARES = ("positive_accuracy", "negative_accuracy", "background_score")


def background_variants(scores: pl.DataFrame, asked: Asked, right: pl.Series) -> pl.DataFrame:
    """Compute the results of each method of answering background questions."""
    return TABLES["background_variants"].frame(
        _row(how, scores, asked, right) for how in _methods(scores)
    )


def _methods(scores: pl.DataFrame) -> Iterator[Method]:
    """Yield the methods that combine prompts, and each prompt variant alone."""
    alone = scores.select("meta", "pair").unique(maintain_order=True)
    together: tuple[Preset, ...] = ("max", "count", "calibrated")
    if "unparsed" in scores.columns:
        together = ("votes", "count")
    yield from map(Method, together if alone.height > 1 else ())
    for meta, pair in alone.iter_rows():
        first, _, second = pair.partition("/")
        yield Method("single", meta, (first, second))


def _row(
    how: Method, scores: pl.DataFrame, asked: Asked, right: pl.Series
) -> Mapping[str, str | float | None]:
    found = yes_or_no(scores, how)
    by = by_anchor(asked.links, answer_tables.facts(asked.facts, found))
    by = by.with_columns(right=right.gather(by["anchor"])).drop_nulls("background_score")
    both = by.drop_nulls("right")
    of, score = both["right"].to_numpy(), both["background_score"].to_numpy()
    precision, chance = average_precision(of, score), chance_level(of, score)
    return {
        "preset": how.preset,
        "meta": how.meta,
        "pair": how.label,
        "n": by.height,
        **{name: mean_of(by[name]) for name in SHARES},
        "consistency": precision,
        "chance": chance,
        "lift": lift(precision, chance),
        "missing": found["yes"].null_count(),
        "tied": int(found["tied"].sum()),
    }
