"""The concepts that can be retrieved, and how many each filter leaves out (METHODS section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeVar, get_args

from tacit.english import Nouns
from tacit.errors import RequestError
from tacit.probes.assumptions.wording import bare, is_tagged
from tacit.strings import convert_strings

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from tacit.probes.assumptions.properties import Worded, WordedNorms

Articles = Literal["fixed", "candidate"]
ConceptPreset = Literal["paper", "tagged", "all"]
"""Which concepts are asked about.

``paper``: concepts of one word without a sense tag. ``tagged``: concepts with a sense tag too; the
tag is stripped. ``all``: concepts of several words too, in elicitation alone, because the blank of
retrieval holds one word.
"""

TAGGED = "has a sense tag"
SEVERAL_WORDS = "more than one word"

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Filters:
    """Which concepts are asked about; the defaults are the paper's, without a vocabulary.

    Args:
        concepts: Which concepts are asked about.
        articles: ``fixed``: every prompt begins "A ___", and concepts that begin with a vowel
            sound are left out; ``candidate``: each candidate has its own article, and they stay.
        vocabulary: The concept's word must be one of these, in the same case; None for any.
        least: How many usable properties a concept must have.

    Raises:
        RequestError: ``concepts`` or ``articles`` is unknown, or ``least`` is below 1.
    """

    concepts: ConceptPreset = "paper"
    articles: Articles = "fixed"
    vocabulary: Collection[str] | None = None
    least: int = 10

    def __post_init__(self) -> None:
        convert_strings(self, "vocabulary")
        check_concepts(self.concepts)
        if self.articles not in get_args(Articles):
            raise RequestError(f"articles {self.articles!r} are neither fixed nor candidate")
        if self.least < 1:
            raise RequestError(f"at least {self.least} properties is no filter; expected 1 or more")


@dataclass(frozen=True, slots=True)
class Concept:
    """A concept that prompts ask for.

    Args:
        name: As the norms write it.
        word: What stands in the blank: without the sense tag.
        article: ``a`` or ``an``, by the sound of the word.
        properties: Its usable properties, in the order of the file.
    """

    name: str
    word: str
    article: str
    properties: tuple[Worded, ...]


@dataclass(frozen=True, slots=True)
class Step:
    """What one filter did: the concepts it left out, by the norms' names, and how many stayed."""

    name: str
    removed: tuple[str, ...]
    left: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """The concepts that passed every filter, and what each filter did, in order."""

    concepts: tuple[Concept, ...]
    steps: tuple[Step, ...]


def choose_concepts(worded: WordedNorms, filters: Filters | None = None) -> Chosen:
    """Filters the concepts of norms, in the order of the file.

    The filters, in order: sense tag (preset ``paper``), one word, vowel sound (with fixed
    articles), in the vocabulary (when given), enough properties.
    """
    filters = filters or Filters()
    nouns = Nouns.load()
    left = [
        Concept(name, bare(name), nouns.article(bare(name)), properties)
        for name, properties in worded.properties.items()
    ]
    passed, steps = apply_filters(left, lambda concept: concept.name, _tests(filters))
    return Chosen(tuple(passed), steps)


def apply_filters(
    left: Sequence[T],
    name: Callable[[T], str],
    tests: Iterable[tuple[str, Callable[[T], bool]]],
) -> tuple[Sequence[T], tuple[Step, ...]]:
    """Applies filters one after another.

    Args:
        left: The concepts.
        name: Returns a concept's name.
        tests: Each filter's name, and whether a concept passes it.

    Returns:
        The concepts that passed all filters, and what each filter did.
    """
    steps = []
    for step, passes in tests:
        removed = tuple(name(one) for one in left if not passes(one))
        left = [one for one in left if passes(one)]
        steps.append(Step(step, removed, len(left)))
    return left, tuple(steps)


def check_concepts(concepts: str) -> None:
    """Raises RequestError if there is no such preset of concepts."""
    if concepts not in get_args(ConceptPreset):
        raise RequestError(
            f"concepts {concepts!r} are none of {', '.join(get_args(ConceptPreset))}"
        )


def _tests(filters: Filters) -> Iterator[tuple[str, Callable[[Concept], bool]]]:
    if filters.concepts == "paper":
        yield TAGGED, lambda concept: not is_tagged(concept.name)
    yield SEVERAL_WORDS, lambda concept: " " not in concept.word
    if filters.articles == "fixed":
        yield "begins with a vowel sound", lambda concept: concept.article == "a"
    if filters.vocabulary is not None:
        words = frozenset(filters.vocabulary)
        yield "not in the vocabulary", lambda concept: concept.word in words
    enough = f"fewer than {filters.least} usable properties"
    yield enough, lambda concept: len(concept.properties) >= filters.least
