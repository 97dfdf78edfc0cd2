"""Build prompts grouped by kind of question, and convert the model's answers to arrays."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.probes.base import Requests
from tacit.probes.consistency.answers import choice_table, verify_table, verify_votes_table
from tacit.probes.consistency.prompt_variants import Bounds, Inputs, at_most
from tacit.probes.consistency.questions import (
    background_prompts,
    choice_prompts,
    prior_prompts,
    verify_prompts,
)
from tacit.probes.consistency.scored import Scored
from tacit.probes.consistency.votes import Unread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeVar

    import polars as pl

    from tacit.probes.consistency.answers import Chosen
    from tacit.probes.consistency.contexts import Contexts
    from tacit.probes.consistency.prompt_variants import Floats, Ints
    from tacit.probes.consistency.questions import PromptVariant
    from tacit.probes.consistency.template import Templates
    from tacit.requests import Prompt, Scores, Votes
    from tacit.sources.anchors import Anchor

    Item = TypeVar("Item")

BACKGROUND, CHOICE, VERIFY, PRIOR = "background", "choice", "verify", "prior"
"""The names of the prompt groups, one group per kind of question.

In a prompt of the group ``PRIOR``, an empty string replaces the text of an anchor question. The
candidate answers in a prompt of the group ``PRIOR`` are the choices of the anchor question.
"""


def in_context(condition: str) -> str:
    """Return the name of the prompt group in which facts precede the anchor questions."""
    return f"intervention-{condition}"


@dataclass(frozen=True)
class PromptSet:
    """The prompts of a run, grouped by kind of question."""

    texts: tuple[str, ...]
    anchors: Sequence[Anchor]
    variants: tuple[PromptVariant, ...]
    choice_variants: tuple[PromptVariant, ...]
    templates: Templates
    anchoring: tuple[str, ...]
    contexts: Contexts | None = None

    @cached_property
    def requests(self) -> Mapping[str, Requests]:
        """The requests of each prompt group, by the name of the group."""
        # Questions with the same choices share the prompts for the choices' prior.
        return {
            name: _requests(questions, repeats=name == PRIOR)
            for name, questions in self._questions.items()
        }

    def prompts(self, name: str) -> list[Prompt]:
        """Return the prompts of a prompt group, or an empty list if the group does not exist."""
        return [prompt for question in self._questions.get(name, ()) for prompt in question]

    @cached_property
    def _questions(self) -> Mapping[str, list[list[Prompt]]]:
        """The prompts of each prompt group: one list per question, one prompt per variant."""
        groups = {BACKGROUND: [background_prompts(text, self.variants) for text in self.texts]}
        if CHOICE in self.anchoring:
            groups[CHOICE] = [one for each in self.anchors for one in self._asking(each, CHOICE)]
            groups[PRIOR] = [
                prior_prompts(anchor.choices, self.choice_variants) for anchor in self.anchors
            ]
        if VERIFY in self.anchoring:
            groups[VERIFY] = [one for each in self.anchors for one in self._asking(each, VERIFY)]
        return {**groups, **self._in_context()}

    def _asking(self, anchor: Anchor, way: str) -> list[list[Prompt]]:
        """Return an anchor question's prompts for the method ``choice`` or ``verify``."""
        if way == CHOICE:
            return [choice_prompts(anchor.question, anchor.choices, self.choice_variants)]
        return verify_prompts(anchor.question, anchor.choices, self.variants, self.templates)

    def _in_context(self) -> Mapping[str, list[list[Prompt]]]:
        """Return prompts that state facts before an anchor question, by the kind of the facts."""
        if self.contexts is None:
            return {}
        return {
            in_context(condition): [
                [self.contexts.wrapped(condition, at, prompt) for prompt in question]
                for at in of
                for question in self._asking(self.anchors[at], self.anchoring[0])
            ]
            for condition, of in self.contexts.texts.items()
        }

    def in_contexts(
        self, answers: Mapping[str, Sequence[Any]], *, sampled: bool
    ) -> dict[str, Chosen]:
        """Return the answers to anchor questions whose prompts begin with stated facts."""
        found: dict[str, Chosen] = {}
        way = self.anchoring[0]
        for condition, of in self.contexts.texts.items() if self.contexts else ():
            anchors = [self.anchors[at] for at in of]
            alone = replace(self, texts=(), anchors=anchors, anchoring=(way,), contexts=None)
            groups = {BACKGROUND: (), way: answers[in_context(condition)]}
            chosen = (alone.voted if sampled else alone.scored)(groups).chosen(way) if of else None
            if chosen is not None:
                found[condition] = chosen
        return found

    @cached_property
    def inputs(self) -> Inputs:
        """The scored combinations of prompt variant and answer word for yes/no questions."""
        return Inputs.of(self.variants)

    def scored(self, scores: Mapping[str, Sequence[Scores]]) -> Scored:
        """Convert the scores of all prompt groups to arrays."""
        most = {name: [at_most(one) for one in group] for name, group in scores.items()}
        bounds = Bounds() if most == scores else Bounds(*self._arrays(most)[:3])
        arrays = self._arrays(scores)
        return Scored(self.variants, self.choice_variants, *arrays, self.sizes, bounds)

    def _arrays(
        self, scores: Mapping[str, Sequence[Scores]]
    ) -> tuple[Floats, Floats | None, Floats | None, Floats | None]:
        """Return the fields ``background``, ``choices``, ``verified``, ``prior`` of ``Scored``."""
        choices, prior = (
            choice_table(_by(scores[name], len(self.choice_variants)))[0]
            if name in scores
            else None
            for name in (CHOICE, PRIOR)
        )
        verified = None
        if VERIFY in scores:
            verifications = iter(_by(scores[VERIFY], len(self.variants)))
            by_anchor = [[next(verifications) for _ in a.choices] for a in self.anchors]
            verified = verify_table(by_anchor, self.inputs)
        return self.inputs.table(scores[BACKGROUND]), choices, verified, prior

    def voted(self, votes: Mapping[str, Sequence[Votes]]) -> Scored:
        """Convert the votes of all prompt groups to arrays."""
        choices = [len(anchor.choices) for anchor in self.anchors]
        return Scored(
            self.variants,
            self.choice_variants,
            self.inputs.votes(votes[BACKGROUND]),
            None,
            verify_votes_table(votes[VERIFY], choices, self.inputs),
            None,
            self.sizes,
            unread=Unread.of(votes[BACKGROUND], len(self.variants)),
        )

    @cached_property
    def sizes(self) -> Ints:
        """The lengths of the choices in UTF-8 bytes, shape (anchors, choices); 0 is padding."""
        sizes = np.zeros((len(self.anchors), max(len(a.choices) for a in self.anchors)), np.int64)
        for at, anchor in enumerate(self.anchors):
            sizes[at, : len(anchor.choices)] = [len(choice.encode()) for choice in anchor.choices]
        return sizes


def _requests(questions: Sequence[Sequence[Prompt]], *, repeats: bool) -> Requests:
    """Return one request per prompt, identified by its question index and variant index."""
    import polars as pl

    prompts = [prompt for group in questions for prompt in group]
    variants = len(questions[0]) if questions else 0
    keys: pl.DataFrame = pl.DataFrame(
        {
            "question": np.repeat(np.arange(len(questions)), variants),
            "variant": np.tile(np.arange(variants), len(questions)),
        }
    )
    return Requests(keys, prompts, repeats)


def _by(items: Sequence[Item], size: int) -> list[Sequence[Item]]:
    """Split a sequence into consecutive slices of length ``size``."""
    return [items[at : at + size] for at in range(0, len(items), size)]
