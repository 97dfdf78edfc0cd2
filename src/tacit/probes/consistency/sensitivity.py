"""Compute how much answers depend on the meta-prompt and on the pair of answer words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency import background_scores
from tacit.probes.consistency.answers import (
    Method,
    choose,
    verify_between,
    without_ties,
    without_unvoted,
)
from tacit.probes.consistency.background_scores import CorrectAnswers, mean_of
from tacit.statistics.permutation import chance_level, lift
from tacit.statistics.ranking import average_precision

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Answers, Chosen, Preset
    from tacit.probes.consistency.prompt_variants import Floats, Inputs, Ints
    from tacit.probes.consistency.questions import Asked
    from tacit.probes.consistency.scored import Scored
    from tacit.sources.anchors import Anchor


@dataclass(frozen=True)
class Alone:
    """Numbers of answers and correct answers when only a single prompt variant is used."""

    right: Ints
    scored: Ints


def wins(answers: Answers, inputs: Inputs) -> Ints:
    """Count how often each combination of meta-prompt and answer words scores highest."""
    won = np.bincount(answers.winner[answers.winner >= 0], minlength=len(inputs.words))
    return won[inputs.positive] + won[inputs.negative]


def choose_alone(scores: Floats, sizes: Ints, right: Ints, most: Floats | None = None) -> Alone:
    """Count the correct answers to anchor questions, separately for each prompt variant."""
    each = [
        choose(scores[:, [variant]], sizes, None if most is None else most[:, [variant]])
        for variant in range(scores.shape[1])
    ]
    return _alone(each, right, (len(each),))


def verify_alone(
    scores: Floats,
    inputs: Inputs,
    sizes: Ints,
    right: Ints,
    most: Floats | None = None,
    *,
    voted: bool = False,
) -> Alone:
    """Count the correct answers for each combination of meta-prompt and answer words."""
    each = [
        verify_between(scores, np.array([positive]), np.array([negative]), sizes, most)
        for positive, negative in zip(inputs.positive.flat, inputs.negative.flat, strict=True)
    ]
    if voted:
        each = [without_ties(one) for one in each]
    return _alone(each, right, inputs.positive.shape)


def _alone(each: list[Chosen], right: Ints, shape: tuple[int, ...]) -> Alone:
    hits = np.array([((one.choice == right) & ~one.missing).sum() for one in each])
    scored = np.array([(~one.missing).sum() for one in each])
    return Alone(hits.reshape(shape), scored.reshape(shape))


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


def anchor_variants(scored: Scored, anchors: Sequence[Anchor]) -> pl.DataFrame:
    """Compute the accuracy on anchor questions for each single prompt variant."""
    import polars as pl

    answers = np.array([anchor.answer for anchor in anchors])
    rows: list[tuple[str, int, str | None, int, int]] = []
    if scored.choices is not None:
        alone = choose_alone(scored.choices, scored.sizes, answers, scored.bounds.choices)
        for at, (meta, pair, _) in enumerate(scored.chosen_variants("choice")):
            rows.append(("choice", meta, pair, int(alone.right[at]), int(alone.scored[at])))
    if scored.verified is not None:
        inputs = scored.inputs
        verified = scored.verified
        if scored.voted:
            verified = without_unvoted(verified, inputs)
        alone = verify_alone(
            verified, inputs, scored.sizes, answers, scored.bounds.verified, voted=scored.voted
        )
        for m, meta in enumerate(inputs.metas):
            for p, words in enumerate(inputs.pairs):
                counts = int(alone.right[m, p]), int(alone.scored[m, p])
                rows.append(("verify", meta, "/".join(words), *counts))
    schema = {
        "anchoring": pl.String,
        "meta": pl.Int64,
        "pair": pl.String,
        "right": pl.Int64,
        "n": pl.Int64,
    }
    table = pl.DataFrame(rows, schema, orient="row")
    some = pl.when(pl.col("n") > 0).then(pl.col("right") / pl.col("n"))
    return table.with_columns(accuracy=some)


def winners(
    answers: Answers, scored: Scored, anchors: Sequence[tuple[str, Chosen]]
) -> pl.DataFrame:
    """Count how often each combination of meta-prompt and answer words scores highest."""
    import polars as pl

    inputs = scored.inputs
    won = wins(answers, inputs)
    of: dict[str, dict[tuple[int, str | None], int]] = {
        "background": {
            (meta, "/".join(pair)): int(won[m, p])
            for m, meta in enumerate(inputs.metas)
            for p, pair in enumerate(inputs.pairs)
        }
    }
    for anchoring, chosen in anchors:
        counts = of.setdefault(anchoring, {})
        for at, (meta, pair, _) in enumerate(scored.chosen_variants(anchoring)):
            here = int((chosen.winner == at).sum())
            counts[meta, pair] = counts.get((meta, pair), 0) + here
    rows = [
        (name, *variant, count)
        for name, counts in of.items()
        if len(counts) > 1
        for variant, count in counts.items()
    ]
    schema = {"of": pl.String, "meta": pl.Int64, "pair": pl.String, "count": pl.Int64}
    table = pl.DataFrame(rows, schema, orient="row")
    total = pl.col("count").sum().over("of")
    return table.with_columns(share=pl.when(total > 0).then(pl.col("count") / total))


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
