"""Select the properties and the concepts for prompts; record why others are left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.assumptions import alternatives
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.wording import bare, is_tagged, names, predicate, shipped_nouns
from tacit.strings import Spellings, comparable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from tacit.probes.assumptions.corrections import Correction
    from tacit.probes.assumptions.options import NormsOptions
    from tacit.sources.norms import Norms, Property


RARE = "named by too few people"
UNWORDED = "no wording"
LONG = "too long"
NAMING = "names its concept"
SAME = "worded as another"

UNGRAMMATICAL = "alternative ungrammatical"
NO_VERB = "alternative without a wording"
FROM_FEATURE = (UNGRAMMATICAL, NO_VERB)
"""Reasons why a wording is based on the feature's name, not on a participant's words."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A property with a wording that can be used in a prompt, such as "has fur"."""

    property: Property
    text: str
    corrected: bool = False
    from_feature: str | None = None


@dataclass(frozen=True, slots=True)
class WordedNorms:
    """The properties that prompts can state, and those that are left out, with the reason."""

    norms: Norms
    properties: Mapping[str, tuple[Worded, ...]]
    left_out: tuple[tuple[Property, str], ...]

    @property
    def counts(self) -> dict[str, int]:
        """The number of usable properties, of those left out by reason, and of corrected ones."""
        usable = [one for some in self.properties.values() for one in some]
        found = Counter(reason for _, reason in self.left_out)
        return {
            "usable": len(usable),
            **{reason: found[reason] for reason in (RARE, UNWORDED, LONG, NAMING, SAME)},
            "corrected": sum(one.corrected for one in usable),
        }

    @property
    def from_feature(self) -> dict[str, int]:
        """The number of usable properties that are worded by their name, by reason."""
        found = Counter(one.from_feature for some in self.properties.values() for one in some)
        return {reason: found[reason] for reason in FROM_FEATURE}

    @property
    def namings(self) -> dict[str, int]:
        """The total production frequency of all properties, and of the properties left out."""
        return {
            "all": sum(one.frequency for one in self.norms.properties),
            "left_out": sum(one.frequency for one, _ in self.left_out),
        }


def word_properties(
    norms: Norms, options: NormsOptions, corrections: Sequence[Correction] = ()
) -> WordedNorms:
    """Convert properties to predicates.

    Of a concept's properties with the same wording, the most frequent one is kept.
    """
    known = Corrections(norms, corrections)
    left: dict[str, tuple[Worded, ...]] = {}
    left_out: list[tuple[Property, str]] = []
    for concept, properties in norms.by_concept().items():
        made = [(one, _worded(one, known, options)) for one in properties]
        usable = [found for _, found in made if isinstance(found, Worded)]
        best: dict[str, Worded] = {}
        for found in sorted(usable, key=lambda each: -each.property.frequency):
            best.setdefault(_key(found), found)
        left[concept] = tuple(found for found in usable if best[_key(found)] is found)
        for one, told in made:
            if isinstance(told, str):
                left_out.append((one, told))
            elif best[_key(told)] is not told:
                left_out.append((one, SAME))
    return WordedNorms(norms, left, tuple(left_out))


def _key(worded: Worded) -> str:
    return comparable(worded.text).lower()


def _worded(one: Property, corrections: Corrections, options: NormsOptions) -> Worded | str:
    """Return a property with its wording, or the first reason why no prompt can state it."""
    if one.frequency < options.least_people:
        return RARE
    own = corrections.wording(one)
    said, reason = (own, None) if own else _stated(one)
    if said is None:
        return UNWORDED
    if options.most_words is not None and len(said.split()) > options.most_words:
        return LONG
    return NAMING if names(said, one.concept) else Worded(one, said, own is not None, reason)


def _stated(one: Property) -> tuple[str | None, str | None]:
    """Return a property's predicate, and why a participant's wording was rejected."""
    if not one.alternatives:
        return predicate(one.feature), None
    said = alternatives.worded(one.alternatives[0], one.feature)
    if said is None:
        return predicate(one.feature), NO_VERB
    better = alternatives.corrected(said, one.feature)
    return (said, None) if better is None else (better, UNGRAMMATICAL)


TAGGED = "has a sense tag"
_VOWEL = "begins with a vowel sound"
_UNKNOWN = "not in the vocabulary"
_TOO_FEW = "fewer than"
SEVERAL_WORDS = "more than one word"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept that retrieval prompts ask for."""

    name: str
    word: str
    article: str
    properties: tuple[Worded, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of a filter: the removed concepts' names, and the number of concepts kept."""

    name: str
    removed: tuple[str, ...]
    left: int

    def to_json(self) -> dict[str, Any]:
        """Return the numbers of concepts that the filter removed and kept."""
        return {"filter": self.name, "removed": len(self.removed), "left": self.left}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The concepts that passed every filter, and the effect of each filter."""

    concepts: tuple[Concept, ...]
    steps: tuple[Step, ...]


def choose_concepts(
    worded: WordedNorms, options: NormsOptions, vocabulary: Collection[str] | None = None
) -> Chosen:
    """Select the concepts that pass every filter, in the order of the norms file."""
    nouns, spelled = shipped_nouns(), Spellings(vocabulary or ())
    left = [
        Concept(name, spelled(bare(name)), nouns.article(bare(name)), properties)
        for name, properties in worded.properties.items()
    ]
    spelled.notice("the vocabulary")
    tests = _tests(options, vocabulary)
    passed, steps = apply_filters(left, lambda concept: concept.name, tests, options.limit)
    return Chosen(tuple(passed), steps)


def apply_filters(
    left: Sequence[T],
    name: Callable[[T], str],
    tests: Iterable[tuple[str, Callable[[T], bool]]],
    limit: int | None = None,
) -> tuple[Sequence[T], tuple[Step, ...]]:
    """Apply filters to concepts, one after another; then keep the first ``limit`` concepts."""
    steps = []
    for step, passes in tests:
        removed = tuple(name(one) for one in left if not passes(one))
        left = [one for one in left if passes(one)]
        steps.append(Step(step, removed, len(left)))
    if limit is not None and limit < len(left):
        steps.append(Step("--limit", tuple(map(name, left[limit:])), limit))
        left = left[:limit]
    return left, tuple(steps)


def all_removed(removed: Mapping[str, int], concepts: int) -> RequestError:
    """Return an error with advice for filters that remove every concept."""
    advice = {
        _VOWEL: "use --articles candidate",
        _UNKNOWN: "use another --vocabulary",
        _TOO_FEW: "lower --least or --least-people",
    }
    found = [
        remedy
        for start, remedy in advice.items()
        if any(count and name.startswith(start) for name, count in removed.items())
    ]
    remedy = " or ".join(found) or "lower --least-people, or use other --concepts or norms"
    listed = ", ".join(f"{name}: {count}" for name, count in removed.items())
    return RequestError(
        f"the filters remove all of {several(concepts, 'concept')} ({listed}): {remedy}"
    )


def _tests(
    options: NormsOptions, vocabulary: Collection[str] | None
) -> Iterator[tuple[str, Callable[[Concept], bool]]]:
    if options.concepts == "paper":
        yield TAGGED, lambda concept: not is_tagged(concept.name)
    yield SEVERAL_WORDS, lambda concept: " " not in concept.word
    if options.articles == "fixed":
        yield _VOWEL, lambda concept: concept.article == "a"
    if vocabulary is not None:
        words = frozenset(vocabulary)
        yield _UNKNOWN, lambda concept: concept.word in words
    enough = f"{_TOO_FEW} {options.least} usable properties"
    yield enough, lambda concept: len(concept.properties) >= options.least
