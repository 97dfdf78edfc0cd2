"""Arrange the scores of yes/no questions by prompt variant and answer word.

Each combination of a prompt variant and an answer word is called an input and has one column of
scores.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tacit.errors import RequestError
from tacit.requests import OUTSIDE, OUTSIDE_FIRST, UNKNOWN, Scores

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tacit.probes.consistency.questions import PromptVariant
    from tacit.requests import Votes

    Bools: TypeAlias = NDArray[np.bool_]
    Floats: TypeAlias = NDArray[np.float64]
    Ints: TypeAlias = NDArray[np.int64]
    from tacit.requests import AnswerScore


@dataclass(frozen=True)
class Inputs:
    """The scored combinations (inputs) of a prompt variant and an answer word."""

    variants: tuple[int, ...]
    words: tuple[str, ...]
    metas: tuple[int, ...]
    pairs: tuple[tuple[str, str], ...]
    positive: Ints
    negative: Ints

    @classmethod
    def of(cls, variants: Sequence[PromptVariant]) -> Inputs:
        """Combine each of the given prompt variants with each of its answer words."""
        columns: dict[tuple[int, tuple[str, str]], int] = {}
        for variant in variants:
            for pair in zip(variant.answers[::2], variant.answers[1::2], strict=True):
                columns[variant.meta, pair] = 2 * len(columns)
        metas = tuple(dict.fromkeys(meta for meta, _ in columns))
        pairs = tuple(dict.fromkeys(pair for _, pair in columns))
        positive = np.array([[columns[meta, pair] for pair in pairs] for meta in metas])
        return cls(
            tuple(at for at, variant in enumerate(variants) for _ in variant.answers),
            tuple(word for variant in variants for word in variant.answers),
            metas,
            pairs,
            positive,
            positive + 1,
        )

    def indexes(self, meta: int, pair: tuple[str, str]) -> tuple[int, int]:
        """Return the index of a meta-prompt in ``metas`` and the index of a pair in ``pairs``."""
        if meta not in self.metas:
            raise RequestError(
                f"there is no meta-prompt {meta}; expected one of {', '.join(map(str, self.metas))}"
            )
        if pair not in self.pairs:
            known = ", ".join(map("/".join, self.pairs))
            raise RequestError(f"there is no label pair {'/'.join(pair)}; expected one of {known}")
        return self.metas.index(meta), self.pairs.index(pair)

    def table(self, scored: Sequence[Scores]) -> Floats:
        """Return the scores of yes/no questions as an array with one row per question."""
        values = [nan_or(one.logprob) for scores in scored for one in scores.answers]
        return np.array(values, dtype=np.float64).reshape(-1, len(self.words))

    def votes(self, voted: Sequence[Votes]) -> Floats:
        """Return the vote counts of yes/no questions as an array with one row per question."""
        each = [
            [float(votes.counts[word]) if votes.parsed else math.nan for word in votes.counts]
            for votes in voted
        ]
        values = [count for counts in each for count in counts]
        return np.array(values, dtype=np.float64).reshape(-1, len(self.words))


def nan_or(value: float | None) -> float:
    """Return the value, or NaN if the value is None."""
    return float("nan") if value is None else value


@dataclass(frozen=True)
class Bounds:
    """Arrays of scores in which each missing score is replaced by an upper bound."""

    background: Floats | None = None
    choices: Floats | None = None
    verified: Floats | None = None


def at_most(scores: Scores) -> Scores:
    """Return a prompt's scores with each missing score replaced by its upper bound."""
    if all(one.logprob is not None for one in scores.answers):
        return scores
    # An answer that shares a token with its text is conditioned on a different text.
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
