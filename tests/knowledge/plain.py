"""METHODS section 1 once more: labels, sets and dictionaries, one text and one path at a time.

Nothing of Tacit's extraction is imported. SpaCy's English rules and stop words, the lexicon of
lemminflect, and wordfreq are used directly.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise
from typing import NamedTuple, TypeAlias

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


# Two concepts that are one hop apart.
Link: TypeAlias = frozenset[str]


class Fact(NamedTuple):
    head: str
    relation: str
    tail: str


@cache
def english() -> Language:
    import spacy

    return spacy.blank("en")


@cache
def tokens(text: str) -> tuple[str, ...]:
    return tuple(
        token.text.lower()
        for token in english().make_doc(text)
        if any(letter.isalnum() for letter in token.text)
    )


@cache
def is_stop(word: str) -> bool:
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


@cache
def lemmas(word: str) -> frozenset[str]:
    return listed(word) or frozenset({word})


@cache
def stretch(text: str) -> tuple[str, ...]:
    """The tokens of a text in lower case, marks included."""
    return tuple(token.text for token in english().make_doc(text.lower()) if not token.is_space)


def content_lemmas(text: str) -> set[str]:
    """The lemmas of a part's content words, by ``review-lexicon``."""
    import lemminflect

    found: set[str] = set()
    for word in tokens(text.lower()):
        if is_stop(word):
            continue
        found |= listed(word)
        if word.isalpha() and not lemminflect.getAllLemmas(word):
            found.add(word)
    return found


def is_in(label: str, bag: Collection[str], *, of_content: bool = False) -> bool:
    """Whether a bag of lemmas holds more than half of a label's words, and it has content."""
    words = tokens(label)
    content = [word for word in words if not is_stop(word)]
    counted = content if of_content else words
    held = [word for word in counted if not lemmas(word).isdisjoint(bag)]
    return bool(content) and len(held) > len(counted) / 2


def is_verbatim(label: str, text: str) -> bool:
    """Whether a label's tokens stand side by side in a text, and one of them is a word."""
    part, whole = stretch(label), stretch(text)
    places = range(len(whole) - len(part) + 1)
    return bool(tokens(label)) and any(whole[i : i + len(part)] == part for i in places)


@dataclass(frozen=True)
class Labels:
    """Labels with indices that leave out most of those that cannot be in a text."""

    labels: Sequence[str]

    @cached_property
    def _by_lemma(self) -> dict[str, set[str]]:
        index: dict[str, set[str]] = {}
        for label in self.labels:
            for lemma in {lemma for word in tokens(label) for lemma in lemmas(word)}:
                index.setdefault(lemma, set()).add(label)
        return index

    @cached_property
    def _by_start(self) -> dict[str, list[str]]:
        index: dict[str, list[str]] = {}
        for label in self.labels:
            index.setdefault(stretch(label)[0], []).append(label)
        return index

    def by_lemmas(self, bag: Collection[str], *, of_content: bool = False) -> set[str]:
        """The labels more than half of whose words are in a bag."""
        some = {label for lemma in bag for label in self._by_lemma.get(lemma, ())}
        return {label for label in some if is_in(label, bag, of_content=of_content)}

    def verbatim(self, text: str) -> set[str]:
        some = {label for token in set(stretch(text)) for label in self._by_start.get(token, ())}
        return {label for label in some if is_verbatim(label, text)}

    def within(self, parts: Sequence[str]) -> list[set[str]]:
        """The concepts of each part, by the default presets."""
        return [self.by_lemmas(content_lemmas(part)) | self.verbatim(part) for part in parts]


def shares_a_word(one: str, other: str) -> bool:
    first, second = (
        {each for word in tokens(label) for each in lemmas(word)} for label in (one, other)
    )
    return not first.isdisjoint(second)


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
        return sorted({label for fact in self.weights for label in (fact.head, fact.tail)})

    @cached_property
    def tails(self) -> dict[tuple[str, str], set[str]]:
        found: dict[tuple[str, str], set[str]] = {}
        for head, relation, tail in self.weights:
            found.setdefault((head, relation), set()).add(tail)
        return found

    @cached_property
    def _walked(self) -> dict[frozenset[str], tuple[dict[str, set[str]], dict[Link, list[Fact]]]]:
        """By relations: what is one hop away from each concept, and the facts of each link."""
        return {}

    def _steps(
        self, relations: Collection[str]
    ) -> tuple[dict[str, set[str]], dict[Link, list[Fact]]]:
        chosen = frozenset(relations)
        if chosen not in self._walked:
            steps: dict[str, set[str]] = {}
            facts: dict[Link, list[Fact]] = {}
            for fact in self.weights:
                if fact.relation in chosen and fact.head != fact.tail:
                    steps.setdefault(fact.head, set()).add(fact.tail)
                    steps.setdefault(fact.tail, set()).add(fact.head)
                    facts.setdefault(frozenset({fact.head, fact.tail}), []).append(fact)
            self._walked[chosen] = steps, facts
        return self._walked[chosen]

    def facts(
        self, members: Collection[str], relations: Collection[str], length: int
    ) -> list[tuple[Fact, int]]:
        """Facts on simple paths between members, with their length, by length, weight and name."""
        steps, facts = self._steps(relations)
        shortest: dict[Link, int] = {}
        for path in _paths({one for one in members if one in steps}, steps, length):
            for link in map(frozenset, pairwise(path)):
                shortest[link] = min(len(path) - 1, shortest.get(link, length))
        found = [(fact, hops) for link, hops in shortest.items() for fact in facts[link]]
        return sorted(found, key=lambda item: (item[1], *self._heaviest_first(item[0]), item[0]))

    def capped(
        self, facts: Sequence[tuple[Fact, int]], cap: int | None, seed: int = 0
    ) -> list[tuple[Fact, int]]:
        """So many facts in their order: the heaviest, then by the smallest MD5 of seed and fact."""

        def rank(item: tuple[Fact, int]) -> tuple[bool, float, str]:
            words = "\t".join((str(seed), item[0].head, item[0].relation, item[0].tail))
            digest = hashlib.md5(words.encode(), usedforsecurity=False).hexdigest()
            return (*self._heaviest_first(item[0]), digest)

        kept = set(sorted(facts, key=rank)[:cap])
        return [item for item in facts if item in kept]

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


def _paths(members: set[str], steps: dict[str, set[str]], length: int) -> Iterator[tuple[str, ...]]:
    """All paths of 1 to ``length`` hops between two members that have no concept twice."""
    # What the last hop but one can be: a concept that a member is next to.
    near = {x: steps[x] & members for one in members for x in steps[one]}
    for u in members:
        for v in steps[u] & members:
            yield u, v
        for x in steps[u] if length > 1 else ():
            for v in near[x] - {u}:
                yield u, x, v
            for y in (steps[x] & near.keys()) - {u} if length > 2 else ():
                for v in near[y] - {u, x}:
                    yield u, x, y, v
