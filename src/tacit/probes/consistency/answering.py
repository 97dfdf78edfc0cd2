"""From stored scores to the answers of yes/no questions, in four ways (section 3.2).

Scores are an array (questions, inputs) of log-probabilities in nats, nan where there is none; see
``Inputs`` for its columns. Whatever is read off here asks nothing of a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from tacit.errors import RequestError

if TYPE_CHECKING:
    from tacit.probes.consistency.inputs import Bools, Floats, Inputs, Ints

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
        cell = inputs.cell(self.meta, self.pair)
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
        counts: Shape (questions, inputs), votes; nan where no reply to a form could be read.
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
        counts: Shape (..., inputs), votes; nan where no reply to a form could be read.
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
