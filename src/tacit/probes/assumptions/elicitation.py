"""Elicitation prompts, and people's responses to them (Weir et al. 2020, Table 1)."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.properties import SEVERAL_WORDS, TAGGED, Step, apply_filters
from tacit.probes.assumptions.responses import ResponseReader
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import bare, is_plural, is_tagged, shipped_nouns
from tacit.requests import RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.options import ConceptPreset, NormsOptions
    from tacit.probes.assumptions.responses import Response
    from tacit.sources.norms import Norms


class Elicited(NamedTuple):
    """People's responses to a concept and a relation."""

    relation: str
    concept: str
    responses: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class Elicitation:
    """What prompts ask for, the effect of each filter, and the concepts without a response."""

    prompts: tuple[Elicited, ...]
    steps: tuple[Step, ...]
    without: Mapping[str, int]
    notes: Mapping[str, int]

    def counts(self) -> dict[str, int]:
        """Return the number of prompts of each relation."""
        found = Counter(prompt.relation for prompt in self.prompts)
        return {relation: found[relation] for relation in self.without}

    def completions(self, relation: str) -> tuple[str, ...]:
        """Return people's completions of a relation, collected over all concepts."""
        words = (
            word
            for prompt in self.prompts
            if prompt.relation == relation
            for response in prompt.responses
            for word in response.spellings
        )
        return tuple(dict.fromkeys(words))


def elicit(
    norms: Norms, options: NormsOptions, corrections: Sequence[Correction] = ()
) -> Elicitation:
    """Collect people's responses to the concepts that pass every filter."""
    reader = ResponseReader(Corrections(norms, corrections), options.responses)
    properties, least = norms.by_concept(), options.least_people
    left, steps = apply_filters(list(properties), str, _tests(options.concepts))
    found: dict[str, list[Elicited]] = {relation: [] for relation in load_templates().relations}
    for name in left:
        answers = reader.read(one for one in properties[name] if one.frequency >= least)
        for relation, prompts in found.items():
            if answers[relation]:
                prompts.append(Elicited(relation, name, answers[relation]))
    without = {relation: len(left) - len(prompts) for relation, prompts in found.items()}
    every = list(itertools.chain.from_iterable(found.values()))
    there = {prompt.concept for prompt in every}
    names, limit = apply_filters([one for one in left if one in there], str, (), options.limit)
    kept = set(names)
    asked = tuple(prompt for prompt in every if prompt.concept in kept)
    return Elicitation(asked, (*steps, *limit), without, dict(reader.notes))


def _tests(concepts: ConceptPreset) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Yield the name and the test of each concept filter, in the order of application."""
    if concepts == "paper":
        yield TAGGED, lambda name: not is_tagged(name)
    if concepts != "all":
        yield SEVERAL_WORDS, lambda name: " " not in bare(name)
    yield "plural", lambda name: not is_plural(name)


def elicitation_text(relation: str, concept: str, wording: str, *, preface: bool = True) -> str:
    """Return the prompt that asks for the properties of a concept."""
    templates, words = load_templates(), bare(concept)
    with_article = f"{shipped_nouns().article(words)} {words}"
    text = templates.relations[relation].format(concept=with_article)
    text += templates.ends[wording]
    return templates.preface + text if preface else text[0].upper() + text[1:]


VOCABULARY = "vocabulary"
SENSIBLE = "sensible"


class Item(NamedTuple):
    """An elicitation prompt paired with a candidate set."""

    preface: bool
    over: str
    prompt: Elicited
    candidates: Vocabulary

    @property
    def key(self) -> dict[str, Any]:
        """What identifies the item."""
        return {
            "relation": self.prompt.relation,
            "preface": self.preface,
            "over": self.over,
            "concept": self.prompt.concept,
        }


@dataclass(frozen=True)
class Eliciting:
    """The elicitation prompts for one model, with the candidates for each prompt."""

    asked: Elicitation
    prefaces: Sequence[bool]
    wording: str
    own: Vocabulary
    shared: Vocabulary
    top: int

    @cached_property
    def items(self) -> Sequence[Item]:
        """One ``Item`` for each prompt and candidate set; empty candidate sets are left out."""
        return [
            Item(preface, over, prompt, among)
            for preface in self.prefaces
            for prompt in self.asked.prompts
            for over, among in (
                (VOCABULARY, self.own),
                (SENSIBLE, self._sensible[prompt.relation]),
            )
            if among is not None
        ]

    @cached_property
    def _sensible(self) -> Mapping[str, Vocabulary | None]:
        """For each relation, people's completions that are one token in every compared model."""
        found = {
            relation: [word for word in self.asked.completions(relation) if word in self.shared]
            for relation in self.asked.without
        }
        return {relation: Vocabulary(words) if words else None for relation, words in found.items()}

    @property
    def keys(self) -> pl.DataFrame:
        """What identifies each item, its text and its candidates."""
        rows = (
            {
                **item.key,
                "text": self._text(item),
                "words": len(item.candidates),
                "digest": item.candidates.digest,
            }
            for item in self.items
        )
        return _frame(rows, "text", "words", "digest")

    @property
    def responses(self) -> pl.DataFrame:
        """People's responses to each item, with their spellings."""
        rows = (
            {**item.key, **response._asdict()}
            for item in self.items
            for response in item.prompt.responses
        )
        return _frame(rows, "word", "frequency", "spellings")

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """One ranking prompt for each item."""
        return [
            RankingPrompt(
                self._text(item),
                item.candidates,
                tuple(
                    spelling
                    for response in item.prompt.responses
                    for spelling in response.spellings
                    if spelling in item.candidates
                ),
                top=self.top,
            )
            for item in self.items
        ]

    def _text(self, item: Item) -> str:
        relation, concept, _ = item.prompt
        return elicitation_text(relation, concept, self.wording, preface=item.preface)


def _frame(rows: Iterator[dict[str, Any]], *names: str) -> pl.DataFrame:
    """Return rows with the columns of ``Item.key`` and further columns; there may be no rows."""
    import polars as pl

    types = {
        "preface": pl.Boolean(),
        "words": pl.Int64(),
        "frequency": pl.Int64(),
        "spellings": pl.List(pl.String),
    }
    columns = ("relation", "preface", "over", "concept", *names)
    return pl.DataFrame(list(rows), {name: types.get(name, pl.String()) for name in columns})
