"""Compute how much answers depend on the meta-prompt and on the pair of answer words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.probes.consistency import background_scores
from tacit.probes.consistency.answers import (
    Method,
)
from tacit.probes.consistency.background_scores import CorrectAnswers, mean_of
from tacit.statistics.permutation import chance_level, lift
from tacit.statistics.ranking import average_precision

if TYPE_CHECKING:
    from collections.abc import Iterator

    import polars as pl

    from tacit.probes.consistency.answers import Preset
    from tacit.probes.consistency.questions import Asked
    from tacit.probes.consistency.scored import Scored


_WITHOUT_A_PAIR: tuple[Preset, ...] = ("max", "count", "calibrated")

_OF_VOTES: tuple[Preset, ...] = ("max", "count")


def background_variants(scored: Scored, asked: Asked, anchors: pl.DataFrame) -> pl.DataFrame:
    """Compute the results of each method of answering background questions."""
    import polars as pl

    rows = [_background_row(method, scored, asked, anchors) for method in _methods(scored)]
    figures = ("positive_accuracy", "negative_accuracy", "background_score")
    schema = {
        "preset": pl.String,
        "meta": pl.Int64,
        "pair": pl.String,
        "n": pl.Int64,
        **dict.fromkeys((*figures, "consistency", "chance", "lift"), pl.Float64),
        **dict.fromkeys(("missing", "tied"), pl.Int64),
    }
    return pl.DataFrame(rows, schema, orient="row")


def _methods(scored: Scored) -> Iterator[Method]:
    presets = _OF_VOTES if scored.voted else _WITHOUT_A_PAIR
    if scored.inputs.positive.size == 1:
        presets = ()
    yield from (Method(preset) for preset in presets)
    for meta in scored.inputs.metas:
        for pair in scored.inputs.pairs:
            yield Method("single", meta, pair)


def _preset(method: Method, scored: Scored) -> str:
    """Return the method's preset; ``votes`` replaces ``max`` if the replies were sampled."""
    return "votes" if scored.voted and method.preset == "max" else method.preset


def _background_row(
    method: Method, scored: Scored, asked: Asked, anchors: pl.DataFrame
) -> tuple[str | int | float | None, ...]:
    answers = scored.answers(method)
    scores = background_scores.by_anchor(CorrectAnswers.of(answers, asked), asked, anchors.height)
    scores = scores.with_columns(right=anchors["right"]).drop_nulls("background_score")
    pair = None if method.pair is None else "/".join(method.pair)
    shares = ("positive_accuracy", "negative_accuracy", "background_score")
    return (
        *(_preset(method, scored), method.meta, pair, scores.height),
        *(mean_of(scores[name]) for name in shares),
        *_prediction(scores.drop_nulls("right")),
        *(int(answers.missing.sum()), int(answers.tied.sum())),
    )


def _prediction(anchors: pl.DataFrame) -> tuple[float | None, float | None, float | None]:
    """Return conceptual consistency, its chance level and the lift above chance."""
    right, score = anchors["right"].to_numpy(), anchors["background_score"].to_numpy()
    precision, chance = average_precision(right, score), chance_level(right, score)
    return precision, chance, lift(precision, chance)
