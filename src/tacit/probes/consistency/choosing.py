"""From stored scores to the choice that a model takes for an anchor's answer, in two ways.

The papers say only that the same prompting answers an anchor (section 3.2). ``choose`` takes the
choice with the highest score of all, per byte; ``verify`` asks of each choice whether it is the
answer. Anchors have at least two choices, and not all as many: the arrays are as wide as the most,
and a choice of no bytes is none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.answering import by_best, by_votes
from tacit.probes.consistency.inputs import nan_or

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tacit.probes.consistency.inputs import Bools, Floats, Inputs, Ints
    from tacit.requests import Scores, Votes


@dataclass(frozen=True)
class Chosen:
    """What anchors were answered with; every array has the shape (anchors,).

    Args:
        choice: The choice, from 0, of tied ones the first; -1 where it is missing.
        missing: Whether it is not known how good one of the choices is, so that none can be taken
            for the best; of votes also whether choices are tied.
        tied: Whether another choice is exactly as good.
        winner: The form (``choose``) or input (``verify``) that speaks for it, from 0; -1 where the
            choice is missing.
        margin: By how much it is better than the second best: nats per byte (``choose``) or nats
            (``verify``); nan where the choice is missing.
    """

    choice: Ints
    missing: Bools
    tied: Bools
    winner: Ints
    margin: Floats


def choose(scores: Floats, sizes: Ints, most: Floats | None = None) -> Chosen:
    """The choice with the single highest score over all forms, normalised per byte.

    Args:
        scores: Log-probabilities in nats, shape (anchors, forms, choices); nan where there is none.
        sizes: The choices' lengths in UTF-8 bytes, shape (anchors, choices); 0 for no choice.
        most: What missing scores are at most (``Bounds.choices``): a choice that may be better in
            a form without a score is not known.
    """
    lengths = np.where(sizes > 0, sizes, 1)[:, None, :]
    per_byte = scores / lengths
    known = np.where(np.isnan(per_byte), -np.inf, per_byte)
    form = known.argmax(axis=1)
    best = np.take_along_axis(per_byte, form[:, None, :], axis=1)[:, 0]
    if most is not None:
        hidden = np.where(np.isnan(scores), most / lengths, -np.inf).max(axis=1)
        best = np.where(hidden > best, np.nan, best)
    return _chosen(best, form, sizes)


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
        scored: For each anchor, the scores of its forms in their order; at least one anchor.
    """
    widest = max(len(scores[0].answers) for scores in scored)
    table = np.full((len(scored), len(scored[0]), widest), np.nan)
    sizes = np.zeros((len(scored), widest), dtype=np.int64)
    for anchor, forms in enumerate(scored):
        for form, scores in enumerate(forms):
            for choice, one in enumerate(scores.answers):
                table[anchor, form, choice] = nan_or(one.logprob)
                sizes[anchor, choice] = one.bytes
    return table, sizes


def verify_table(scored: Sequence[Sequence[Sequence[Scores]]], inputs: Inputs) -> Floats:
    """The scores of all anchors as ``verify`` takes them.

    Args:
        scored: For each anchor and each of its choices, the scores of the forms in their order; at
            least one anchor.
        inputs: The inputs of the forms.
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
        votes: Of each anchor's choices, each in all forms, one after the other.
        choices: How many choices each anchor has; at least one anchor.
        inputs: The inputs of the forms.
    """
    table = np.full((len(choices), max(choices), len(inputs.words)), np.nan)
    there = np.arange(max(choices))[None] < np.array(choices)[:, None]
    table[there] = inputs.votes(votes)
    return table


def _chosen(values: Floats, spoken: Ints, sizes: Ints) -> Chosen:
    """The choice of the highest value, and the form or input that speaks for it."""
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
