"""Retrieval prompts, which ask for a concept by its properties (Weir et al. 2020, Figures 1-3)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, get_args

from tacit.errors import RequestError
from tacit.probes.assumptions.template import load_templates, of_wording
from tacit.probes.assumptions.wording import joined
from tacit.requests import BLANK, Prompt, Ranking, RankingKind, RankingPrompt, Vocabulary, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.probes.assumptions.properties import Articles, Concept, Worded
    from tacit.requests import Scores


MOST = 10
"""Maximum number of properties per prompt; the paper's prompts have 1 to 10."""

TIES = "order of the file; increasing frequency is the reverse of decreasing"
"""How properties of equal production frequency are ordered."""

Selection = Literal["top", "bottom"]
Direction = Literal["decreasing", "increasing"]


class Order(Protocol):
    """A rule that selects and orders properties of a concept."""

    @property
    def name(self) -> str:
        """The order's name in tables."""
        ...

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """Select and order at most ``most`` properties of a concept; the input is in file order."""
        ...


@dataclass(frozen=True, slots=True)
class ByFrequency:
    """An order of properties by increasing or decreasing production frequency.

    In the decreasing order, tied properties are in the order of the file. The increasing order is
    the exact reverse of the decreasing order, so the two orders differ even if all frequencies are
    equal.

    Args:
        selection: ``top`` selects the properties with the highest frequencies, and ``bottom``
            selects those with the lowest frequencies.
        direction: ``decreasing`` or ``increasing`` frequency.

    Raises:
        RequestError: If the selection or the direction is unknown.
    """

    selection: Selection = "top"
    direction: Direction = "decreasing"

    def __post_init__(self) -> None:
        if self.selection not in get_args(Selection) or self.direction not in get_args(Direction):
            raise RequestError(
                f"unknown order {self.name!r}; expected (top or bottom)-(decreasing or increasing)"
            )

    @property
    def name(self) -> str:
        """The order's name, such as ``top-decreasing``."""
        return f"{self.selection}-{self.direction}"

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:  # noqa: ARG002 - an order may depend on the concept
        """Select and sort the properties of a concept by production frequency; see ``Order``."""
        falling = sorted(properties, key=lambda one: -one.property.frequency)
        chosen = falling[:most] if self.selection == "top" else falling[::-1][:most][::-1]
        return chosen if self.direction == "decreasing" else chosen[::-1]


def has_ties(concept: Concept) -> bool:
    """Check whether two of a concept's ten most frequent properties have the same frequency."""
    first = ByFrequency().arrange(concept.name, concept.properties, MOST)
    return len({one.property.frequency for one in first}) < len(first)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A random set of properties in a random order, part of the paper's random baseline.

    The random draws depend only on the seed, the concept and the concept's features. A concept
    therefore has the same prompts on every machine, whatever other concepts are used.

    Args:
        number: The number of the random set, counted from 1.
        permutation: The number of the random order within the set, counted from 1.
        seed: The seed of the draws.
    """

    number: int = 1
    permutation: int = 1
    seed: int = 0

    @property
    def name(self) -> str:
        """The order's name: ``random-2-5`` is the fifth order of the second set."""
        return f"random-{self.number}-{self.permutation}"

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """Select properties at random, and sort the selection at random; see ``Order``."""
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
    """Return the random baseline of the paper's Figure 3b; by default, 5 sets, each in 5 orders."""
    return tuple(
        Shuffled(number, permutation, seed)
        for number in range(1, sets + 1)
        for permutation in range(1, permutations + 1)
    )


@dataclass(frozen=True, slots=True)
class RetrievalPrompt:
    """A text that states ``n`` properties of a concept, with a blank for the concept.

    Args:
        concept: The concept, as the norms name it.
        word: The concept's word, which identifies the concept among the candidates.
        n: The number of properties that the text states.
        text: The text. The blank in the text stands for a word, or for an article and a word.
        answer: The correct filler of the blank: "bear", or "An owl" if the blank includes the
            article.
    """

    concept: str
    word: str
    n: int
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Asking:
    """The settings that determine how properties become prompts.

    Args:
        wording: The wording: ``sentence`` ("A ___ has fur.") or ``blank-last`` ("Something that has
            fur is called a ___").
        articles: The articles, ``fixed`` or ``candidate``, as described in ``Filters``. With
            ``candidate``, the blank includes the article, which is scored together with the word.
        order: The selection and order of properties.
        category: The category of properties to use; None for all categories.
        most: The maximum number of properties.

    Raises:
        RequestError: If the wording is unknown, or ``most`` is below 1.
    """

    wording: str = "sentence"
    articles: Articles = "fixed"
    order: Order = FOUR_ORDERS[0]
    category: str | None = None
    most: int = MOST

    def __post_init__(self) -> None:
        of_wording(load_templates().retrieval, self.wording)
        if self.most < 1:
            raise RequestError(
                f"invalid maximum of {self.most} properties per prompt; expected 1 or more"
            )

    def text(self, properties: str) -> str:
        """Return the prompt that states some properties, which are passed as one phrase."""
        template = of_wording(load_templates().retrieval, self.wording)
        if self.articles == "candidate":
            template = template.replace(f"{{A}} {BLANK}", BLANK).replace(f"{{a}} {BLANK}", BLANK)
        return template.format(a="a", A="A", properties=properties)

    def answer(self, word: str, article: str) -> str:
        """Return the text that fills the blank for a candidate with the given article."""
        if self.articles == "fixed":
            return word
        begins = f"{{A}} {BLANK}" in of_wording(load_templates().retrieval, self.wording)
        return f"{article.capitalize() if begins else article} {word}"


def retrieval_prompts(
    concepts: Sequence[Concept], asking: Asking | None = None
) -> list[RetrievalPrompt]:
    """Return the prompts with 1, 2, … properties of each concept, in the order of the concepts.

    A concept has one prompt for each number of properties, from 1 to a maximum. The maximum is
    ``asking.most`` or the number of the concept's properties, whichever is smaller. If
    ``asking.category`` is set, only the properties of this category are counted. The results for k
    properties therefore include only concepts with at least k properties, as in the paper's Figure
    3a.
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
    """Sort properties by a hash, which is computed from the key and the property's feature."""

    def number(one: Worded) -> bytes:
        said = "\t".join(map(str, (*key, one.property.feature))).encode()
        return hashlib.blake2b(said, digest_size=16).digest()

    return sorted(properties, key=number)


CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of Figure 3a; few concepts have over two or three properties of the others."""

NO_CANDIDATE = "no candidate has a score"
_ARTICLE = "A"

ORDERS = ("all", "main")
"""``all``: the orders of Figure 3b and the random baseline; ``main``: the order of Figure 2."""


def orders_of(name: str, seed: int = 0) -> tuple[Order, ...]:
    """Return the orders that ``all`` or ``main`` names; the first is the paper's order in Figure 2.

    Raises:
        RequestError: If the name is unknown.
    """
    if name not in ORDERS:
        raise RequestError(f"unknown orders {name!r}; expected one of {', '.join(ORDERS)}")
    return (*FOUR_ORDERS, *random_baseline(seed)) if name == "all" else FOUR_ORDERS[:1]


class Item(NamedTuple):
    """One retrieval prompt, with the order and the category of its properties."""

    order: str
    category: str | None
    prompt: RetrievalPrompt


@dataclass(frozen=True)
class Retrieval:
    """The retrieval prompts of one wording, and how their candidates are ranked.

    Args:
        concepts: The concepts that the prompts ask for.
        vocabulary: The candidates, which include the concepts' words.
        wording: ``sentence`` or ``blank-last``.
        articles: The articles, ``fixed`` or ``candidate``, as described in ``Asking``.
        orders: The orders of properties. Prompts that are restricted to a category use only the
            first order.
        sentences: Whether the model scores whole sentences, each with a candidate in the blank.
        top: The number of best candidates to store.
        most: The maximum number of properties in a prompt.
    """

    concepts: Sequence[Concept]
    vocabulary: Vocabulary
    wording: str
    articles: Articles = "fixed"
    orders: Sequence[Order] = FOUR_ORDERS[:1]
    sentences: bool = False
    top: int = 20
    most: int = field(default=MOST, kw_only=True)

    @property
    def listed(self) -> bool:
        """Whether candidates are scored one by one."""
        return self.sentences or self.articles == "candidate"

    @cached_property
    def items(self) -> Sequence[Item]:
        """All prompts, sorted by order and category, then by concept and number of properties."""
        categories = [
            category
            for category in CATEGORIES
            if any(p.property.category == category for c in self.concepts for p in c.properties)
        ]
        kinds: list[tuple[Order, str | None]] = [(order, None) for order in self.orders]
        kinds += [(self.orders[0], category) for category in categories]
        return [
            Item(order.name, category, prompt)
            for order, category in kinds
            for prompt in retrieval_prompts(
                self.concepts, Asking(self.wording, self.articles, order, category, self.most)
            )
        ]

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """One ranking prompt per item; empty if candidates are scored one by one."""
        if self.listed:
            return ()
        return [self._ranking(one) for one in self.items]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts with candidates as answers; empty if the items have ranking prompts."""
        if not self.listed:
            return ()
        return [*self._sentence_prompts()] if self.sentences else [*self._article_prompts()]

    def ranked(self, rankings: Sequence[Ranking], scores: Sequence[Scores]) -> Sequence[Ranking]:
        """Return the rankings of all items, computed from ``scores`` if ``rankings`` is empty."""
        if not self.listed:
            return rankings
        scored = zip(self.prompts, scores, strict=True)
        known = {
            (prompt.text, one.answer): (one.logprob, one.tokens)
            for prompt, score in scored
            for one in score.answers
        }
        return [self._rank(item, known) for item in self.items]

    def is_main(self, item: Item) -> bool:
        """Check whether an item belongs to the paper's Figure 2 (first order, all categories)."""
        return item.category is None and item.order == self.orders[0].name

    def _ranking(self, item: Item) -> RankingPrompt:
        """Return an item's ranking prompt.

        The item's concept is a target of the ranking. If the item belongs to the paper's Figure 2,
        all other concepts are also targets. The scores of the other concepts allow ranks to be
        computed among the concepts that two runs share.
        """
        own = item.prompt.word
        others = [word for word in self._names if word != own] if self.is_main(item) else ()
        return RankingPrompt(item.prompt.text, self.vocabulary, (own, *others), top=self.top)

    @cached_property
    def _names(self) -> Sequence[str]:
        """The distinct words of the concepts, sorted."""
        return sorted({concept.word for concept in self.concepts})

    @cached_property
    def _answers(self) -> Mapping[str, str]:
        """For each candidate, the text for the blank: the word, or the article and the word."""
        asking = Asking(self.wording, self.articles)
        article = {concept.word: concept.article for concept in self.concepts}
        return {word: asking.answer(word, article.get(word, "a")) for word in self.vocabulary.words}

    def _article_prompts(self) -> Iterator[Prompt]:
        """Yield each prompt with all candidates as answers, each candidate with its own article."""
        for item in self.items:
            yield Prompt(item.prompt.text, tuple(self._answers.values()))

    def _sentence_prompts(self) -> Iterator[Prompt]:
        """Yield one prompt for the candidates, and one per candidate for the rest of the sentence.

        With the fixed article, candidates are scored after "A", and the rest of the sentence is
        scored after "A" and the candidate. With candidate articles, whole sentences are scored
        after the BOS token. With candidate articles, a prompt whose answers are only the candidates
        is also scored. Its scores are needed only for the number of tokens of each candidate. The
        model computes the text that precedes the rest of the sentence only once per candidate.
        """
        phrases = tuple(dict.fromkeys(self._phrase(item.prompt) for item in self.items))
        answers = tuple(self._answers.values())
        if self.articles == "fixed":
            yield Prompt(_ARTICLE, answers)
            yield from (Prompt(f"{_ARTICLE} {answer}", phrases) for answer in answers)
        else:
            yield Prompt("", answers, separator="")
            for answer in answers:
                whole = tuple(f"{answer} {phrase}" for phrase in phrases)
                yield Prompt("", whole, separator="")

    def _phrase(self, prompt: RetrievalPrompt) -> str:
        """Return the text after the blank, such as "has fur and is big."."""
        return prompt.text.split(BLANK, 1)[1].strip()

    def _rank(
        self, item: Item, known: Mapping[tuple[str, str], tuple[float | None, int]]
    ) -> Ranking:
        """Rank the candidates of an item by their scores."""
        import numpy as np

        found = [self._value(item.prompt, word, known) for word in self.vocabulary.words]
        values = np.array([np.nan if value is None else value for value, _ in found], float)
        if np.isnan(values).all():
            return RankingKind().missing(self._ranking(item), NO_CANDIDATE)
        return rank(self._ranking(item), values, np.array([tokens for _, tokens in found]))

    def _value(
        self,
        prompt: RetrievalPrompt,
        word: str,
        known: Mapping[tuple[str, str], tuple[float | None, int]],
    ) -> tuple[float | None, int]:
        """Return a candidate's log-probability in nats and its number of tokens."""
        answer = self._answers[word]
        if not self.sentences:
            return known[prompt.text, answer]
        phrase = self._phrase(prompt)
        if self.articles == "candidate":
            _, tokens = known["", answer]
            whole, _ = known["", f"{answer} {phrase}"]
            return whole, tokens
        first, tokens = known[_ARTICLE, answer]
        rest, _ = known[f"{_ARTICLE} {answer}", phrase]
        return (None if first is None or rest is None else first + rest), tokens
