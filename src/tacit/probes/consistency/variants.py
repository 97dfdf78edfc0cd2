"""Results by the prompt variant and the method that answer (Sahu et al. 2022, Figure 6)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl

from tacit.probes.consistency import TABLES
from tacit.probes.consistency.answers import ModelAnswers, is_sampled, yes_or_no
from tacit.probes.consistency.background import ACCURACIES, YES, by_anchor, mean_of
from tacit.probes.consistency.options import Method, Preset
from tacit.statistics.ranking import average_precision, chance_level, lift


def background_variants(scores: pl.DataFrame, answered: ModelAnswers) -> pl.DataFrame:
    return TABLES["background_variants"].frame(
        _row(how, scores, answered) for how in _methods(scores)
    )


def _methods(scores: pl.DataFrame) -> Iterator[Method]:
    """Yield the methods that combine prompts, and each prompt variant alone."""
    alone = scores.select("meta", "pair").unique(maintain_order=True)
    together: tuple[Preset, ...] = ("max", "count", "calibrated")
    if is_sampled(scores):
        together = ("votes", "count")
    yield from map(Method, together if alone.height > 1 else ())
    for meta, pair in alone.iter_rows():
        yield Method("single", meta, pair)


def _row(how: Method, scores: pl.DataFrame, answered: ModelAnswers) -> dict[str, Any]:
    about_facts = yes_or_no(scores, how)
    asked = answered.answers_by_anchor.select("anchor", "expected", "question")
    answers = asked.join(about_facts, on="question", maintain_order="left")
    by = by_anchor(answers.with_columns(right=pl.col("yes") == YES)).drop_nulls("background_score")
    rights = answered.anchors.select("anchor", "right")
    both = by.join(rights, on="anchor", maintain_order="left").drop_nulls("right")
    of, score = both["right"].to_numpy(), both["background_score"].to_numpy()
    precision, chance = average_precision(of, score), chance_level(of, score)
    return {
        "preset": how.preset,
        "meta": how.meta,
        "pair": how.pair,
        "n": by.height,
        **{name: mean_of(by[name]) for name in (*ACCURACIES, "background_score")},
        "consistency": precision,
        "chance": chance,
        "lift": lift(precision, chance),
        "missing": about_facts["yes"].null_count(),
        "tied": int(about_facts["tied"].sum()),
    }
