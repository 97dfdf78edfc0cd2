"""People's one-word responses to elicitation prompts, and their production frequencies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from tacit.probes.assumptions import load_templates
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.options import ResponsePreset
from tacit.probes.assumptions.wording import (
    american,
    expanded,
    is_plural,
    predicate,
    singular,
    spellings,
    worded,
)
from tacit.sources.norms import Property
from tacit.strings import comparable

# Words that cannot be a one-word response: they negate, or the text after them is cut off.
_NO_RESPONSE = frozenset({"a", "an", "the", "no", "not", "of", "made"})


class Response(NamedTuple):
    """One word with which people completed a prompt."""

    word: str
    frequency: int
    spellings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate that people wrote, with their number and, if known, their identifiers."""

    text: str
    frequency: int
    people: frozenset[str] | None = None


def read_responses(
    properties: Iterable[Property],
    corrections: Corrections,
    counting: ResponsePreset = "people",
) -> Mapping[str, tuple[Response, ...]]:
    """Return a concept's one-word responses for each relation, by decreasing frequency."""
    pairs: dict[str, list[tuple[str, int]]] = {name: [] for name in load_templates().relations}
    for one in properties:
        forms: dict[tuple[str, str], list[tuple[str, Predicate]]] = {}
        for given in _predicates(one, corrections, counting):
            if (completed := completion(given.text)) is not None:
                relation, word = completed
                number = word if relation == "is" else singular(word) or word
                key = relation, american(comparable(number))
                forms.setdefault(key, []).append((word, given))
        for (relation, _), some in forms.items():
            pairs[relation] += _answer(relation, some)
    return {relation: _merged(answers) for relation, answers in pairs.items()}


def _predicates(
    one: Property, corrections: Corrections, counting: ResponsePreset
) -> Iterator[Predicate]:
    """Yield those predicates of a property that count as responses."""
    own = corrections.wording(one)
    if own is not None:
        yield Predicate(own, one.frequency)
        return
    alone = len(one.alternatives) == 1
    if counting == "people" and (alone or one.people):
        for at, text in enumerate(one.alternatives):
            people = None if alone else one.people[at]
            count = one.frequency if people is None else len(people)
            yield from (Predicate(each, count, people) for each in _worded([text], one))
        return
    every = counting == "feature"
    texts = [predicate(text) for text in (expanded(one.feature) if every else [one.feature])]
    texts += _worded(one.alternatives, one) if every else []
    yield from (Predicate(text, one.frequency) for text in texts if text is not None)


def _worded(alternatives: Iterable[str], one: Property) -> list[str]:
    """Return the predicates formed from people's wordings of a property."""
    each = (worded(text, one.feature) for whole in alternatives for text in expanded(whole))
    return [text for text in each if text is not None]


def _answer(relation: str, forms: list[tuple[str, Predicate]]) -> Iterator[tuple[str, int]]:
    """Yield a response's most frequent form, if any, and how many people gave any of its forms."""
    words = _sayable(relation, list(dict.fromkeys(word for word, _ in forms)))
    counts = {word: _people(given for one, given in forms if one == word) for word in words}
    if counts:
        everyone = _people(given for _, given in forms)
        yield max(counts, key=lambda word: (counts[word], is_plural(word))), everyone


def _sayable(relation: str, words: list[str]) -> list[str]:
    """Return the words that fit the relation's prompt: singulars for "has a ___"."""
    if not relation.endswith(" a"):
        return words
    singulars = [word for word in words if not is_plural(word)]
    return singulars or list(dict.fromkeys(filter(None, map(singular, words))))


def completion(text: str) -> tuple[str, str] | None:
    """Split a predicate into a relation and a one-word completion, or return None."""
    words = text.split(" ")
    verb, rest = words[0], words[1:]
    if verb not in {"is", "has"} or not rest or rest[-1].lower() in _NO_RESPONSE:
        return None
    relation = verb
    if verb == "is" and rest[:2] == ["made", "of"]:
        relation, rest = "made of", rest[2:]
    elif rest[0] in {"a", "an"}:
        relation, rest = f"{verb} a", rest[1:]
    return (relation, rest[0]) if len(rest) == 1 else None


def _people(given: Iterable[Predicate]) -> int:
    """Count the participants who gave at least one of the predicates in ``given``."""
    every = list(given)
    known = frozenset[str]().union(*(one.people for one in every if one.people is not None))
    return max([len(known), *(one.frequency for one in every if one.people is None)])


def _merged(answers: Iterable[tuple[str, int]]) -> tuple[Response, ...]:
    """Merge answers that are spellings of the same word, and keep the highest frequency."""
    words: dict[str, dict[str, int]] = {}
    for word, frequency in answers:
        spelt = words.setdefault(american(comparable(word)), {})
        spelt[word] = max(spelt.get(word, 0), frequency)
    merged = []
    for spelt in words.values():
        best = max(spelt, key=lambda word: spelt[word])
        accepted = dict.fromkeys([*spellings(best), *spelt, *map(comparable, spelt)])
        merged.append(Response(best, spelt[best], tuple(accepted)))
    return tuple(sorted(merged, key=lambda response: -response.frequency))
