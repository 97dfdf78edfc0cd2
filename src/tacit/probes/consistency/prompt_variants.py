"""The inputs that a yes/no question's scores are the columns of, and the tables of scores."""

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
    """The inputs (variant, word) of a yes/no question, ordered by variant and answer word.

    Args:
        variants: The variant of each input, from 0.
        words: The answer word of each.
        metas: The meta-prompts' numbers.
        pairs: The pairs of answer words, the positive one first.
        positive: Where a pair's positive word behind a meta-prompt is, shape (metas, pairs).
        negative: Where its negative word is, shape (metas, pairs).
    """

    variants: tuple[int, ...]
    words: tuple[str, ...]
    metas: tuple[int, ...]
    pairs: tuple[tuple[str, str], ...]
    positive: Ints
    negative: Ints

    @classmethod
    def of(cls, variants: Sequence[PromptVariant]) -> Inputs:
        """The inputs of a question that is put in all these variants."""
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
        """Where a meta-prompt and a pair stand in ``metas`` and ``pairs``.

        Raises:
            RequestError: There is no such meta-prompt or pair.
        """
        if meta not in self.metas:
            raise RequestError(
                f"there is no meta-prompt {meta}; expected one of {', '.join(map(str, self.metas))}"
            )
        if pair not in self.pairs:
            known = ", ".join(map("/".join, self.pairs))
            raise RequestError(f"there is no pair {'/'.join(pair)}; expected one of {known}")
        return self.metas.index(meta), self.pairs.index(pair)

    def table(self, scored: Sequence[Scores]) -> Floats:
        """The scores of questions, each put in all variants, side by side.

        Args:
            scored: For one question after the other, the scores of its variants in their order.

        Returns:
            Log-probabilities in nats, shape (questions, inputs); nan where there is none.
        """
        values = [nan_or(one.logprob) for scores in scored for one in scores.answers]
        return np.array(values, dtype=np.float64).reshape(-1, len(self.words))

    def votes(self, voted: Sequence[Votes]) -> Floats:
        """The votes on questions, each put in all variants, side by side.

        Args:
            voted: For one question after the other, the votes of its variants in their order.

        Returns:
            Counts, shape (questions, inputs); nan where no reply to the variant could be read.
        """
        each = [
            [float(votes.counts[word]) if votes.parsed else math.nan for word in votes.counts]
            for votes in voted
        ]
        values = [count for counts in each for count in counts]
        return np.array(values, dtype=np.float64).reshape(-1, len(self.words))


def nan_or(value: float | None) -> float:
    """The value, or nan for a missing one."""
    return float("nan") if value is None else value


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
