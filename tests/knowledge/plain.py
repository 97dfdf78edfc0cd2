"""The independent computation: labels, sets and dictionaries, one text and one path at a time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from spacy.language import Language

# As ConceptNet's documentation has them.
SYMMETRIC = {
    "Antonym",
    "DistinctFrom",
    "EtymologicallyRelatedTo",
    "LocatedNear",
    "RelatedTo",
    "SimilarTo",
    "Synonym",
}


class Fact(NamedTuple):
    """An edge without its weight."""

    head: str
    relation: str
    tail: str


@cache
def english() -> Language:
    """SpaCy's English rules."""
    import spacy

    return spacy.blank("en")


@cache
def tokens(text: str) -> tuple[str, ...]:
    """The words of a whole text, in lower case."""
    return tuple(
        token.text.lower()
        for token in english().make_doc(text)
        if any(letter.isalnum() for letter in token.text)
    )


@cache
def is_stop(word: str) -> bool:
    """Whether a word is one of spaCy's English stop words."""
    from spacy.lang.en.stop_words import STOP_WORDS

    return word in STOP_WORDS


@cache
def listed(word: str) -> frozenset[str]:
    """The lemmas that lemminflect's lexicon gives of a noun, verb, adjective or adverb."""
    import lemminflect

    parts = lemminflect.getAllLemmas(word)
    return frozenset(
        lemma
        for part, lemmas in parts.items()
        if part in {"NOUN", "VERB", "ADJ", "ADV"}
        for lemma in lemmas
    )


def is_in(label: str, bag: Collection[str], *, of_content: bool = False) -> bool:
    """Whether a bag of lemmas holds more than half of a label's words, and it has content."""
    words = tokens(label)
    content = [word for word in words if not is_stop(word)]
    counted = content if of_content else words
    held = [word for word in counted if (listed(word) or {word}) & set(bag)]
    return bool(content) and len(held) > len(counted) / 2


@dataclass(frozen=True)
class Graph:
    """Facts, each with the weight of its heaviest assertion."""

    weights: dict[Fact, float | None]

    @classmethod
    def of(cls, assertions: Iterable[tuple[str, str, str, float | None]]) -> Graph:
        """The graph of assertions: relation, head, tail and weight."""
        weights: dict[Fact, float | None] = {}
        for relation, head, tail, weight in assertions:
            fact = Fact(head, relation, tail)
            known = [w for w in (weight, weights.get(fact)) if w is not None]
            weights[fact] = max(known, default=None)
        return cls(weights)

    @classmethod
    def of_lines(cls, lines: Iterable[str]) -> Graph:
        """The graph of lines of triples without weights, however they are spaced."""
        cells = (line.split("\t") for line in lines)
        return cls.of(
            (relation, " ".join(head.lower().split()), " ".join(tail.lower().split()), None)
            for relation, head, tail in cells
        )

    @cached_property
    def labels(self) -> list[str]:
        """The concepts, by the alphabet."""
        return sorted({label for fact in self.weights for label in (fact.head, fact.tail)})

    @cached_property
    def tails(self) -> dict[tuple[str, str], set[str]]:
        """The tails of each head and relation."""
        found: dict[tuple[str, str], set[str]] = {}
        for head, relation, tail in self.weights:
            found.setdefault((head, relation), set()).add(tail)
        return found

    def facts(
        self, members: Collection[str], relations: Collection[str], length: int
    ) -> list[tuple[Fact, int]]:
        """The facts on simple paths between two members, with the shortest such path's length.

        The order is by length, weight (heaviest first, none last), head, relation and tail.
        """
        walked = [fact for fact in self.weights if fact.relation in relations]
        steps: dict[str, set[str]] = {}
        for fact in walked:
            steps.setdefault(fact.head, set()).add(fact.tail)
            steps.setdefault(fact.tail, set()).add(fact.head)
        shortest: dict[frozenset[str], int] = {}
        for start in members:
            for path in _paths(start, steps, length):
                if path[-1] in members:
                    for link in map(frozenset, pairwise(path)):
                        shortest[link] = min(len(path) - 1, shortest.get(link, length))
        found = [
            (fact, shortest[link])
            for fact in walked
            if (link := frozenset({fact.head, fact.tail})) in shortest
        ]
        return sorted(found, key=lambda item: (item[1], *self._heaviest_first(item[0]), item[0]))

    def dictionary_words(self) -> list[str]:
        """The concepts of one word that the lexicon lists, the most frequent first."""
        from wordfreq import word_frequency

        words = [label for label in self.labels if " " not in label and listed(label)]
        return sorted(words, key=lambda word: (-word_frequency(word, "en"), word))

    def possible(self, fact: Fact, pool: Iterable[str]) -> set[str]:
        """The words of the pool that make no edge with a fact's head and relation."""
        return {word for word in pool if self.is_negative(fact, word)}

    def is_negative(self, fact: Fact, word: str) -> bool:
        """Whether a word as tail makes no edge, in either direction of a symmetric relation."""
        head, relation, _ = fact
        if word == head or word in self.tails.get((head, relation), ()):
            return False
        return relation not in SYMMETRIC or head not in self.tails.get((word, relation), ())

    def _heaviest_first(self, fact: Fact) -> tuple[bool, float]:
        weight = self.weights[fact]
        return weight is None, -(weight or 0)


def _paths(
    start: str, steps: dict[str, set[str]], length: int, before: tuple[str, ...] = ()
) -> Iterator[tuple[str, ...]]:
    """All paths of 1 to ``length`` hops that have no concept twice."""
    path = (*before, start)
    if before:
        yield path
    if len(path) <= length:
        for other in steps.get(start, set()) - set(path):
            yield from _paths(other, steps, length, path)
