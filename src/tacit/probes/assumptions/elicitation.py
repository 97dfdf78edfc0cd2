"""Elicitation prompts, and people's responses to them (Weir et al. 2020, Tables 1 to 3)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import polars as pl

from tacit.probes.assumptions import load_templates
from tacit.probes.assumptions.corrections import Correction, Corrections
from tacit.probes.assumptions.options import AssumptionsOptions, ConceptPreset
from tacit.probes.assumptions.properties import SEVERAL_WORDS, TAGGED, Step, apply_filters
from tacit.probes.assumptions.responses import Response, read_responses
from tacit.probes.assumptions.wording import bare, is_plural, is_tagged, shipped_nouns
from tacit.probes.base import Requests
from tacit.requests import BLANK, RankingPrompt, Vocabulary
from tacit.sources.norms import Norms

OF_ELICITATION = "concepts for elicitation"
"""What filters are applied to, as in the column ``of`` of tables."""

VOCABULARY = "vocabulary"
SENSIBLE = "sensible"
"""The candidates: all words, or those that people gave for the relation of the prompt."""


class Elicited(NamedTuple):
    """People's responses to a concept and a relation."""

    relation: str
    concept: str
    responses: tuple[Response, ...]


@dataclass(frozen=True)
class Elicitation:
    """What prompts ask for, and the effect of each filter."""

    prompts: tuple[Elicited, ...]
    steps: tuple[Step, ...]

    def completions(self, relation: str) -> list[str]:
        """Return people's completions of a relation, collected over all concepts."""
        words = (
            word
            for prompt in self.prompts
            if prompt.relation == relation
            for response in prompt.responses
            for word in response.spellings
        )
        return list(dict.fromkeys(words))

    @cached_property
    def responses(self) -> pl.DataFrame:
        """People's responses to each concept and relation, with their spellings."""
        texts = dict.fromkeys(("relation", "concept", "word"), pl.String)
        types: Any = {**texts, "frequency": pl.Int64, "spellings": pl.List(pl.String)}
        rows = [
            (prompt.relation, prompt.concept, *response)
            for prompt in self.prompts
            for response in prompt.responses
        ]
        return pl.DataFrame(rows, types, orient="row")


def elicit(
    norms: Norms, options: AssumptionsOptions, corrections: Sequence[Correction] = ()
) -> Elicitation:
    """Collect people's responses to the concepts that pass every filter."""
    known, least = Corrections(norms, corrections), options.least_people
    properties = norms.by_concept()
    left, steps = apply_filters(OF_ELICITATION, list(properties), str, _tests(options.concepts))
    read = {
        name: read_responses(
            (one for one in properties[name] if one.frequency >= least), known, options.responses
        )
        for name in left
    }
    for relation in load_templates().relations:
        without = tuple(name for name in left if not read[name][relation])
        of = f"concepts for “{relation}”"
        steps.append(Step(of, "no response", without, len(left) - len(without)))
    some = [name for name in left if any(read[name].values())]
    names, limit = apply_filters(OF_ELICITATION, some, str, (), options.limit)
    prompts = (
        Elicited(relation, name, read[name][relation])
        for relation in load_templates().relations
        for name in names
    )
    asked = tuple(prompt for prompt in prompts if prompt.responses)
    return Elicitation(asked, (*steps, *limit))


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


@dataclass(frozen=True)
class Asking:
    """The wording of prompts for one model, and its words: its own and those of all models."""

    wording: str
    own: Vocabulary
    shared: Vocabulary
    top: int

    def elicitation(self, asked: Elicitation, prefaces: Sequence[bool]) -> Requests:
        """Return requests that rank all words, and those that rank people's completions."""
        sensible = {
            relation: Vocabulary(words)
            for relation in load_templates().relations
            if (words := [word for word in asked.completions(relation) if word in self.shared])
        }
        rows, prompts = [], []
        for preface, one in itertools.product(prefaces, asked.prompts):
            text = elicitation_text(one.relation, one.concept, self.wording, preface=preface)
            words = [word for response in one.responses for word in response.spellings]
            for over, among in ((VOCABULARY, self.own), (SENSIBLE, sensible.get(one.relation))):
                if among is not None:
                    rows.append((one.relation, preface, over, one.concept))
                    prompts.append(self._ranking(text, words, among))
        return _requests(["relation", "preface", "over", "concept"], rows, prompts)

    def prince(self) -> tuple[Requests, pl.DataFrame]:
        """Return the prompts from the linguist Ellen Prince's examples, and her words for each."""
        templates = load_templates()
        rows, prompts, words = [], [], []
        for concept, example in templates.prince.items():
            properties = example.text.split(BLANK, 1)[1].strip().removesuffix(".")
            text = templates.retrieval[self.wording].format(a="a", A="A", properties=properties)
            parts = {"concept": (text, (concept,))} | {
                relation: (elicitation_text(relation, concept, self.wording), completions)
                for relation, completions in example.completions.items()
            }
            for part, (text, meant) in parts.items():
                rows.append((concept, part))
                prompts.append(self._ranking(text, meant, self.own))
                words += [(concept, part, word) for word in meant]
        meant_words = pl.DataFrame(words, ["concept", "part", "word"], orient="row")
        return _requests(["concept", "part"], rows, prompts), meant_words

    def _ranking(self, text: str, words: Sequence[str], among: Vocabulary) -> RankingPrompt:
        targets = tuple(word for word in words if word in among)
        return RankingPrompt(text, among, targets, top=self.top)


def _requests(
    names: Sequence[str], rows: Sequence[tuple[Any, ...]], prompts: Sequence[RankingPrompt]
) -> Requests:
    """Return requests whose keys are ``rows``, with the text and the candidates; possibly none."""
    types = {name: pl.Boolean if name == "preface" else pl.String for name in names}
    keys = pl.DataFrame(rows, types, orient="row").with_columns(
        text=pl.Series([one.text for one in prompts], dtype=pl.String),
        words=pl.Series([len(one.vocabulary) for one in prompts], dtype=pl.Int64),
        digest=pl.Series([one.vocabulary.digest for one in prompts], dtype=pl.String),
    )
    return Requests(keys, prompts, repeats=True)
