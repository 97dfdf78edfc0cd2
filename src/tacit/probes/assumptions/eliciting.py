"""Elicitation and Prince's examples as requests that rank vocabularies."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tacit.probes.assumptions.elicitation import asked_of
from tacit.probes.assumptions.templates import load_templates, of_wording
from tacit.requests import BLANK, RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.probes.assumptions.elicitation import Elicitation, ElicitationPrompt
    from tacit.probes.assumptions.templates import Example

VOCABULARY = "vocabulary"
SENSIBLE = "sensible"


class Item(NamedTuple):
    """One prompt of elicitation, over one set of candidates."""

    preface: bool
    over: str
    prompt: ElicitationPrompt


@dataclass(frozen=True)
class Eliciting:
    """What is asked of a model, given what people answered.

    Args:
        asked: What people answered and how models are asked, by whether the preface stands before.
        own: The model's whole words, the candidates of ``vocabulary``.
        shared: The words of all models compared: the completions among them are ``sensible``.
        top: How many of the best candidates are kept.
    """

    asked: Mapping[bool, Elicitation]
    own: Vocabulary
    shared: Vocabulary
    top: int = 20

    @cached_property
    def items(self) -> Sequence[Item]:
        """Every prompt, by preface, by relation, over either set of candidates that there is."""
        return [
            Item(preface, over, prompt)
            for preface, elicitation in self.asked.items()
            for prompt in elicitation.prompts
            for over in (VOCABULARY, SENSIBLE)
            if over == VOCABULARY or prompt.relation in self._sensible
        ]

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """One per item; the targets are all accepted spellings that are candidates."""
        return [self._ranking(item) for item in self.items]

    def candidates(self, item: Item) -> Vocabulary:
        """The words that compete for an item."""
        return self.own if item.over == VOCABULARY else self._sensible[item.prompt.relation]

    @cached_property
    def _sensible(self) -> Mapping[str, Vocabulary]:
        """By relation, what people completed it with for any concept."""
        any_way = next(iter(self.asked.values()), None)
        if any_way is None:
            return {}
        found = {
            relation: [word for word in any_way.completions(relation) if word in self.shared]
            for relation in any_way.without
        }
        return {relation: Vocabulary(words) for relation, words in found.items() if words}

    def _ranking(self, item: Item) -> RankingPrompt:
        candidates = self.candidates(item)
        targets = [
            spelling
            for response in item.prompt.responses
            for spelling in response.spellings
            if spelling in candidates
        ]
        return RankingPrompt(item.prompt.text, candidates, tuple(targets), top=self.top)


class Told(NamedTuple):
    """One prompt of Prince's examples: the concept of a list, or a relation of the concept."""

    concept: str
    part: str
    text: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Prince:
    """Prince's own assumptions, both ways (Weir et al. 2020, Table 3).

    Args:
        candidates: The model's whole words; a target that is none of them is left out.
        wording: ``sentence`` or ``blank-last``, for the concept.
        ending: The same, for the properties.
        top: How many of the best candidates are kept.
    """

    candidates: Vocabulary
    wording: str
    ending: str
    top: int = 20
    examples: Sequence[Example] = field(default_factory=lambda: load_templates().prince)

    @cached_property
    def told(self) -> Sequence[Told]:
        """The prompts."""
        return [
            told
            for example in self.examples
            for told in (self._concept(example), *self._properties(example))
        ]

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """One per prompt."""
        return [
            RankingPrompt(
                one.text,
                self.candidates,
                tuple(target for target in one.targets if target in self.candidates),
                top=self.top,
            )
            for one in self.told
        ]

    def _concept(self, example: Example) -> Told:
        said = example.text.split(BLANK, 1)[1].strip().removesuffix(".")
        template = of_wording(load_templates().retrieval, self.wording)
        text = template.format(a="a", A="A", properties=said)
        return Told(example.concept, "concept", text, (example.concept,))

    def _properties(self, example: Example) -> list[Told]:
        return [
            Told(example.concept, relation, asked_of(example.concept, relation, self.ending), words)
            for relation, words in example.completions.items()
        ]
