"""Elicitation prompts, and people's responses to them (Weir et al. 2020, Table 1)."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.english import Nouns
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.properties import (
    LIMIT,
    SEVERAL_WORDS,
    TAGGED,
    Step,
    apply_filters,
)
from tacit.probes.assumptions.responses import ResponseReader
from tacit.probes.assumptions.template import load_templates, of_wording
from tacit.probes.assumptions.wording import bare, is_plural, is_tagged
from tacit.requests import BLANK, RankingPrompt, Vocabulary

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.properties import ConceptPreset
    from tacit.probes.assumptions.responses import Response, ResponsePreset
    from tacit.probes.assumptions.template import Example
    from tacit.sources.norms import Norms


@dataclass(frozen=True, slots=True)
class ElicitationPrompt:
    """A prompt that names a concept and a relation, with a blank for the property."""

    relation: str
    concept: str
    text: str
    responses: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class Phrasing:
    """The phrasing of elicitation prompts; the defaults are those of Weir et al. (2020)."""

    preface: bool = True
    wording: str = "sentence"
    any_article: bool = True


@dataclass(frozen=True, slots=True)
class Elicitation:
    """The elicitation prompts that are built from norms."""

    prompts: tuple[ElicitationPrompt, ...]
    steps: tuple[Step, ...]
    without: Mapping[str, int]
    notes: Mapping[str, int]

    def counts(self) -> dict[str, int]:
        """Return the number of prompts of each relation."""
        found = Counter(prompt.relation for prompt in self.prompts)
        return {relation: found[relation] for relation in self.without}

    def limited(self, norms: Norms, concepts: int | None) -> Elicitation:
        """Keep only the prompts of the first ``concepts`` concepts that have prompts."""
        there = {prompt.concept for prompt in self.prompts}
        names = [name for name in norms.by_concept() if name in there]
        if concepts is None or concepts >= len(names):
            return self
        kept = set(names[:concepts])
        prompts = tuple(prompt for prompt in self.prompts if prompt.concept in kept)
        step = Step(LIMIT, tuple(names[concepts:]), concepts)
        return replace(self, prompts=prompts, steps=(*self.steps, step))

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
    norms: Norms,
    phrasing: Phrasing | None = None,
    corrections: Sequence[Correction] = (),
    *,
    concepts: ConceptPreset = "paper",
    responses: ResponsePreset = "people",
    people: int = 0,
) -> Elicitation:
    """Build prompts with responses from the properties that at least ``people`` people named."""
    phrasing = phrasing or Phrasing()
    nouns = Nouns.load()
    reader = ResponseReader(Corrections(norms, corrections), responses, phrasing.any_article)
    properties = norms.by_concept()
    left, steps = apply_filters(list(properties), str, _tests(concepts))
    relations = load_templates().relations
    found: dict[str, list[ElicitationPrompt]] = {relation: [] for relation in relations}
    for name in left:
        answers = reader.read(one for one in properties[name] if one.frequency >= people)
        for relation, prompts in found.items():
            if answers[relation]:
                text = _text(relation, bare(name), phrasing, nouns)
                prompts.append(ElicitationPrompt(relation, name, text, answers[relation]))
    return Elicitation(
        tuple(itertools.chain.from_iterable(found.values())),
        steps,
        {relation: len(left) - len(prompts) for relation, prompts in found.items()},
        dict(reader.notes),
    )


def _tests(concepts: ConceptPreset) -> Iterator[tuple[str, Callable[[str], bool]]]:
    """Yield the name and the test of each concept filter, in the order of application."""
    if concepts == "paper":
        yield TAGGED, lambda name: not is_tagged(name)
    if concepts != "all":
        yield SEVERAL_WORDS, lambda name: " " not in bare(name)
    yield "plural", lambda name: not is_plural(name)


def asked_of(concept: str, relation: str, wording: str = "sentence") -> str:
    """Return the "Everyone knows that" prompt for a concept and a relation."""
    return _text(relation, bare(concept), Phrasing(wording=wording), Nouns.load())


def _text(relation: str, concept: str, phrasing: Phrasing, nouns: Nouns) -> str:
    templates = load_templates()
    with_article = f"{nouns.article(concept)} {concept}"
    text = templates.relations[relation].format(concept=with_article)
    text += of_wording(templates.ends, phrasing.wording)
    return templates.preface + text if phrasing.preface else text[0].upper() + text[1:]


VOCABULARY = "vocabulary"
SENSIBLE = "sensible"


class Item(NamedTuple):
    """An elicitation prompt paired with a candidate set."""

    preface: bool
    over: str
    prompt: ElicitationPrompt


@dataclass(frozen=True)
class Eliciting:
    """The elicitation prompts for one model, with the candidates for each prompt."""

    asked: Mapping[bool, Elicitation]
    own: Vocabulary
    shared: Vocabulary
    top: int = 20

    @cached_property
    def items(self) -> Sequence[Item]:
        """One ``Item`` for each prompt and candidate set; empty candidate sets are left out."""
        return [
            Item(preface, over, prompt)
            for preface, elicitation in self.asked.items()
            for prompt in elicitation.prompts
            for over in (VOCABULARY, SENSIBLE)
            if over == VOCABULARY or prompt.relation in self._sensible
        ]

    @property
    def keys(self) -> pl.DataFrame:
        """What identifies each item, its text and its candidates."""
        import polars as pl

        rows = [
            (
                *(item.prompt.relation, item.preface, item.over, item.prompt.concept),
                *(item.prompt.text, len(among), among.digest),
            )
            for item in self.items
            for among in (self.candidates(item),)
        ]
        names = ("relation", "preface", "over", "concept", "text", "words", "digest")
        types = {"preface": pl.Boolean, "words": pl.Int64}
        return pl.DataFrame(rows, {**dict.fromkeys(names, pl.String), **types}, orient="row")

    @property
    def responses(self) -> pl.DataFrame:
        """People's responses to each item, with their spellings."""
        import polars as pl

        rows = [
            (
                *(item.prompt.relation, item.preface, item.over, item.prompt.concept),
                *(response.word, response.frequency, response.spellings),
            )
            for item in self.items
            for response in item.prompt.responses
        ]
        names = ("relation", "preface", "over", "concept", "word", "frequency", "spellings")
        types: dict[str, Any] = {
            "preface": pl.Boolean,
            "frequency": pl.Int64,
            "spellings": pl.List(pl.String),
        }
        return pl.DataFrame(rows, {**dict.fromkeys(names, pl.String), **types}, orient="row")

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """One ranking prompt for each item."""
        return [self._ranking(item) for item in self.items]

    def candidates(self, item: Item) -> Vocabulary:
        """Return the candidate words of an elicitation item."""
        return self.own if item.over == VOCABULARY else self._sensible[item.prompt.relation]

    @cached_property
    def _sensible(self) -> Mapping[str, Vocabulary]:
        """For each relation, people's completions that are one token in every compared model."""
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


class ListPrompt(NamedTuple):
    """A prompt that is built from one of the linguist Ellen Prince's examples."""

    concept: str
    part: str
    text: str
    targets: tuple[str, ...]


@dataclass(frozen=True)
class Prince:
    """The linguist Ellen Prince's examples as prompts (Weir et al. 2020, Table 3)."""

    candidates: Vocabulary
    wording: str
    top: int = 20
    examples: Mapping[str, Example] = field(default_factory=lambda: load_templates().prince)

    @property
    def keys(self) -> pl.DataFrame:
        """What identifies each prompt, its text and its number of candidates."""
        import polars as pl

        rows = [(one.concept, one.part, one.text) for one in self.prompts]
        names = dict.fromkeys(("concept", "part", "text"), pl.String)
        words = pl.lit(len(self.candidates), pl.Int64)
        return pl.DataFrame(rows, names, orient="row").with_columns(words=words)

    @property
    def meant(self) -> pl.DataFrame:
        """The words that Prince gives in each example."""
        import polars as pl

        rows = [(one.concept, one.part, word) for one in self.prompts for word in one.targets]
        return pl.DataFrame(
            rows, dict.fromkeys(("concept", "part", "word"), pl.String), orient="row"
        )

    @cached_property
    def prompts(self) -> Sequence[ListPrompt]:
        """The prompts for Prince's examples, which ask for the concept or for its properties."""
        return [
            told
            for concept, example in self.examples.items()
            for told in (self._concept(concept, example), *self._properties(concept, example))
        ]

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """A ranking prompt for each of the prompts."""
        return [
            RankingPrompt(
                one.text,
                self.candidates,
                tuple(target for target in one.targets if target in self.candidates),
                top=self.top,
            )
            for one in self.prompts
        ]

    def _concept(self, concept: str, example: Example) -> ListPrompt:
        said = example.text.split(BLANK, 1)[1].strip().removesuffix(".")
        template = of_wording(load_templates().retrieval, self.wording)
        text = template.format(a="a", A="A", properties=said)
        return ListPrompt(concept, "concept", text, (concept,))

    def _properties(self, concept: str, example: Example) -> list[ListPrompt]:
        return [
            ListPrompt(concept, relation, asked_of(concept, relation, self.wording), words)
            for relation, words in example.completions.items()
        ]
