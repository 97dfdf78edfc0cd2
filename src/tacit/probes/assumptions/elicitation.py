"""Prompts that ask for a concept's properties, and people's answers (Weir et al. 2020, Table 1)."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.english import Nouns, head
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.spelling import american, spellings
from tacit.probes.assumptions.templates import load_templates, of_wording
from tacit.probes.assumptions.wording import bare, predicate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tacit.probes.assumptions.corrections import Correction
    from tacit.sources.norms import Norms, Property

# Words that cannot be the one word of a response: what follows them is cut off or denied.
_NO_RESPONSE = frozenset({"a", "an", "the", "no", "not", "of", "made"})


@dataclass(frozen=True, slots=True)
class Response:
    """One word with which people completed a prompt.

    Args:
        word: As the norms spell it; of two spellings the more frequent one.
        frequency: The highest production frequency of a feature that gives it.
        spellings: What counts as this response: the word, then its other spellings.
    """

    word: str
    frequency: int
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ElicitationPrompt:
    """A relation of a concept, with a blank for the property.

    Args:
        relation: ``is``, ``is a``, ``has``, ``has a`` or ``made of``.
        concept: As the norms name it.
        text: "Everyone knows that a bear has ___."
        responses: People's, by decreasing frequency, equal ones in the order of the file.
    """

    relation: str
    concept: str
    text: str
    responses: tuple[Response, ...]


@dataclass(frozen=True, slots=True)
class Phrasing:
    """How elicitation is asked; the defaults are the paper's.

    Args:
        preface: Whether "Everyone knows that" stands in front; without it is the ablation.
        wording: ``sentence``, or ``blank-last`` without the full stop behind the blank.
        any_article: Whether "is an animal" is a completion of "is a ___" too.

    Raises:
        RequestError: There is no such wording.
    """

    preface: bool = True
    wording: str = "sentence"
    any_article: bool = True

    def __post_init__(self) -> None:
        of_wording(load_templates().ends, self.wording)


@dataclass(frozen=True, slots=True)
class Elicitation:
    """All prompts, by relation in the paper's order, then in the order of the file.

    Args:
        prompts: Those with at least one response.
        plural: Concepts left out because they are plural, by the norms' names.
        without: By relation, how many of the other concepts nobody completed it for in one word.
    """

    prompts: tuple[ElicitationPrompt, ...]
    plural: tuple[str, ...]
    without: Mapping[str, int]

    def counts(self) -> dict[str, int]:
        """The number of prompts of each relation."""
        found = Counter(prompt.relation for prompt in self.prompts)
        return {relation: found[relation] for relation in self.without}

    def limited(self, norms: Norms, concepts: int | None) -> Elicitation:
        """Only the prompts of the norms' first so many concepts that have any; None for all."""
        there = {prompt.concept for prompt in self.prompts}
        kept = set([name for name in norms.by_concept() if name in there][:concepts])
        prompts = tuple(prompt for prompt in self.prompts if prompt.concept in kept)
        return Elicitation(prompts, self.plural, self.without)

    def completions(self, relation: str) -> tuple[str, ...]:
        """All words that people completed a relation with, for any concept: the sensible set."""
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
    least_people: int = 0,
) -> Elicitation:
    """The elicitation prompts of norms, with what people answered.

    A response is a one-word completion of the relation's form among a feature's alternatives:
    those that an underscore joins (``is big_large`` gives big and large) and those of its own
    column. A corrected property gives what its correction says.

    Args:
        norms: The norms.
        phrasing: How to ask.
        corrections: A person's own wordings.
        least_people: The least production frequency of a property that counts.
    """
    phrasing = phrasing or Phrasing()
    nouns = Nouns.load()
    known = Corrections(norms, corrections)
    concepts = norms.by_concept()
    plural = tuple(name for name in concepts if is_plural(name, nouns))
    relations = load_templates().relations
    found: dict[str, list[ElicitationPrompt]] = {relation: [] for relation in relations}
    for name, properties in concepts.items():
        if name in plural:
            continue
        counted = [one for one in properties if one.frequency >= least_people]
        answers = _answers(counted, known, any_article=phrasing.any_article)
        for relation, prompts in found.items():
            if responses := _responses(answers[relation]):
                text = _text(relation, bare(name), phrasing, nouns)
                prompts.append(ElicitationPrompt(relation, name, text, responses))
    asked = len(concepts) - len(plural)
    return Elicitation(
        tuple(itertools.chain.from_iterable(found.values())),
        plural,
        {relation: asked - len(prompts) for relation, prompts in found.items()},
    )


def asked_of(concept: str, relation: str, wording: str = "sentence") -> str:
    """The elicitation prompt of a relation of a concept, with the preface.

    Raises:
        RequestError: There is no such wording.
    """
    return _text(relation, bare(concept), Phrasing(wording=wording), Nouns.load())


def is_plural(concept: str, nouns: Nouns) -> bool:
    """Whether a concept is plural: by ``nouns.yaml``, else by the lexicon, else by its s."""
    from lemminflect import getAllLemmas, getInflection

    words = bare(concept)
    last = head(words)
    if last in nouns.plural or last in nouns.singular:
        return last in nouns.plural
    singulars = getAllLemmas(last).get("NOUN", ())
    if singulars and last not in singulars:
        return True
    only = not singulars or tuple(getInflection(last, "NNS")) == (last,)
    return only and nouns.is_plural(words)


def completion(said: str, *, any_article: bool = True) -> tuple[str, str] | None:
    """The relation and the one word with which a predicate completes it; None where it does not.

    "is big" is (``is``, big); "is an animal" is (``is a``, animal), or None without any article.
    """
    words = said.split(" ")
    verb, rest = words[0], words[1:]
    if verb not in {"is", "has"} or not rest or rest[-1].lower() in _NO_RESPONSE:
        return None
    relation = verb
    if verb == "is" and rest[:2] == ["made", "of"]:
        relation, rest = "made of", rest[2:]
    elif rest[0] in ({"a", "an"} if any_article else {"a"}):
        relation, rest = f"{verb} a", rest[1:]
    return (relation, rest[0]) if len(rest) == 1 else None


def _answers(
    properties: Iterable[Property], corrections: Corrections, *, any_article: bool
) -> Mapping[str, list[tuple[str, int]]]:
    """By relation, the words of a concept's properties with their frequencies."""
    found: dict[str, list[tuple[str, int]]] = {name: [] for name in load_templates().relations}
    for one in properties:
        own = corrections.wording(one)
        for said in _said(one) if own is None else (own,):
            completed = completion(said, any_article=any_article)
            if completed is not None:
                relation, word = completed
                found[relation].append((word, one.frequency))
    return found


def _said(one: Property) -> Iterator[str]:
    """Every predicate that a property's feature and alternatives make."""
    for text in (one.feature, *one.alternatives):
        tokens = [[word for word in token.split("_") if word] for token in text.split()]
        for words in itertools.product(*filter(None, tokens)):
            said = predicate(" ".join(words))
            if said is not None:
                yield said


def _responses(answers: Iterable[tuple[str, int]]) -> tuple[Response, ...]:
    """Each word once, with the highest frequency; two spellings of a word are one."""
    words: dict[str, dict[str, int]] = {}
    for word, frequency in answers:
        spelt = words.setdefault(american(word), {})
        spelt[word] = max(spelt.get(word, 0), frequency)
    found = []
    for spelt in words.values():
        best = max(spelt, key=lambda word: spelt[word])
        accepted = dict.fromkeys([*spellings(best), *spelt])
        found.append(Response(best, spelt[best], tuple(accepted)))
    return tuple(sorted(found, key=lambda response: -response.frequency))


def _text(relation: str, concept: str, phrasing: Phrasing, nouns: Nouns) -> str:
    templates = load_templates()
    with_article = f"{nouns.article(concept)} {concept}"
    text = templates.relations[relation].format(concept=with_article)
    text += of_wording(templates.ends, phrasing.wording)
    return templates.preface + text if phrasing.preface else text[0].upper() + text[1:]
