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
    """Numbers of answers and correct answers when only a single prompt variant is used.

    Args:
        right: Number of correct answers, shape (variants,) for the method ``choice`` and shape
            (metas, pairs) for the method ``verify``.
        scored: The number of anchor questions that the model answered, as an array of the same
            shape as ``right``.
    """

    right: Ints
    scored: Ints


def wins(answers: Answers, inputs: Inputs) -> Ints:
    """Count how often each combination of meta-prompt and answer words scores highest.

    Returns:
        The number of answers whose highest score comes from each combination of meta-prompt (prompt
        template) and label pair, shape (meta-prompts, label pairs). An answer is counted only if a
        single input (a prompt variant with one answer word) determines it.
    """
    won = np.bincount(answers.winner[answers.winner >= 0], minlength=len(inputs.words))
    return won[inputs.positive] + won[inputs.negative]


def choose_alone(scores: Floats, sizes: Ints, right: Ints, most: Floats | None = None) -> Alone:
    """Count the correct answers to anchor questions, separately for each prompt variant.

    The function ``choose`` derives the answers from the scores of one prompt variant at a time.

    Args:
        scores: Log-probabilities in nats, shape (anchors, variants, choices); NaN if missing.
        sizes: Lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding.
        right: The index of each anchor question's correct choice, shape (anchors,).
        most: Upper bounds of the missing scores (``Bounds.choices``).

    Returns:
        Counts of answers and of correct answers, shape (variants,).
    """
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
    """Count the correct answers for each combination of meta-prompt and answer words.

    The method ``verify`` asks, for each choice of an anchor question, whether the choice is the
    answer.

    Args:
        scores: Log-probabilities in nats, or vote counts, shape (anchors, choices, inputs); NaN if
            missing.
        inputs: The inputs (each a prompt variant combined with one answer word), in the order of
            the last axis of ``scores``.
        sizes: Lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding.
        right: The index of each anchor question's correct choice, shape (anchors,).
        most: Upper bounds of the missing scores (``Bounds.verified``).
        voted: Whether the scores are vote counts. With vote counts, an anchor question has no
            answer if several choices tie for the highest value.

    Returns:
        For each combination of a meta-prompt and a pair of answer words, the numbers of answers and
        of correct answers, shape (meta-prompts, pairs).
    """
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
    """Compute the results of each method of answering background questions.

    Args:
        scored: All scores or votes of the run.
        asked: The facts, with the background questions about them.
        anchors: Table with one row per anchor question and the column ``right`` (whether the answer
            is correct; null without an answer).

    Returns:
        Table with the columns ``preset``, ``meta``, ``pair``, ``n``, ``positive_accuracy``,
        ``negative_accuracy``, ``background_score``, ``consistency``, ``chance``, ``lift``,
        ``missing`` and ``tied``. If replies are sampled, the row with the preset ``votes`` contains
        results that are computed from the replies to all prompt variants together. ``meta`` and
        ``pair`` are null for presets other than ``single``. ``n`` is the number of anchor questions
        with a background score. The accuracies and the background score are averaged over the
        anchor questions that have a background score (Figure 6 of Sahu et al. 2022). ``missing`` is
        the number of background questions without an answer. ``tied`` is the number of background
        questions for which "yes" and "no" have the same score. Undefined values are null.
    """
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
    """Compute the accuracy on anchor questions for each single prompt variant.

    Returns:
        Table with the columns ``anchoring`` (``choice`` or ``verify``), ``meta``, ``pair``,
        ``right``, ``n`` and ``accuracy``. ``pair`` is null if the prompt variant contains no answer
        words. ``n`` is the number of anchor questions that have an answer.
    """
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
    """Count how often each combination of meta-prompt and answer words scores highest.

    Args:
        answers: The answers to the background questions.
        scored: All scores or votes of the run.
        anchors: For each anchoring method (``choice`` or ``verify``), its name and its answers to
            the anchor questions.

    Returns:
        Table with the columns ``of``, ``meta``, ``pair``, ``count`` and ``share``. ``of`` is the
        kind of answers: ``background``, ``choice`` or ``verify``. ``meta`` is the meta-prompt, and
        ``pair`` is the pair of answer words, or null if the prompt variant contains no answer
        words. ``count`` is the number of answers whose highest score comes from a prompt with the
        meta-prompt ``meta`` and the answer words ``pair``. ``share`` is ``count`` divided by the
        sum of the counts for the same kind of answers (column ``of``). Questions that are asked in
        one prompt variant alone have no rows.
    """
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
