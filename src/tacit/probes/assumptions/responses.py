"""People's one-word responses to elicitation prompts, and their production frequencies."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from tacit.probes.assumptions.alternatives import worded, wordings
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import american, is_plural, predicate, singular, spellings
from tacit.strings import comparable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from tacit.probes.assumptions.corrections import Corrections
    from tacit.probes.assumptions.options import ResponsePreset
    from tacit.sources.norms import Property

MERGED = "singular and plural merged"
SINGULAR = "plural put in the singular"
UNSAYABLE = "plural without a singular left out"
FALLEN_BACK = "counted by the feature, people not known"
NOTES = (MERGED, SINGULAR, UNSAYABLE, FALLEN_BACK)

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


@dataclass
class ResponseReader:
    """A reader that extracts people's one-word responses from the properties of a concept."""

    corrections: Corrections
    counting: ResponsePreset = "people"
    notes: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(NOTES, 0)))
    """For each note in ``NOTES``, the number of responses or wordings that it applies to."""

    def read(self, properties: Iterable[Property]) -> Mapping[str, tuple[Response, ...]]:
        """Return one concept's responses for each relation, by decreasing frequency."""
        found: dict[str, list[tuple[str, int]]] = {name: [] for name in load_templates().relations}
        for one in properties:
            for (relation, _), forms in self._completions(one).items():
                answer = self._answer(relation, forms)
                if answer is not None:
                    found[relation].append(answer)
        return {relation: _merged(answers) for relation, answers in found.items()}

    def _completions(self, one: Property) -> Mapping[tuple[str, str], list[tuple[str, Predicate]]]:
        """Group a property's wordings, such as "has fur", by relation ("has") and word ("fur")."""
        found: dict[tuple[str, str], list[tuple[str, Predicate]]] = {}
        for said in self._counted_predicates(one):
            completed = completion(said.text)
            if completed is not None:
                relation, word = completed
                number = word if relation == "is" else singular(word) or word
                key = relation, american(comparable(number))
                found.setdefault(key, []).append((word, said))
        return found

    def _counted_predicates(self, one: Property) -> Iterator[Predicate]:
        """Yield those predicates of a property that count as responses."""
        own = self.corrections.wording(one)
        if own is not None:
            yield Predicate(own, one.frequency)
            return
        alternatives = [] if self.counting == "first" else list(self._alternatives(one))
        known = len(one.alternatives) == 1 or bool(one.people)
        if self.counting == "people" and known:
            for text, at in alternatives:
                people = one.people[at] if len(one.alternatives) > 1 else None
                yield Predicate(text, one.frequency if people is None else len(people), people)
            return
        if self.counting == "people":
            self.notes[FALLEN_BACK] += bool(one.alternatives)
        every = self.counting == "feature"
        features = wordings(one.feature) if every else [one.feature]
        said = [predicate(text) for text in features] + [text for text, _ in alternatives if every]
        yield from (Predicate(text, one.frequency) for text in said if text is not None)

    def _alternatives(self, one: Property) -> Iterator[tuple[str, int]]:
        """Yield each predicate formed from people's wordings of a property, with an index."""
        for at, text in enumerate(one.alternatives):
            for each in wordings(text):
                if (said := worded(each, one.feature)) is not None:
                    yield said, at

    def _answer(self, relation: str, forms: list[tuple[str, Predicate]]) -> tuple[str, int] | None:
        """Return a response's most frequent form, and how many people gave any of its forms."""
        words = self._sayable(relation, forms)
        counts = {word: _people(said for one, said in forms if one == word) for word in words}
        if not counts:
            return None
        everyone = _people(said for _, said in forms)
        return max(counts, key=lambda word: (counts[word], is_plural(word))), everyone

    def _sayable(self, relation: str, forms: list[tuple[str, Predicate]]) -> list[str]:
        """Return the words that fit the relation's prompt, such as singulars for "has a ___"."""
        words = list(dict.fromkeys(word for word, _ in forms))
        if relation == "is":
            return words
        plurals = [word for word in words if is_plural(word)]
        singulars = [word for word in words if word not in plurals]
        self.notes[MERGED] += bool(plurals and singulars)
        if not relation.endswith(" a") or not plurals:
            return words
        if not singulars:
            singulars = list(dict.fromkeys(filter(None, map(singular, plurals))))
            self.notes[SINGULAR if singulars else UNSAYABLE] += 1
        return singulars


def completion(said: str) -> tuple[str, str] | None:
    """Split a predicate into a relation and a one-word completion, or return None."""
    words = said.split(" ")
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
    named = [said.people for said in every]
    known = frozenset[str]().union(*(people for people in named if people is not None))
    return max([len(known), *(said.frequency for said in every if said.people is None)])


def _merged(answers: Iterable[tuple[str, int]]) -> tuple[Response, ...]:
    """Merge answers that are spellings of the same word, and keep the highest frequency."""
    words: dict[str, dict[str, int]] = {}
    for word, frequency in answers:
        spelt = words.setdefault(american(comparable(word)), {})
        spelt[word] = max(spelt.get(word, 0), frequency)
    found = []
    for spelt in words.values():
        best = max(spelt, key=lambda word: spelt[word])
        accepted = dict.fromkeys([*spellings(best), *spelt, *map(comparable, spelt)])
        found.append(Response(best, spelt[best], tuple(accepted)))
    return tuple(sorted(found, key=lambda response: -response.frequency))
