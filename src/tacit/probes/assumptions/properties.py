"""Select the properties and the concepts for prompts; record why others are left out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from tacit.english import Nouns, several
from tacit.errors import RequestError
from tacit.probes.assumptions import alternatives
from tacit.probes.assumptions.corrections import Corrections
from tacit.probes.assumptions.wording import bare, is_tagged, names, predicate
from tacit.strings import Spellings, comparable, convert_strings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from tacit.probes.assumptions.corrections import Correction
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
class Limits:
    """Limits on the production frequency and length of the properties that prompts state.

    Args:
        people: The minimum production frequency of a property. In the CSLB norms, every property
            has a production frequency of at least 2, so a minimum below 3 has no effect.
        words: The maximum number of words in a property's wording; None for no limit.

    Raises:
        RequestError: If ``people`` is below 0, or ``words`` is below 1.
    """

    people: int = 0
    words: int | None = None

    def __post_init__(self) -> None:
        if self.people < 0 or (self.words is not None and self.words < 1):
            raise RequestError(
                f"at least {self.people} people and at most {self.words} words: expected 0 or more "
                "people and 1 or more words"
            )


@dataclass(frozen=True, slots=True)
class Worded:
    """A property with a wording that can be used in a prompt, such as "has fur".

    Args:
        property: The property, as read from the norms.
        text: The wording of the property as a predicate, such as "has fur".
        corrected: Whether ``text`` is the user's corrected wording.
        from_feature: The reason (``UNGRAMMATICAL`` or ``NO_VERB``) for rejecting a participant's
            wording and using the property's name; None if no wording was rejected.
    """

    property: Property
    text: str
    corrected: bool = False
    from_feature: str | None = None


@dataclass(frozen=True, slots=True)
class WordedNorms:
    """The properties that prompts can state, and counts of the properties that are left out.

    Args:
        norms: The feature norms.
        properties: For each concept, the properties that were not excluded from prompts (for
            example, for being too long), in the order of the norms file; empty if all were
            excluded.
        dropped: For each reason to leave out a property, the number of properties left out for that
            reason. The reasons for leaving out properties are in the order in which
            ``word_properties`` checks them.
        left_out: Each property that is left out, paired with the reason; grouped by concept.
        corrected: The number of properties that prompts can state and whose wording the user
            corrected.
        from_feature: The number of usable properties whose wording is based on the feature's name
            rather than a participant's words, by reason (see ``FROM_FEATURE``).
        unmatched: The user's corrections that match no property of the norms.
    """

    norms: Norms
    properties: Mapping[str, tuple[Worded, ...]]
    dropped: Mapping[str, int]
    corrected: int
    from_feature: Mapping[str, int]
    unmatched: tuple[Correction, ...]
    left_out: tuple[tuple[Property, str], ...] = ()

    @property
    def usable(self) -> int:
        """The number of properties that prompts can state."""
        return sum(map(len, self.properties.values()))

    @property
    def namings(self) -> dict[str, int]:
        """The total production frequency of all properties, and of the properties left out."""
        return {
            "all": sum(one.frequency for one in self.norms.properties),
            "left_out": sum(one.frequency for one, _ in self.left_out),
        }


def word_properties(
    norms: Norms, corrections: Sequence[Correction] = (), limits: Limits | None = None
) -> WordedNorms:
    """Convert every property of the norms to a predicate that prompts can state.

    If the user supplied a corrected wording for a property, prompts state the property in this
    wording. If the user did not correct a property, its predicate is based on the first wording by
    a participant in the norms. If the first participant's wording is missing, ungrammatical or not
    convertible to a predicate, Tacit words the property by its name in the norms (the feature). If
    several properties of a concept have the same wording, only the one with the highest production
    frequency is used (in a tie, the first one).
    """
    limits = limits or Limits()
    known = Corrections(norms, corrections)
    dropped = Counter(dict.fromkeys((RARE, UNWORDED, LONG, NAMING, SAME), 0))
    left: dict[str, tuple[Worded, ...]] = {}
    left_out: list[tuple[Property, str]] = []
    for concept, properties in norms.by_concept().items():
        made = [(one, _worded(one, known, limits)) for one in properties]
        left[concept] = _distinct(found for _, found in made if isinstance(found, Worded))
        kept = {id(worded) for worded in left[concept]}
        reasons = (
            (one, found if isinstance(found, str) else SAME, id(found)) for one, found in made
        )
        left_out += [(one, reason) for one, reason, key in reasons if key not in kept]
    dropped.update(reason for _, reason in left_out)
    usable = [one for some in left.values() for one in some]
    corrected = sum(one.corrected for one in usable)
    counts = Counter(one.from_feature for one in usable)
    from_feature = {reason: counts[reason] for reason in FROM_FEATURE}
    return WordedNorms(
        norms, left, dict(dropped), corrected, from_feature, known.unmatched, tuple(left_out)
    )


def _worded(one: Property, corrections: Corrections, limits: Limits) -> Worded | str:
    """Return a property with its wording, or the first reason why no prompt can state it."""
    if one.frequency < limits.people:
        return RARE
    own = corrections.wording(one)
    said, reason = (own, None) if own else _stated(one)
    if said is None:
        return UNWORDED
    if limits.words is not None and len(said.split()) > limits.words:
        return LONG
    return NAMING if names(said, one.concept) else Worded(one, said, own is not None, reason)


def _stated(one: Property) -> tuple[str | None, str | None]:
    """Return a property's predicate, and why a participant's wording was rejected.

    The reason for rejection is None if the first of the participants' wordings is used, or if the
    norms list no participants' wordings.
    """
    if not one.alternatives:
        return predicate(one.feature), None
    said = alternatives.worded(one.alternatives[0], one.feature)
    if said is None:
        return predicate(one.feature), NO_VERB
    better = alternatives.corrected(said, one.feature)
    return (said, None) if better is None else (better, UNGRAMMATICAL)


def _distinct(worded: Iterable[Worded]) -> tuple[Worded, ...]:
    """Keep one property per wording: the most frequent one (in a tie, the first one)."""
    best: dict[str, Worded] = {}
    ordered = list(worded)
    for made in ordered:
        key = comparable(made.text).lower()
        rival = best.setdefault(key, made)
        if made.property.frequency > rival.property.frequency:
            best[key] = made
    kept = {id(made) for made in best.values()}
    return tuple(made for made in ordered if id(made) in kept)


Articles = Literal["fixed", "candidate"]
ConceptPreset = Literal["paper", "tagged", "all"]
"""The preset that determines which concepts to include.

``paper``: one-word concepts without a sense tag such as "(animal)" in ``seal_(animal)``.
``tagged``: one-word concepts with or without a sense tag; the tag is removed, so that
``seal_(animal)`` becomes "seal". ``all``: concepts of one or more words, with or without a sense
tag. Concepts of several words are used only in elicitation, because the blank in a retrieval prompt
must be filled with a single word.
"""

TAGGED = "has a sense tag"
_VOWEL = "begins with a vowel sound"
_UNKNOWN = "not in the vocabulary"
_TOO_FEW = "fewer than"
SEVERAL_WORDS = "more than one word"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Filters:
    """The filters that determine which concepts retrieval prompts ask for.

    Args:
        concepts: The preset that determines which concepts to include.
        articles: With ``fixed``, the article before the blank is always "a", and concepts that
            start with a vowel sound are left out. If ``articles`` is ``candidate``, each candidate
            word has its own article ("a" or "an"), and concepts that start with a vowel sound are
            included.
        vocabulary: The words that may fill the blank (case-sensitive); None to allow any word.
        least: The smallest number of usable properties (properties that prompts can state) that a
            concept may have.

    Raises:
        RequestError: If the value of ``concepts`` or ``articles`` is unknown, or ``least`` is
            below 1.
    """

    concepts: ConceptPreset = "paper"
    articles: Articles = "fixed"
    vocabulary: Collection[str] | None = None
    least: int = 10

    def __post_init__(self) -> None:
        convert_strings(self, "vocabulary")
        check_concepts(self.concepts)
        if self.articles not in get_args(Articles):
            raise RequestError(f"unknown articles {self.articles!r}; expected fixed or candidate")
        if self.least < 1:
            raise RequestError(
                f"invalid least number of properties {self.least}; expected 1 or more"
            )


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept that retrieval prompts ask for.

    Args:
        name: The concept, as written in the norms.
        word: The concept's name without its sense tag, for example ``seal`` for ``seal_(animal)``.
            Retrieval prompts ask the model for this word.
        article: ``a`` or ``an``, according to the first sound of the word.
        properties: The concept's properties that were not excluded from prompts (for example, for
            being too long), in the order of the norms file.
    """

    name: str
    word: str
    article: str
    properties: tuple[Worded, ...]


LIMIT = "--limit"
"""The name of the filter that limits the number of concepts."""


@dataclass(frozen=True, slots=True)
class Step:
    """The effect of a filter: the removed concepts' names, and the number of concepts kept."""

    name: str
    removed: tuple[str, ...]
    left: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """The concepts that passed every filter, and the effect of each filter."""

    concepts: tuple[Concept, ...]
    steps: tuple[Step, ...]

    def limited(self, most: int | None) -> Chosen:
        """Keep the first ``most`` concepts, and record the removed concepts as a filter step."""
        if most is None or most >= len(self.concepts):
            return self
        removed = tuple(concept.name for concept in self.concepts[most:])
        return Chosen(self.concepts[:most], (*self.steps, Step(LIMIT, removed, most)))


def choose_concepts(worded: WordedNorms, filters: Filters | None = None) -> Chosen:
    """Select the concepts that pass every filter, in the order of the norms file.

    The filters first remove concepts with a sense tag (only with the preset ``paper``), then
    concepts of several words. If ``Filters.articles`` is ``fixed``, the filters remove concepts
    that begin with a vowel sound. The last filters remove concepts outside the vocabulary, if there
    is a vocabulary, and concepts with fewer than ``least`` usable properties.
    """
    filters = filters or Filters()
    nouns, spelled = Nouns.load(), Spellings(filters.vocabulary or ())
    left = [
        Concept(name, spelled(bare(name)), nouns.article(bare(name)), properties)
        for name, properties in worded.properties.items()
    ]
    spelled.notice("the vocabulary")
    passed, steps = apply_filters(left, lambda concept: concept.name, _tests(filters))
    return Chosen(tuple(passed), steps)


def apply_filters(
    left: Sequence[T],
    name: Callable[[T], str],
    tests: Iterable[tuple[str, Callable[[T], bool]]],
) -> tuple[Sequence[T], tuple[Step, ...]]:
    """Apply filters to concepts, one after another.

    Args:
        left: The concepts to filter.
        name: A function that returns a concept's name.
        tests: For each filter, its name and a function that returns whether a concept passes it.

    Returns:
        The concepts that passed all filters, and one ``Step`` per filter.
    """
    steps = []
    for step, passes in tests:
        removed = tuple(name(one) for one in left if not passes(one))
        left = [one for one in left if passes(one)]
        steps.append(Step(step, removed, len(left)))
    return left, tuple(steps)


def all_removed(removed: Mapping[str, int], concepts: int) -> RequestError:
    """Return an error with advice for filters that remove every concept.

    Args:
        removed: The number of concepts that each filter removed, by the filter's name.
        concepts: The number of concepts of the norms.
    """
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


def check_concepts(concepts: str) -> None:
    """Raise ``RequestError`` if ``concepts`` is not the name of a known ``ConceptPreset``."""
    if concepts not in get_args(ConceptPreset):
        raise RequestError(
            f"unknown preset of concepts {concepts!r}; expected one of "
            f"{', '.join(get_args(ConceptPreset))}"
        )


def _tests(filters: Filters) -> Iterator[tuple[str, Callable[[Concept], bool]]]:
    if filters.concepts == "paper":
        yield TAGGED, lambda concept: not is_tagged(concept.name)
    yield SEVERAL_WORDS, lambda concept: " " not in concept.word
    if filters.articles == "fixed":
        yield _VOWEL, lambda concept: concept.article == "a"
    if filters.vocabulary is not None:
        words = frozenset(filters.vocabulary)
        yield _UNKNOWN, lambda concept: concept.word in words
    enough = f"{_TOO_FEW} {filters.least} usable properties"
    yield enough, lambda concept: len(concept.properties) >= filters.least
