"""Derive the answers to yes/no questions and anchor questions from stored scores."""

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
    """The answers to questions. Each array has the shape (questions,).

    Args:
        positive: Whether the answer is positive; False if the answer is tied or missing.
        missing: Whether there is no answer, because there is no positive or no negative candidate
            word, or because a word without a score could be the best.
        tied: Whether the best positive and the best negative score are equal, which counts as a
            negative answer.
        winner: The index of the input (prompt variant and answer word) that decides the answer; -1
            if the answer is missing or no single input decides.
        margin: The best positive score minus the best negative score, in nats. For ``count``, the
            margin is the number of word pairs won by the positive word minus the number won by the
            negative word. For votes, the margin is the share of positive replies minus the share of
            negative replies. For votes with ``single``, the margin is the difference of the vote
            counts. The margin is NaN if the answer is missing, or if a word without a score could
            be the best word of the losing answer.
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
        preset: With ``max``, the paper's preset, the input with the highest score decides. With
            ``single``, the higher-scored word of one label pair with one meta-prompt decides. With
            ``count``, the majority over all combinations of meta-prompt and pair decides.
            ``calibrated`` subtracts from each score the mean score of the input over all questions,
            and then decides like ``max``. The paper does not define ``count`` and ``calibrated``.
        meta: The number of the meta-prompt for ``single``.
        pair: The positive and the negative word for ``single``.

    Raises:
        RequestError: The preset is unknown, ``single`` is used without the meta-prompt or the pair,
            or either is given for another preset.
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
            scores: Scores in nats, shape (questions, inputs); NaN for a missing score.
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
        """Return the indices of the positive and of the negative inputs that the method uses.

        Raises:
            RequestError: The meta-prompt or the pair does not exist.
        """
        if self.meta is None or self.pair is None:
            return inputs.positive.ravel(), inputs.negative.ravel()
        cell = inputs.indexes(self.meta, self.pair)
        return inputs.positive[cell][None], inputs.negative[cell][None]


def by_best(scores: Floats, positive: Ints, negative: Ints, most: Floats | None = None) -> Answers:
    """Answer positively if the best positive input has a higher score than the best negative input.

    Args:
        scores: Scores in nats, shape (questions, inputs); NaN for a missing score.
        positive: The indices of the positive inputs. Of several inputs with equal scores, the first
            input wins.
        negative: The indices of the negative inputs.
        most: Upper bounds of the missing scores, shape (questions, inputs). None if words without a
            score are not candidates.
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
    """Answer positively if more parsed replies are positive than negative.

    Args:
        counts: Vote counts, shape (questions, inputs); NaN if no reply to a prompt variant could be
            parsed.
        inputs: The inputs of the columns.

    Returns:
        Answers without a winner. The margin is the share of positive replies minus the share of
        negative replies.
    """
    votes = np.nan_to_num(counts)
    positive = votes[:, inputs.positive.ravel()].sum(axis=1)
    negative = votes[:, inputs.negative.ravel()].sum(axis=1)
    total = positive + negative
    margin = np.full(len(counts), np.nan)
    np.divide(positive - negative, total, out=margin, where=total > 0)
    return Answers(margin > 0, total == 0, margin == 0, np.full(len(counts), -1), margin)


def without_unvoted(counts: Floats, inputs: Inputs) -> Floats:
    """Return the vote counts with NaN for both words of each pair that received no votes.

    A pair without votes is treated as missing rather than as tied.

    Args:
        counts: Vote counts, shape (..., inputs); NaN if no reply to a prompt variant could be
            parsed.
        inputs: The inputs (prompt variants with answer words) along the last axis.
    """
    told = counts.copy()
    yes, no = inputs.positive.ravel(), inputs.negative.ravel()
    voted = told[..., yes] + told[..., no] > 0
    told[..., yes] = np.where(voted, told[..., yes], np.nan)
    told[..., no] = np.where(voted, told[..., no], np.nan)
    return told


def contests(scores: Floats, inputs: Inputs) -> Floats:
    """Return each pair's positive score minus its negative score, for each meta-prompt.

    Returns:
        Score differences in nats, shape (questions, metas, pairs); NaN if one of the two words has
        no score.
    """
    ahead: Floats = scores[:, inputs.positive] - scores[:, inputs.negative]
    return ahead


def calibrated(scores: Floats) -> Floats:
    """Subtract from each score the mean score of its input over all questions with a score.

    The calibrated scores of an input with equal scores for all questions are exactly 0, without
    rounding errors.
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
    """Return calibrated scores and the corresponding upper bounds of missing scores.

    An input with a missing candidate score has an unknown mean, so all calibrated scores of the
    input are NaN, with infinite bounds.
    """
    if most is None:
        return calibrated(scores), None
    lost = (np.isnan(scores) & (most > -np.inf)).any(axis=0)
    left = np.where(lost, np.nan, calibrated(scores))
    return left, np.broadcast_to(np.where(lost, np.inf, -np.inf), left.shape)


def _by_count(scores: Floats, inputs: Inputs) -> Answers:
    """Answer by majority over the pairs with scores for both words, without counting tied pairs."""
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
    """Return the best score of some inputs (minus infinity without scores) and its index."""
    values = scores[:, among]
    known = np.where(np.isnan(values), -np.inf, values)
    at = known.argmax(axis=1)
    best: Floats = np.take_along_axis(known, at[:, None], axis=1)[:, 0]
    return best, among[at]


def _hidden(scores: Floats, most: Floats | None, among: Ints) -> Floats:
    """Return the highest bound of the missing scores, or minus infinity if no score is missing."""
    if most is None:
        return np.full(len(scores), -np.inf)
    hidden: Floats = np.where(np.isnan(scores[:, among]), most[:, among], -np.inf).max(axis=1)
    return hidden


@dataclass(frozen=True)
class Chosen:
    """The answers to anchors. Each array except ``values`` has the shape (anchors,).

    Args:
        choice: The index of the selected choice, the first if choices tie; -1 if the answer is
            missing.
        missing: Whether there is no answer, because the value of a choice is unknown or, for votes,
            because choices tie.
        tied: Whether another choice has exactly the same value as the selected choice.
        winner: The index of the prompt variant (``choose``) or input (``verify``) with the deciding
            score; -1 if the answer is missing or no single score decides.
        margin: The value of the selected choice minus the value of the second-best choice, in nats
            per byte (``choose``), nats (``verify``) or vote shares (``verify_votes``); NaN if the
            answer is missing.
        values: The value of every choice, in the units of ``margin``, shape (anchors, choices); NaN
            for unknown values and for padding.
    """

    choice: Ints
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats
    values: Floats


def choose(scores: Floats, sizes: Ints, most: Floats | None = None) -> Chosen:
    """Select the choice with the highest score per byte over all prompt variants.

    Args:
        scores: Log-probabilities in nats, shape (anchors, variants, choices); NaN if missing.
        sizes: Lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding.
        most: Upper bounds of the missing scores (``Bounds.choices``). The value of a choice is
            unknown if a missing score could exceed the choice's best score.
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
    """Select the choice for which the best positive score exceeds the best negative score most.

    Args:
        scores: Log-probabilities in nats, shape (anchors, choices, inputs); NaN if missing.
        inputs: The inputs (prompt variants with answer words) along the last axis.
        sizes: Lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding.
        most: Upper bounds of the missing scores (``Bounds.verified``).
    """
    return verify_between(scores, inputs.positive.ravel(), inputs.negative.ravel(), sizes, most)


def verify_votes(counts: Floats, inputs: Inputs, sizes: Ints) -> Chosen:
    """Select the choice with the highest share of positive replies.

    Args:
        counts: Vote counts, shape (anchors, choices, inputs); NaN if no reply could be parsed.
        inputs: The inputs (prompt variants with answer words) along the last axis.
        sizes: Lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding.

    Returns:
        The choices. Anchors with tied choices have no answer, because ties are common if each
        choice has only a few replies.
    """
    answers = by_votes(counts.reshape(-1, counts.shape[-1]), inputs)
    margin = answers.margin.reshape(sizes.shape)
    return without_ties(_chosen(margin, answers.winner.reshape(sizes.shape), sizes))


def without_ties(found: Chosen) -> Chosen:
    """Return the answers with tied answers marked as missing; ``tied`` is unchanged."""
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
    """Select choices like ``verify``, using only the given positive and negative inputs."""
    shape = (-1, scores.shape[-1])
    bound = None if most is None else most.reshape(shape)
    answers = by_best(scores.reshape(shape), positive, negative, bound)
    return _chosen(answers.margin.reshape(sizes.shape), answers.winner.reshape(sizes.shape), sizes)


def choice_table(scored: Sequence[Sequence[Scores]]) -> tuple[Floats, Ints]:
    """Return the scores and the lengths of the choices of all anchors as arrays for ``choose``.

    Args:
        scored: For each anchor, the scores of its prompt variants in order. At least one anchor is
            required.
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
    """Return the scores of all anchors as an array for ``verify``.

    Args:
        scored: For each anchor and each of its choices, the scores of the prompt variants in order.
            At least one anchor is required.
        inputs: The inputs of the prompt variants.
    """
    widest = max(map(len, scored))
    table = np.full((len(scored), widest, len(inputs.words)), np.nan)
    for anchor, choices in enumerate(scored):
        for choice, scores in enumerate(choices):
            table[anchor, choice] = inputs.table(scores)[0]
    return table


def verify_votes_table(votes: Sequence[Votes], choices: Sequence[int], inputs: Inputs) -> Floats:
    """Return the votes on all anchors as an array for ``verify_votes``.

    Args:
        votes: The votes, one entry per anchor, choice and prompt variant, in this order.
        choices: The number of choices of each anchor. At least one anchor is required.
        inputs: The inputs of the prompt variants.
    """
    table = np.full((len(choices), max(choices), len(inputs.words)), np.nan)
    there = np.arange(max(choices))[None] < np.array(choices)[:, None]
    table[there] = inputs.votes(votes)
    return table


def _chosen(values: Floats, spoken: Ints, sizes: Ints) -> Chosen:
    """Select the choice with the highest value, and the prompt variant or input that decides it."""
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
