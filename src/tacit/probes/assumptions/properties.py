"""Select the properties and the concepts for prompts; record why others are left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TypeVar

from tacit.english import several
from tacit.errors import RequestError
from tacit.probes.assumptions.corrections import Correction, Corrections
from tacit.probes.assumptions.options import AssumptionsOptions
from tacit.probes.assumptions.wording import (
    bare,
    is_tagged,
    names,
    predicate,
    shipped_nouns,
    worded,
)
from tacit.sources.norms import Norms, Property
from tacit.strings import Spellings, comparable

RARE = "named by too few people"
UNWORDED = "no wording"
LONG = "too long"
NAMING = "names its concept"
SAME = "worded as another"
"""Why properties are left out."""

TAGGED = "has a sense tag"
SEVERAL_WORDS = "more than one word"
_VOWEL = "begins with a vowel sound"
_UNKNOWN = "not in the vocabulary"
_TOO_FEW = "fewer than"

T = TypeVar("T")

OF_PROPERTIES = "properties for retrieval"
OF_RETRIEVAL = "concepts for retrieval"
"""What filters are applied to, as in the column ``of`` of tables."""


@dataclass(frozen=True, slots=True)
class Worded:
    """A property with a wording that can be used in a prompt, such as "has fur"."""

    property: Property
    text: str


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of a filter: the names that it removed, and the number of those that it kept."""

    of: str
    name: str
    removed: tuple[str, ...]
    left: int


@dataclass(frozen=True, slots=True)
class WordedNorms:
    """The properties that prompts can state, and those that are left out, with the reason."""

    norms: Norms
    properties: Mapping[str, tuple[Worded, ...]]
    left_out: tuple[tuple[Property, str], ...]

    @property
    def steps(self) -> Iterator[Step]:
        """The properties that were left out for each reason."""
        left = len(self.norms.properties)
        for reason in (RARE, UNWORDED, LONG, NAMING, SAME):
            removed = tuple(one.feature for one, why in self.left_out if why == reason)
            left -= len(removed)
            yield Step(OF_PROPERTIES, reason, removed, left)


def word_properties(
    norms: Norms, options: AssumptionsOptions, corrections: Sequence[Correction] = ()
) -> WordedNorms:
    """Convert properties to predicates.

    Of a concept's properties with the same wording, the most frequent one is kept.
    """
    known = Corrections(norms, corrections)
    left: dict[str, tuple[Worded, ...]] = {}
    left_out: list[tuple[Property, str]] = []
    for concept, properties in norms.by_concept().items():
        made = [(one, _worded(one, known, options)) for one in properties]
        usable = [wording for _, wording in made if isinstance(wording, Worded)]
        best: dict[str, Worded] = {}
        for candidate in sorted(usable, key=lambda each: -each.property.frequency):
            best.setdefault(_key(candidate), candidate)
        left[concept] = tuple(each for each in usable if best[_key(each)] is each)
        for one, wording in made:
            if isinstance(wording, str):
                left_out.append((one, wording))
            elif best[_key(wording)] is not wording:
                left_out.append((one, SAME))
    return WordedNorms(norms, left, tuple(left_out))


def _key(worded: Worded) -> str:
    return comparable(worded.text).lower()


def _worded(one: Property, corrections: Corrections, options: AssumptionsOptions) -> Worded | str:
    """Return a property with its wording, or the first reason why no prompt can state it."""
    if one.frequency < options.least_people:
        return RARE
    text = corrections.wording(one) or _stated(one)
    if text is None:
        return UNWORDED
    if options.most_words is not None and len(text.split()) > options.most_words:
        return LONG
    return NAMING if names(text, one.concept) else Worded(one, text)


def _stated(one: Property) -> str | None:
    """Return a property's predicate: as the first participant worded it, if that is possible."""
    wording = worded(one.alternatives[0], one.feature) if one.alternatives else None
    return wording or predicate(one.feature)


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept that retrieval prompts ask for."""

    name: str
    word: str
    article: str
    properties: tuple[Worded, ...]


@dataclass(frozen=True, slots=True)
class Chosen:
    """The concepts that passed every filter, and the effect of each filter."""

    concepts: Sequence[Concept]
    steps: Sequence[Step]


def choose_concepts(
    worded: WordedNorms, options: AssumptionsOptions, vocabulary: Collection[str] | None = None
) -> Chosen:
    """Select the concepts that pass every filter, in the order of the norms file."""
    nouns, spelled = shipped_nouns(), Spellings(vocabulary or ())
    left = [
        Concept(name, spelled(bare(name)), nouns.article(bare(name)), properties)
        for name, properties in worded.properties.items()
    ]
    spelled.notice("the vocabulary")
    tests = _tests(options, vocabulary)
    name = attrgetter("name")
    passed, steps = apply_filters(OF_RETRIEVAL, left, name, tests, options.limit)
    return Chosen(passed, steps)


def apply_filters(
    of: str,
    left: Sequence[T],
    name: Callable[[T], str],
    tests: Iterable[tuple[str, Callable[[T], bool]]],
    limit: int | None = None,
) -> tuple[Sequence[T], list[Step]]:
    """Apply filters to concepts, one after another; then keep the first ``limit`` concepts."""
    steps = []
    for step, passes in tests:
        removed = tuple(name(one) for one in left if not passes(one))
        left = [one for one in left if passes(one)]
        steps.append(Step(of, step, removed, len(left)))
    if limit is not None and limit < len(left):
        steps.append(Step(of, "--limit", tuple(map(name, left[limit:])), limit))
        left = left[:limit]
    return left, steps


def all_removed(steps: Sequence[Step], concepts: int) -> RequestError:
    """Return an error with advice for filters that remove every concept."""
    advice = {
        _VOWEL: "use --articles candidate",
        _UNKNOWN: "use another --vocabulary",
        _TOO_FEW: "lower --least or --least-people",
    }
    removing = [step.name for step in steps if step.removed]
    remedies = [advice[of] for of in advice if any(name.startswith(of) for name in removing)]
    remedy = " or ".join(remedies) or "lower --least-people, or use other --concepts or norms"
    listed = ", ".join(f"{step.name}: {len(step.removed)}" for step in steps)
    return RequestError(
        f"the filters remove all of {several(concepts, 'concept')} ({listed}): {remedy}"
    )


def _tests(
    options: AssumptionsOptions, vocabulary: Collection[str] | None
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
