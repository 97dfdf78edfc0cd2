"""What answers without a score are at most, so that nothing is concluded that they could change.

A server returns the most probable tokens alone: an answer outside of them is at most as probable as
any inside, behind the same prompt. An exact tie between one inside and one outside is not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tacit.requests import OUTSIDE, OUTSIDE_FIRST, UNKNOWN, Scores

if TYPE_CHECKING:
    from tacit.probes.consistency.inputs import Floats
    from tacit.requests import AnswerScore


@dataclass(frozen=True)
class Bounds:
    """The tables of scores, each missing one replaced by what it is at most.

    Minus infinity stands for no candidate, infinity for one of which nothing is known. A table that
    is None says that whatever is missing is no candidate.
    """

    background: Floats | None = None
    choices: Floats | None = None
    verified: Floats | None = None


def at_most(scores: Scores) -> Scores:
    """A prompt's scores, each missing one replaced by what it is at most.

    Returns:
        Nats. What the model cannot write is no candidate: minus infinity. What is outside of the
        most probable tokens is at most the least of the answers that are one of them. Of whatever
        else is missing nothing is known: infinity.
    """
    if all(one.logprob is not None for one in scores.answers):
        return scores
    # An answer that shares a token with its text is read behind another text.
    inside = [
        one.logprob
        for one in scores.answers
        if one.logprob is not None and one.tokens == 1 and not one.spanned
    ]
    edge = min(inside, default=math.inf)
    return Scores(tuple(replace(one, logprob=_at_most(one, edge)) for one in scores.answers))


def _at_most(one: AnswerScore, edge: float) -> float:
    if one.logprob is not None:
        return one.logprob
    if one.missing == UNKNOWN:
        return -math.inf
    return edge if one.missing in {OUTSIDE, OUTSIDE_FIRST} and not one.spanned else math.inf
