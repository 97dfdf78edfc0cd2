"""How much the answers depend on the way to ask: over meta-prompts and pairs of answer words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.probes.consistency.choosing import choose, verify_between, without_ties

if TYPE_CHECKING:
    from tacit.probes.consistency.answering import Answers
    from tacit.probes.consistency.choosing import Chosen
    from tacit.probes.consistency.inputs import Floats, Inputs, Ints


@dataclass(frozen=True)
class Alone:
    """How often each way to ask, used alone, is right.

    Args:
        right: How many answers are right, in any shape of ways to ask.
        scored: Of how many, in the same shape.
    """

    right: Ints
    scored: Ints


def wins(answers: Answers, inputs: Inputs) -> Ints:
    """How often each (meta-prompt, pair) holds the input that gave the answer.

    Summed over the first axis it tells how often each pair wins, over the second each meta-prompt.

    Returns:
        Counts, shape (metas, pairs); answers without a winner are in none.
    """
    won = np.bincount(answers.winner[answers.winner >= 0], minlength=len(inputs.words))
    return won[inputs.positive] + won[inputs.negative]


def choose_alone(scores: Floats, sizes: Ints, right: Ints, most: Floats | None = None) -> Alone:
    """Each form alone, as ``choose`` takes it.

    Args:
        scores: As for ``choose``.
        sizes: As for ``choose``.
        right: The right choice of each anchor, from 0, shape (anchors,).
        most: As for ``choose``.

    Returns:
        Shape (forms,).
    """
    each = [
        choose(scores[:, [form]], sizes, None if most is None else most[:, [form]])
        for form in range(scores.shape[1])
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
    """Each (meta-prompt, pair) alone, as ``verify`` takes it.

    Args:
        scores: As for ``verify``.
        inputs: As for ``verify``.
        sizes: As for ``choose``.
        right: The right choice of each anchor, from 0, shape (anchors,).
        most: As for ``verify``.
        voted: Whether the scores are votes, so that of tied choices none is taken.

    Returns:
        Shape (metas, pairs).
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
