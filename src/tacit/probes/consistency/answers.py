"""From stored scores to answers: of yes/no questions in four ways, of anchors' choices in two."""

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
    """The answers of questions; every array has the shape (questions,).

    Args:
        positive: Whether the answer is positive; False where it is tied or missing.
        missing: Whether it cannot be told which side has the best word: one side has none, or a
            word without a score may be the best.
        tied: Whether both sides were exactly equal, so that the answer is negative.
        winner: The input that gave the answer, from 0; -1 where the answer is missing or no single
            input gives it.
        margin: Best positive minus best negative, in nats; of ``count``, contests won minus
            contests lost; of votes, the share of positive ones less that of negative ones, and of
            ``single`` the number. nan where the answer is missing, or the losing side's best word
            may be one without a score.
    """

    positive: Bools
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats


@dataclass(frozen=True)
class Method:
    """A way to answer.

    Args:
        preset: ``max``, the paper's: as the input of the highest score says. ``single``: the same
            among the two words of one pair behind one meta-prompt. ``count``: as more of all
            (meta-prompt, pair) say. ``calibrated``: as ``max``, each input's mean over all
            questions subtracted first. The last two are not in the paper.
        meta: The meta-prompt's number, for ``single``.
        pair: The positive and the negative word, for ``single``.

    Raises:
        RequestError: The preset is unknown, or a meta-prompt and a pair are lacking or not used.
    """

    preset: Preset = "max"
    meta: int | None = None
    pair: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.preset not in PRESETS:
            raise RequestError(f"the answering {self.preset!r} is none of {', '.join(PRESETS)}")
        wanted = self.preset == "single"
        if (self.meta is not None) != wanted or (self.pair is not None) != wanted:
            raise RequestError("single takes a meta-prompt and a pair; the others take neither")

    def answers(self, scores: Floats, inputs: Inputs, most: Floats | None = None) -> Answers:
        """Answers all questions.

        Args:
            scores: Shape (questions, inputs), nats; nan where there is none.
            inputs: What the columns are.
            most: What missing scores are at most (``Bounds.background``).

        Raises:
            RequestError: There is no such meta-prompt or pair.
        """
        if self.preset == "count":
            return _by_count(scores, inputs)
        if self.preset == "calibrated":
            scores, most = _calibrated_within(scores, most)
        return by_best(scores, *self.sides(inputs), most)

    def sides(self, inputs: Inputs) -> tuple[Ints, Ints]:
        """The positive and the negative inputs that count.

        Raises:
            RequestError: There is no such meta-prompt or pair.
        """
        if self.meta is None or self.pair is None:
            return inputs.positive.ravel(), inputs.negative.ravel()
        cell = inputs.indexes(self.meta, self.pair)
        return inputs.positive[cell][None], inputs.negative[cell][None]


def by_best(scores: Floats, positive: Ints, negative: Ints, most: Floats | None = None) -> Answers:
    """Positive when the best of the positive inputs is better than the best of the negative ones.

    Args:
        scores: Shape (questions, inputs), nats; nan where there is none.
        positive: The positive inputs; of equal ones the first counts as the best.
        negative: The negative inputs.
        most: What missing scores are at most, in the same shape; None where words without a score
            are no candidates.
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
    """Positive when more of all replies that could be read are positive than negative.

    Args:
        counts: Shape (questions, inputs), votes; nan where no reply to a variant could be read.
        inputs: What the columns are.

    Returns:
        No single input gives an answer; the margin is the share of positive replies less that of
        negative ones.
    """
    votes = np.nan_to_num(counts)
    positive = votes[:, inputs.positive.ravel()].sum(axis=1)
    negative = votes[:, inputs.negative.ravel()].sum(axis=1)
    total = positive + negative
    margin = np.full(len(counts), np.nan)
    np.divide(positive - negative, total, out=margin, where=total > 0)
    return Answers(margin > 0, total == 0, margin == 0, np.full(len(counts), -1), margin)


def without_unvoted(counts: Floats, inputs: Inputs) -> Floats:
    """The counts, those of pairs that no reply named made missing: nobody decided between them.

    Args:
        counts: Shape (..., inputs), votes; nan where no reply to a variant could be read.
        inputs: What the last axis is.
    """
    told = counts.copy()
    yes, no = inputs.positive.ravel(), inputs.negative.ravel()
    voted = told[..., yes] + told[..., no] > 0
    told[..., yes] = np.where(voted, told[..., yes], np.nan)
    told[..., no] = np.where(voted, told[..., no], np.nan)
    return told


def contests(scores: Floats, inputs: Inputs) -> Floats:
    """By how much the positive word of each pair is ahead behind each meta-prompt.

    Returns:
        Nats, shape (questions, metas, pairs); nan where one of the two words has no score.
    """
    ahead: Floats = scores[:, inputs.positive] - scores[:, inputs.negative]
    return ahead


def calibrated(scores: Floats) -> Floats:
    """The scores, each input's mean over the questions that it was scored for subtracted.

    An input that says the same of all questions is left with exact zeros, whatever the rounding.
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
    """As ``calibrated``, with what missing scores are at most.

    Of an input that one question lacks the mean is not known, and so nothing of it is.
    """
    if most is None:
        return calibrated(scores), None
    lost = (np.isnan(scores) & (most > -np.inf)).any(axis=0)
    left = np.where(lost, np.nan, calibrated(scores))
    return left, np.broadcast_to(np.where(lost, np.inf, -np.inf), left.shape)


def _by_count(scores: Floats, inputs: Inputs) -> Answers:
    """Over all contests that were held; one that ends level is won by neither word."""
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
    """The best score among some inputs and its input; minus infinity where none has a score."""
    values = scores[:, among]
    known = np.where(np.isnan(values), -np.inf, values)
    at = known.argmax(axis=1)
    best: Floats = np.take_along_axis(known, at[:, None], axis=1)[:, 0]
    return best, among[at]


def _hidden(scores: Floats, most: Floats | None, among: Ints) -> Floats:
    """What the best of some inputs without a score is at most; minus infinity of none."""
    if most is None:
        return np.full(len(scores), -np.inf)
    hidden: Floats = np.where(np.isnan(scores[:, among]), most[:, among], -np.inf).max(axis=1)
    return hidden


@dataclass(frozen=True)
class Chosen:
    """What anchors were answered with; every array has the shape (anchors,).

    Args:
        choice: The choice, from 0, of tied ones the first; -1 where it is missing.
        missing: Whether it is not known how good one of the choices is, so that none can be taken
            for the best; of votes also whether choices are tied.
        tied: Whether another choice is exactly as good.
        winner: The variant (``choose``) or input (``verify``) that speaks for it, from 0; -1 where
            the choice is missing.
        margin: By how much it is better than the second best: nats per byte (``choose``) or nats
            (``verify``); nan where the choice is missing.
    """

    choice: Ints
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats


def choose(scores: Floats, sizes: Ints, most: Floats | None = None) -> Chosen:
    """The choice with the single highest score over all variants, normalised per byte.

    Args:
        scores: Log-probabilities in nats, shape (anchors, variants, choices); nan where there is
            none.
        sizes: The choices' lengths in UTF-8 bytes, shape (anchors, choices); 0 for no choice.
        most: What missing scores are at most (``Bounds.choices``): a choice that may be better in
            a variant without a score is not known.
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
    """The choice whose best positive word is the most ahead of its best negative word.

    Args:
        scores: Log-probabilities in nats, shape (anchors, choices, inputs); nan where there is
            none.
        inputs: What the last axis is.
        sizes: As for ``choose``.
        most: What missing scores are at most (``Bounds.verified``).
    """
    return verify_between(scores, inputs.positive.ravel(), inputs.negative.ravel(), sizes, most)


def verify_votes(counts: Floats, inputs: Inputs, sizes: Ints) -> Chosen:
    """As ``verify``, from counts of sampled replies: by the share of positive ones among all.

    Args:
        counts: Votes, shape (anchors, choices, inputs); nan where no reply could be read.
        inputs: What the last axis is.
        sizes: As for ``choose``.

    Returns:
        Of tied choices none: among a few replies ties are no accident.
    """
    answers = by_votes(counts.reshape(-1, counts.shape[-1]), inputs)
    margin = answers.margin.reshape(sizes.shape)
    return without_ties(_chosen(margin, answers.winner.reshape(sizes.shape), sizes))


def without_ties(found: Chosen) -> Chosen:
    """The same without an answer where choices are tied; they are still told to be."""
    none = found.missing | found.tied
    return Chosen(
        np.where(none, -1, found.choice),
        none,
        found.tied,
        np.where(none, -1, found.winner),
        np.where(none, np.nan, found.margin),
    )


def verify_between(
    scores: Floats, positive: Ints, negative: Ints, sizes: Ints, most: Floats | None = None
) -> Chosen:
    """As ``verify``, between some positive and some negative inputs."""
    shape = (-1, scores.shape[-1])
    bound = None if most is None else most.reshape(shape)
    answers = by_best(scores.reshape(shape), positive, negative, bound)
    return _chosen(answers.margin.reshape(sizes.shape), answers.winner.reshape(sizes.shape), sizes)


def choice_table(scored: Sequence[Sequence[Scores]]) -> tuple[Floats, Ints]:
    """What ``choose`` takes: the scores of all anchors, and the sizes of their choices.

    Args:
        scored: For each anchor, the scores of its variants in their order; at least one anchor.
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
    """The scores of all anchors as ``verify`` takes them.

    Args:
        scored: For each anchor and each of its choices, the scores of the variants in their order;
            at least one anchor.
        inputs: The inputs of the variants.
    """
    widest = max(map(len, scored))
    table = np.full((len(scored), widest, len(inputs.words)), np.nan)
    for anchor, choices in enumerate(scored):
        for choice, scores in enumerate(choices):
            table[anchor, choice] = inputs.table(scores)[0]
    return table


def verify_votes_table(votes: Sequence[Votes], choices: Sequence[int], inputs: Inputs) -> Floats:
    """The votes of all anchors as ``verify_votes`` takes them.

    Args:
        votes: Of each anchor's choices, each in all variants, one after the other.
        choices: How many choices each anchor has; at least one anchor.
        inputs: The inputs of the variants.
    """
    table = np.full((len(choices), max(choices), len(inputs.words)), np.nan)
    there = np.arange(max(choices))[None] < np.array(choices)[:, None]
    table[there] = inputs.votes(votes)
    return table


def _chosen(values: Floats, spoken: Ints, sizes: Ints) -> Chosen:
    """The choice of the highest value, and the variant or input that speaks for it."""
    present = sizes > 0
    missing: Bools = np.asarray((np.isnan(values) & present).any(axis=1))
    known = np.where(present & ~np.isnan(values), values, -np.inf)
    choice = known.argmax(axis=1)
    second, best = np.sort(known, axis=1)[:, -2:].T
    margin = np.full(len(values), np.nan)
    np.subtract(best, second, out=margin, where=~missing)
    winner = np.take_along_axis(spoken, choice[:, None], axis=1)[:, 0]
    return Chosen(
        np.where(missing, -1, choice), missing, margin == 0, np.where(missing, -1, winner), margin
    )
