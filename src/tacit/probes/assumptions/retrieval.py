"""Prompts that state properties and ask for their concept (Weir et al. 2020, Figures 1 to 3)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from tacit.errors import RequestError
from tacit.probes.assumptions.templates import load_templates, of_wording
from tacit.probes.assumptions.wording import joined
from tacit.requests import BLANK

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tacit.probes.assumptions.filters import Articles, Concept
    from tacit.probes.assumptions.properties import Worded

MOST = 10
"""The paper's prompts have 1 to 10 properties."""

TIES = "order of the file; increasing frequency is the reverse of decreasing"
"""How properties of equal production frequency are ordered."""

Selection = Literal["top", "bottom"]
Direction = Literal["decreasing", "increasing"]


class Order(Protocol):
    """Selects properties of a concept and puts them in an order."""

    @property
    def name(self) -> str:
        """As tables name it."""
        ...

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """At most so many of a concept's properties, given in the order of the file."""
        ...


@dataclass(frozen=True, slots=True)
class ByFrequency:
    """Orders by production frequency, equal ones by their place in the file.

    Decreasing frequency states the first of equal ones first. Increasing frequency is the exact
    reverse, so that the two differ also where all frequencies are equal.

    Args:
        selection: The ``top``, which decreasing frequency states first, or the ``bottom``, which
            increasing frequency states first.
        direction: ``decreasing`` or ``increasing`` frequency.

    Raises:
        RequestError: There is no such selection or direction.
    """

    selection: Selection = "top"
    direction: Direction = "decreasing"

    def __post_init__(self) -> None:
        if self.selection not in get_args(Selection) or self.direction not in get_args(Direction):
            raise RequestError(
                f"the order {self.name} is none of (top or bottom)-(decreasing or increasing)"
            )

    @property
    def name(self) -> str:
        """Such as ``top-decreasing``."""
        return f"{self.selection}-{self.direction}"

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:  # noqa: ARG002 - an order may go by the concept
        """See ``Order``."""
        falling = sorted(properties, key=lambda one: -one.property.frequency)
        chosen = falling[:most] if self.selection == "top" else falling[::-1][:most][::-1]
        return chosen if self.direction == "decreasing" else chosen[::-1]


def has_ties(concept: Concept) -> bool:
    """Whether two of a concept's ten most frequent properties have the same frequency."""
    first = ByFrequency().arrange(concept.name, concept.properties, MOST)
    return len({one.property.frequency for one in first}) < len(first)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A random set of properties in a random order: one of the paper's baseline.

    Draws follow from the seed, the concept and its own features alone, so a concept has the same
    prompts whatever other concepts there are, on any machine.

    Args:
        number: Which random set, from 1.
        permutation: Which order of that set, from 1.
        seed: Where the draws begin.
    """

    number: int = 1
    permutation: int = 1
    seed: int = 0

    @property
    def name(self) -> str:
        """``random-2-5`` is the fifth order of the second set."""
        return f"random-{self.number}-{self.permutation}"

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """See ``Order``."""
        drawn = _shuffled((self.seed, concept, self.number), properties)[:most]
        return _shuffled((self.seed, concept, self.number, self.permutation), drawn)


FOUR_ORDERS: tuple[ByFrequency, ...] = (
    ByFrequency("top", "decreasing"),
    ByFrequency("top", "increasing"),
    ByFrequency("bottom", "decreasing"),
    ByFrequency("bottom", "increasing"),
)
"""The orders that Figure 3b compares; the first is the one of Figure 2."""


def random_baseline(seed: int = 0, sets: int = 5, permutations: int = 5) -> tuple[Shuffled, ...]:
    """The random baseline of Figure 3b: 5 orders of each of 5 sets."""
    return tuple(
        Shuffled(number, permutation, seed)
        for number in range(1, sets + 1)
        for permutation in range(1, permutations + 1)
    )


@dataclass(frozen=True, slots=True)
class RetrievalPrompt:
    """A text that states ``n`` properties of a concept and has a blank for it.

    Args:
        concept: As the norms name it.
        word: The concept's word, by which candidates are known.
        n: How many properties the text states.
        text: The text; its blank holds a word, or an article and a word.
        answer: What the blank should hold: "bear", or "An owl" where the article is scored too.
    """

    concept: str
    word: str
    n: int
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Asking:
    """How properties become prompts.

    Args:
        wording: ``sentence`` ("A ___ has fur.") or ``blank-last`` ("Something that has fur is
            called a ___").
        articles: ``fixed`` or ``candidate``, as for ``Filters``; with ``candidate`` the blank holds
            the article too, so that it is scored with the word.
        order: Which properties, in which order.
        category: Only properties of this category; None for all.
        most: At most so many properties.

    Raises:
        RequestError: There is no such wording, or ``most`` is below 1.
    """

    wording: str = "sentence"
    articles: Articles = "fixed"
    order: Order = FOUR_ORDERS[0]
    category: str | None = None
    most: int = MOST

    def __post_init__(self) -> None:
        of_wording(load_templates().retrieval, self.wording)
        if self.most < 1:
            raise RequestError(f"prompts of up to {self.most} properties; expected 1 or more")

    def text(self, properties: str) -> str:
        """The text that states some properties."""
        template = of_wording(load_templates().retrieval, self.wording)
        if self.articles == "candidate":
            template = template.replace(f"{{A}} {BLANK}", BLANK).replace(f"{{a}} {BLANK}", BLANK)
        return template.format(a="a", A="A", properties=properties)

    def answer(self, word: str, article: str) -> str:
        """What a candidate puts in the blank, given its article."""
        if self.articles == "fixed":
            return word
        begins = f"{{A}} {BLANK}" in of_wording(load_templates().retrieval, self.wording)
        return f"{article.capitalize() if begins else article} {word}"


def retrieval_prompts(
    concepts: Sequence[Concept], asking: Asking | None = None
) -> list[RetrievalPrompt]:
    """The prompts of 1, 2, … properties of each concept, in the order of the concepts.

    A concept has prompts up to the number of properties it has (of the category), so it counts at
    k properties when it has k of them (Figure 3a).
    """
    asking = asking or Asking()
    return [prompt for concept in concepts for prompt in _of_concept(concept, asking)]


def _of_concept(concept: Concept, asking: Asking) -> Iterator[RetrievalPrompt]:
    usable = [
        one
        for one in concept.properties
        if asking.category is None or one.property.category == asking.category
    ]
    stated = [one.text for one in asking.order.arrange(concept.name, usable, asking.most)]
    answer = asking.answer(concept.word, concept.article)
    for n in range(1, len(stated) + 1):
        text = asking.text(joined(stated[:n]))
        yield RetrievalPrompt(concept.name, concept.word, n, text, answer)


def _shuffled(key: tuple[object, ...], properties: Sequence[Worded]) -> list[Worded]:
    """Properties in the order of a hash of each one's feature."""

    def number(one: Worded) -> bytes:
        said = "\t".join(map(str, (*key, one.property.feature))).encode()
        return hashlib.blake2b(said, digest_size=16).digest()

    return sorted(properties, key=number)
