"""All scores or votes of a run, as arrays from which answers are derived."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.probes.consistency import answers, votes
from tacit.probes.consistency.answers import by_votes, without_unvoted
from tacit.probes.consistency.prompt_variants import Bounds, Inputs

if TYPE_CHECKING:
    from collections.abc import Sequence

    import polars as pl

    from tacit.probes.consistency.answers import Answers, Chosen, Method
    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.questions import PromptVariant
    from tacit.probes.consistency.votes import Unread

# The methods of answering an anchor question; the first is the default.
ANCHORING = ("choice", "verify")


@dataclass(frozen=True)
class Scored:
    """All scores or votes of a run, as arrays from which answers are derived."""

    variants: tuple[PromptVariant, ...]
    choice_variants: tuple[PromptVariant, ...]
    background: Floats
    choices: Floats | None
    verified: Floats | None
    prior: Floats | None
    sizes: Ints
    bounds: Bounds = field(default_factory=Bounds)
    unread: Unread | None = None

    @property
    def voted(self) -> bool:
        """Whether the scores are vote counts of sampled replies."""
        return self.unread is not None

    def answers(self, method: Method) -> Answers:
        """Compute the answers to the background questions."""
        if not self.voted:
            return method.answers(self.background, self.inputs, self.bounds.background)
        if method.preset == "max":
            return by_votes(self.background, self.inputs)
        return method.answers(without_unvoted(self.background, self.inputs), self.inputs)

    def beliefs(self, method: Method) -> pl.DataFrame | None:
        """Return each background question's vote shares; None without sampled replies."""
        if self.unread is None:
            return None
        sides = method.sides(self.inputs)
        return votes.of_questions(self.background, self.unread, self.inputs, *sides)

    @cached_property
    def inputs(self) -> Inputs:
        """The pairs of prompt variant and answer word, as in the last axis of ``background``."""
        return Inputs.of(self.variants)

    def chosen(self, anchoring: str) -> Chosen | None:
        """Return the answers to anchor questions by a method; None if the method was not used."""
        if anchoring == "choice":
            if self.choices is None:
                return None
            return answers.choose(self.choices, self.sizes, self.bounds.choices)
        if self.verified is None:
            return None
        if self.voted:
            return answers.verify_votes(self.verified, self.inputs, self.sizes)
        return answers.verify(self.verified, self.inputs, self.sizes, self.bounds.verified)

    def chosen_variants(self, anchoring: str) -> Sequence[tuple[int, str | None, str | None]]:
        """Return the meta-prompt, the pair of answer words and the answer word of each input."""
        if anchoring == "choice":
            return [
                (variant.meta, joined_pair(variant.pair), None) for variant in self.choice_variants
            ]
        return input_labels(self.variants, self.inputs)


def input_labels(variants: Sequence[PromptVariant], inputs: Inputs) -> list[tuple[int, str, str]]:
    """Return the meta-prompt, the pair of answer words, and the answer word of each input."""
    pair_of = {word: "/".join(pair) for pair in inputs.pairs for word in pair}
    return [
        (variants[variant].meta, pair_of[word], word)
        for variant, word in zip(inputs.variants, inputs.words, strict=True)
    ]


def joined_pair(pair: tuple[str, str] | None) -> str | None:
    """Return a label pair as text, such as ``Yes/No``; None if there is no pair."""
    return None if pair is None else "/".join(pair)
