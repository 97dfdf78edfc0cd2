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
    """The answers to yes/no questions. Each array has the shape (questions,)."""

    positive: Bools
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats


@dataclass(frozen=True)
class Method:
    """A method of answering yes/no questions."""

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
        """Derive the answers to all questions from the scores of the answer words."""
        if self.preset == "count":
            return _by_count(scores, inputs)
        if self.preset == "calibrated":
            scores, most = _calibrated_within(scores, most)
        return by_best(scores, *self.sides(inputs), most)

    def sides(self, inputs: Inputs) -> tuple[Ints, Ints]:
        """Return the indices of inputs with positive and of inputs with negative answer words."""
        if self.meta is None or self.pair is None:
            return inputs.positive.ravel(), inputs.negative.ravel()
        cell = inputs.indexes(self.meta, self.pair)
        return inputs.positive[cell][None], inputs.negative[cell][None]


def by_best(scores: Floats, positive: Ints, negative: Ints, most: Floats | None = None) -> Answers:
    """Derive answers by comparing the best scores of positive and negative answer words."""
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
    """Derive answers by comparing the numbers of positive and negative replies."""
    votes = np.nan_to_num(counts)
    positive = votes[:, inputs.positive.ravel()].sum(axis=1)
    negative = votes[:, inputs.negative.ravel()].sum(axis=1)
    total = positive + negative
    margin = np.full(len(counts), np.nan)
    np.divide(positive - negative, total, out=margin, where=total > 0)
    return Answers(margin > 0, total == 0, margin == 0, np.full(len(counts), -1), margin)


def without_unvoted(counts: Floats, inputs: Inputs) -> Floats:
    """Return a copy of the votes with NaN for pairs of answer words that have no votes."""
    told = counts.copy()
    yes, no = inputs.positive.ravel(), inputs.negative.ravel()
    voted = told[..., yes] + told[..., no] > 0
    told[..., yes] = np.where(voted, told[..., yes], np.nan)
    told[..., no] = np.where(voted, told[..., no], np.nan)
    return told


def contests(scores: Floats, inputs: Inputs) -> Floats:
    """Return the positive minus the negative score for each pair (meta-prompt, label pair)."""
    ahead: Floats = scores[:, inputs.positive] - scores[:, inputs.negative]
    return ahead


def calibrated(scores: Floats) -> Floats:
    """Center the scores of each input (column): subtract their mean over all questions."""
    if not len(scores):
        return scores
    scored = ~np.isnan(scores)
    first = np.take_along_axis(scores, scored.argmax(axis=0)[None], axis=0)
    beyond = scores - first
    sums, counts = np.where(scored, beyond, 0.0).sum(axis=0), scored.sum(axis=0)
    left: Floats = beyond - sums / np.maximum(counts, 1)
    return left


def _calibrated_within(scores: Floats, most: Floats | None) -> tuple[Floats, Floats | None]:
    """Return calibrated scores, and upper bounds for the missing calibrated scores."""
    if most is None:
        return calibrated(scores), None
    lost = (np.isnan(scores) & (most > -np.inf)).any(axis=0)
    left = np.where(lost, np.nan, calibrated(scores))
    return left, np.broadcast_to(np.where(lost, np.inf, -np.inf), left.shape)


def _by_count(scores: Floats, inputs: Inputs) -> Answers:
    """Derive answers by majority vote over all pairs of a meta-prompt and two answer words."""
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
    """Return the best score among the given inputs, and the index of the best input."""
    values = scores[:, among]
    known = np.where(np.isnan(values), -np.inf, values)
    at = known.argmax(axis=1)
    best: Floats = np.take_along_axis(known, at[:, None], axis=1)[:, 0]
    return best, among[at]


def _hidden(scores: Floats, most: Floats | None, among: Ints) -> Floats:
    """Return the highest value that a missing score can have; -inf if no score is missing."""
    if most is None:
        return np.full(len(scores), -np.inf)
    hidden: Floats = np.where(np.isnan(scores[:, among]), most[:, among], -np.inf).max(axis=1)
    return hidden


@dataclass(frozen=True)
class Chosen:
    """The answers to anchor questions. Each array except ``values`` has the shape (anchors,)."""

    choice: Ints
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats
    values: Floats


def choose(scores: Floats, sizes: Ints, most: Floats | None = None) -> Chosen:
    """Select the choice with the highest score per byte over all prompt variants."""
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
    """Select the choice whose best positive score most exceeds its best negative score."""
    return verify_between(scores, inputs.positive.ravel(), inputs.negative.ravel(), sizes, most)


def verify_votes(counts: Floats, inputs: Inputs, sizes: Ints) -> Chosen:
    """Select the choice with the highest share of positive replies."""
    answers = by_votes(counts.reshape(-1, counts.shape[-1]), inputs)
    margin = answers.margin.reshape(sizes.shape)
    return without_ties(_chosen(margin, answers.winner.reshape(sizes.shape), sizes))


def without_ties(found: Chosen) -> Chosen:
    """Return a copy in which questions with several equally good choices have no answer."""
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
    """Select each anchor question's choice, using only given prompt variants and words."""
    shape = (-1, scores.shape[-1])
    bound = None if most is None else most.reshape(shape)
    answers = by_best(scores.reshape(shape), positive, negative, bound)
    return _chosen(answers.margin.reshape(sizes.shape), answers.winner.reshape(sizes.shape), sizes)


def choice_table(scored: Sequence[Sequence[Scores]]) -> tuple[Floats, Ints]:
    """Convert the scores of all choices to two input arrays of the function ``choose``."""
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
    """Convert the anchor questions' scores to an input array of the function ``verify``."""
    widest = max(map(len, scored))
    table = np.full((len(scored), widest, len(inputs.words)), np.nan)
    for anchor, choices in enumerate(scored):
        for choice, scores in enumerate(choices):
            table[anchor, choice] = inputs.table(scores)[0]
    return table


def verify_votes_table(votes: Sequence[Votes], choices: Sequence[int], inputs: Inputs) -> Floats:
    """Convert sampled votes to an input array of the function ``verify_votes``."""
    table = np.full((len(choices), max(choices), len(inputs.words)), np.nan)
    there = np.arange(max(choices))[None] < np.array(choices)[:, None]
    table[there] = inputs.votes(votes)
    return table


def _chosen(values: Floats, spoken: Ints, sizes: Ints) -> Chosen:
    """Select the choice with the highest value for each anchor question."""
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
