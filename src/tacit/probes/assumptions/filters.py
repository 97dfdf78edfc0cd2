"""The concepts that can be retrieved, and how many each filter leaves out (METHODS section 3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from tacit.english import Nouns
from tacit.errors import RequestError
from tacit.probes.assumptions.wording import bare, is_tagged

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from tacit.probes.assumptions.properties import Worded, WordedNorms

Articles = Literal["fixed", "candidate"]


@dataclass(frozen=True, slots=True)
class Filters:
    """Which concepts are asked about; the defaults are the paper's, without a vocabulary.

    Args:
        tagged: Whether concepts with a sense tag, like ``seal_(animal)``, stay.
        articles: ``fixed``: every prompt begins "A ___", and concepts that begin with a vowel
            sound are left out; ``candidate``: each candidate has its own article, and they stay.
        vocabulary: The concept's word must be one of these, in the same case; None for any.
        least: How many usable properties a concept must have.

    Raises:
        RequestError: ``articles`` is neither, or ``least`` is below 1.
    """

    tagged: bool = True
    articles: Articles = "fixed"
    vocabulary: Collection[str] | None = None
    least: int = 10

    def __post_init__(self) -> None:
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

    The filters, in order: sense tag (when asked), one word, vowel sound (with fixed articles), in
    the vocabulary (when given), enough properties.
    """
    filters = filters or Filters()
    nouns = Nouns.load()
    left = [
        Concept(name, bare(name), nouns.article(bare(name)), properties)
        for name, properties in worded.properties.items()
    ]
    steps = []
    for name, passes in _tests(filters):
        removed = tuple(concept.name for concept in left if not passes(concept))
        left = [concept for concept in left if passes(concept)]
        steps.append(Step(name, removed, len(left)))
    return Chosen(tuple(left), tuple(steps))


def _tests(filters: Filters) -> Iterator[tuple[str, Callable[[Concept], bool]]]:
    if not filters.tagged:
        yield "has a sense tag", lambda concept: not is_tagged(concept.name)
    yield "more than one word", lambda concept: " " not in concept.word
    if filters.articles == "fixed":
        yield "begins with a vowel sound", lambda concept: concept.article == "a"
    if filters.vocabulary is not None:
        words = frozenset(filters.vocabulary)
        yield "not in the vocabulary", lambda concept: concept.word in words
    enough = f"fewer than {filters.least} usable properties"
    yield enough, lambda concept: len(concept.properties) >= filters.least
