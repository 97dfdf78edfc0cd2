"""Answers from stored scores: four presets for yes/no questions, two methods for anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from tacit.errors import RequestError
from tacit.probes.consistency.prompt_variants import nan_or

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.probes.consistency.prompt_variants import Bools, Floats, Inputs, Ints
    from tacit.requests import Scores, Votes


Preset = Literal["max", "single", "count", "calibrated"]

PRESETS: tuple[Preset, ...] = get_args(Preset)


@dataclass(frozen=True)
class Answers:
    """The answers to questions. Every array has the shape (questions,).

    Args:
        positive: Whether the answer is positive; False if it is tied or missing.
        missing: Whether there is no answer, because one side has no candidate word or because a
            word without a score could be the best of all.
        tied: Whether both sides are exactly equal, so that the answer is negative.
        winner: The index of the input that decided the answer; -1 if the answer is missing or no
            single input decides it.
        margin: Best positive minus best negative score, in nats. For ``count``, contests won minus
            contests lost. For votes, the share of positive minus the share of negative replies, or
            with ``single`` the difference of the counts. NaN if the answer is missing or the losing
            side's best word may be one without a score.
    """

    positive: Bools
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats


@dataclass(frozen=True)
class Method:
    """A method of answering yes/no questions.

    Args:
        preset: ``max`` (the paper's): the input with the highest score decides. ``single``: the
            same, between the two words of one pair with one meta-prompt. ``count``: the majority
            over all combinations of meta-prompt and pair decides. ``calibrated``: as ``max``, after
            each input's mean over all questions is subtracted. ``count`` and ``calibrated`` are not
            in the paper.
        meta: The number of the meta-prompt, for ``single``.
        pair: The positive and the negative word, for ``single``.

    Raises:
        RequestError: The preset is unknown, ``single`` lacks the meta-prompt or the pair, or
            another preset has one of them.
    """

    preset: Preset = "max"
    meta: int | None = None
    pair: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise RequestError(
                f"unknown answering method {self.preset!r}; expected one of {', '.join(PRESETS)}"
            )
        wanted = self.preset == "single"
        if (self.meta is not None) != wanted or (self.pair is not None) != wanted:
            raise RequestError(
                "the answering method single requires a meta-prompt (--meta) and a label pair "
                "(--pair); other methods accept neither"
            )

    def answers(self, scores: Floats, inputs: Inputs, most: Floats | None = None) -> Answers:
        """Answer all questions.

        Args:
            scores: Nats, shape (questions, inputs); NaN for a missing score.
            inputs: The inputs of the columns.
            most: Upper bounds of the missing scores (``Bounds.background``).

        Raises:
            RequestError: The meta-prompt or the pair does not exist.
        """
        if self.preset == "count":
            return _by_count(scores, inputs)
        if self.preset == "calibrated":
            scores, most = _calibrated_within(scores, most)
        return by_best(scores, *self.sides(inputs), most)

    def sides(self, inputs: Inputs) -> tuple[Ints, Ints]:
        """Return the indices of the positive and of the negative inputs that count.

        Raises:
            RequestError: The meta-prompt or the pair does not exist.
        """
        if self.meta is None or self.pair is None:
            return inputs.positive.ravel(), inputs.negative.ravel()
        cell = inputs.indexes(self.meta, self.pair)
        return inputs.positive[cell][None], inputs.negative[cell][None]


def by_best(scores: Floats, positive: Ints, negative: Ints, most: Floats | None = None) -> Answers:
    """Answer positively if the best positive input scores higher than the best negative one.

    Args:
        scores: Nats, shape (questions, inputs); NaN for a missing score.
        positive: The indices of the positive inputs. The first of several equal inputs is the best.
        negative: The indices of the negative inputs.
        most: Upper bounds of the missing scores, in the same shape; None if words without a score
            are not candidates.
    """
    best_yes, yes = _best(scores, positive)
    best_no, no = _best(scores, negative)
    yes_at_most, no_at_most = (_hidden(scores, most, side) for side in (positive, negative))
    best = np.maximum(best_yes, best_no)
    is_yes = best_yes > best_no
    missing = (
        (np.maximum(yes_at_most, no_at_most) > best)
        | (np.maximum(best_yes, yes_at_most) == -np.inf)
        | (np.maximum(best_no, no_at_most) == -np.inf)
    )
    lesser_at_most = np.where(is_yes, no_at_most, yes_at_most)
    apart = ~missing & (lesser_at_most <= np.minimum(best_yes, best_no))
    margin = np.full(len(scores), np.nan)
    np.subtract(best_yes, best_no, out=margin, where=apart)
    winner = np.where(missing, -1, np.where(is_yes, yes, no))
    return Answers(is_yes & ~missing, missing, margin == 0, winner, margin)


def by_votes(counts: Floats, inputs: Inputs) -> Answers:
    """Answer positively if more of all parsed replies are positive than negative.

    Args:
        counts: Votes, shape (questions, inputs); NaN if no reply to a prompt variant could be
            parsed.
        inputs: The inputs of the columns.

    Returns:
        Answers without a winner. The margin is the share of positive minus the share of negative
        replies.
    """
    votes = np.nan_to_num(counts)
    positive = votes[:, inputs.positive.ravel()].sum(axis=1)
    negative = votes[:, inputs.negative.ravel()].sum(axis=1)
    total = positive + negative
    margin = np.full(len(counts), np.nan)
    np.divide(positive - negative, total, out=margin, where=total > 0)
    return Answers(margin > 0, total == 0, margin == 0, np.full(len(counts), -1), margin)


def without_unvoted(counts: Floats, inputs: Inputs) -> Floats:
    """Return the counts with NaN for both words of each pair that received no votes.

    Without votes, a pair is missing rather than tied.

    Args:
        counts: Votes, shape (..., inputs); NaN if no reply to a prompt variant could be parsed.
        inputs: The inputs of the last axis.
    """
    told = counts.copy()
    yes, no = inputs.positive.ravel(), inputs.negative.ravel()
    voted = told[..., yes] + told[..., no] > 0
    told[..., yes] = np.where(voted, told[..., yes], np.nan)
    told[..., no] = np.where(voted, told[..., no], np.nan)
    return told


def contests(scores: Floats, inputs: Inputs) -> Floats:
    """Return the lead of each pair's positive word over its negative word, per meta-prompt.

    Returns:
        Nats, shape (questions, metas, pairs); NaN if one of the two words has no score.
    """
    ahead: Floats = scores[:, inputs.positive] - scores[:, inputs.negative]
    return ahead


def calibrated(scores: Floats) -> Floats:
    """From each score, subtract the mean of its input's scores over all questions that have one.

    An input with the same score for all questions becomes exactly 0, without rounding errors.
    """
    if not len(scores):
        return scores
    scored = ~np.isnan(scores)
    first = np.take_along_axis(scores, scored.argmax(axis=0)[None], axis=0)
    beyond = scores - first
    sums, counts = np.where(scored, beyond, 0.0).sum(axis=0), scored.sum(axis=0)
    left: Floats = beyond - sums / np.maximum(counts, 1)
    return left


def _calibrated_within(scores: Floats, most: Floats | None) -> tuple[Floats, Floats | None]:
    """Return calibrated scores and the matching upper bounds of missing scores.

    If a candidate score of an input is missing, its mean is unknown. All its scores are then NaN,
    with an infinite bound.
    """
    if most is None:
        return calibrated(scores), None
    lost = (np.isnan(scores) & (most > -np.inf)).any(axis=0)
    left = np.where(lost, np.nan, calibrated(scores))
    return left, np.broadcast_to(np.where(lost, np.inf, -np.inf), left.shape)


def _by_count(scores: Floats, inputs: Inputs) -> Answers:
    """Answer by majority over all contests with two scores; a tie counts for neither word."""
    ahead = contests(scores, inputs).reshape(len(scores), inputs.positive.size)
    missing: Bools = np.asarray(np.isnan(ahead).all(axis=1))
    margin = (ahead > 0).sum(axis=1) - (ahead < 0).sum(axis=1)
    return Answers(
        margin > 0,
        missing,
        (margin == 0) & ~missing,
        np.full(len(scores), -1),
        np.where(missing, np.nan, margin),
    )


def _best(scores: Floats, among: Ints) -> tuple[Floats, Ints]:
    """Return the best score among some inputs and its index; minus infinity without any score."""
    values = scores[:, among]
    known = np.where(np.isnan(values), -np.inf, values)
    at = known.argmax(axis=1)
    best: Floats = np.take_along_axis(known, at[:, None], axis=1)[:, 0]
    return best, among[at]


def _hidden(scores: Floats, most: Floats | None, among: Ints) -> Floats:
    """Return the highest bound of the inputs without a score; minus infinity if all have one."""
    if most is None:
        return np.full(len(scores), -np.inf)
    hidden: Floats = np.where(np.isnan(scores[:, among]), most[:, among], -np.inf).max(axis=1)
    return hidden


@dataclass(frozen=True)
class Chosen:
    """The answers to anchors. Every array has the shape (anchors,).

    Args:
        choice: The index of the choice, the first one if choices tie; -1 if missing.
        missing: Whether there is no answer because the value of a choice is unknown, or for votes
            because choices tie.
        tied: Whether another choice is exactly as good.
        winner: The index of the prompt variant (``choose``) or input (``verify``) with the deciding
            score; -1 if the choice is missing or no single input decides it.
        margin: The lead over the second-best choice, in nats per byte (``choose``), nats
            (``verify``) or shares of votes (``verify_votes``); NaN if the choice is missing.
        values: The value of every choice, in the same units, shape (anchors, choices); NaN if it is
            unknown, and for padding.
    """

    choice: Ints
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats
    values: Floats


def choose(scores: Floats, sizes: Ints, most: Floats | None = None) -> Chosen:
    """Select the choice with the single highest score per byte over all prompt variants.

    Args:
        scores: Log-probabilities in nats, shape (anchors, variants, choices); NaN if missing.
        sizes: The choices' lengths in UTF-8 bytes, shape (anchors, choices); 0 is padding.
        most: Upper bounds of the missing scores (``Bounds.choices``). The value of a choice is
            unknown if a missing score could exceed its best one.
    """
    lengths = np.where(sizes > 0, sizes, 1)[:, None, :]
    per_byte = scores / lengths
    known = np.where(np.isnan(per_byte), -np.inf, per_byte)
    variant = known.argmax(axis=1)
    best = np.take_along_axis(per_byte, variant[:, None, :], axis=1)[:, 0]
    if most is not None:
        hidden = np.where(np.isnan(scores), most / lengths, -np.inf).max(axis=1)
        best = np.where(hidden > best, np.nan, best)
    return _chosen(best, variant, sizes)


def verify(scores: Floats, inputs: Inputs, sizes: Ints, most: Floats | None = None) -> Chosen:
    """Select the choice whose best positive word leads its best negative word by the most.

    Args:
        scores: Log-probabilities in nats, shape (anchors, choices, inputs); NaN if missing.
        inputs: The inputs of the last axis.
        sizes: As for ``choose``.
        most: Upper bounds of the missing scores (``Bounds.verified``).
    """
    return verify_between(scores, inputs.positive.ravel(), inputs.negative.ravel(), sizes, most)


def verify_votes(counts: Floats, inputs: Inputs, sizes: Ints) -> Chosen:
    """Select the choice with the highest share of positive replies.

    Args:
        counts: Votes, shape (anchors, choices, inputs); NaN if no reply could be parsed.
        inputs: The inputs of the last axis.
        sizes: As for ``choose``.

    Returns:
        The choices. Tied anchors have no choice, because ties are common among a few replies.
    """
    answers = by_votes(counts.reshape(-1, counts.shape[-1]), inputs)
    margin = answers.margin.reshape(sizes.shape)
    return without_ties(_chosen(margin, answers.winner.reshape(sizes.shape), sizes))


def without_ties(found: Chosen) -> Chosen:
    """Return the choices with tied ones marked as missing; ``tied`` is unchanged."""
    none = found.missing | found.tied
    return Chosen(
        np.where(none, -1, found.choice),
        none,
        found.tied,
        np.where(none, -1, found.winner),
        np.where(none, np.nan, found.margin),
        found.values,
    )


def verify_between(
    scores: Floats, positive: Ints, negative: Ints, sizes: Ints, most: Floats | None = None
) -> Chosen:
    """Select choices like ``verify``, from subsets of the positive and the negative inputs."""
    shape = (-1, scores.shape[-1])
    bound = None if most is None else most.reshape(shape)
    answers = by_best(scores.reshape(shape), positive, negative, bound)
    return _chosen(answers.margin.reshape(sizes.shape), answers.winner.reshape(sizes.shape), sizes)


def choice_table(scored: Sequence[Sequence[Scores]]) -> tuple[Floats, Ints]:
    """Return the scores and the choice sizes of all anchors, as ``choose`` takes them.

    Args:
        scored: For each anchor, the scores of its prompt variants in order; at least one anchor.
    """
    widest = max(len(scores[0].answers) for scores in scored)
    table = np.full((len(scored), len(scored[0]), widest), np.nan)
    sizes = np.zeros((len(scored), widest), dtype=np.int64)
    for anchor, variants in enumerate(scored):
        for variant, scores in enumerate(variants):
            for choice, one in enumerate(scores.answers):
                table[anchor, variant, choice] = nan_or(one.logprob)
                sizes[anchor, choice] = one.bytes
    return table, sizes


def verify_table(scored: Sequence[Sequence[Sequence[Scores]]], inputs: Inputs) -> Floats:
    """Return the scores of all anchors as ``verify`` takes them.

    Args:
        scored: For each anchor and each of its choices, the scores of the prompt variants in order;
            at least one anchor.
        inputs: The inputs of the prompt variants.
    """
    widest = max(map(len, scored))
    table = np.full((len(scored), widest, len(inputs.words)), np.nan)
    for anchor, choices in enumerate(scored):
        for choice, scores in enumerate(choices):
            table[anchor, choice] = inputs.table(scores)[0]
    return table


def verify_votes_table(votes: Sequence[Votes], choices: Sequence[int], inputs: Inputs) -> Floats:
    """Return the votes of all anchors as ``verify_votes`` takes them.

    Args:
        votes: One entry per anchor, choice and prompt variant, in this order.
        choices: The number of choices of each anchor; at least one anchor.
        inputs: The inputs of the prompt variants.
    """
    table = np.full((len(choices), max(choices), len(inputs.words)), np.nan)
    there = np.arange(max(choices))[None] < np.array(choices)[:, None]
    table[there] = inputs.votes(votes)
    return table


def _chosen(values: Floats, spoken: Ints, sizes: Ints) -> Chosen:
    """Select the choice with the highest value, and its winning prompt variant or input."""
    present = sizes > 0
    missing: Bools = np.asarray((np.isnan(values) & present).any(axis=1))
    known = np.where(present & ~np.isnan(values), values, -np.inf)
    choice = known.argmax(axis=1)
    second, best = np.sort(known, axis=1)[:, -2:].T
    margin = np.full(len(values), np.nan)
    np.subtract(best, second, out=margin, where=~missing)
    winner = np.take_along_axis(spoken, choice[:, None], axis=1)[:, 0]
    return Chosen(
        np.where(missing, -1, choice),
        missing,
        margin == 0,
        np.where(missing, -1, winner),
        margin,
        np.where(present, values, np.nan),
    )
