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
"""Maximum number of properties per prompt, as in Weir et al. (2020)."""

TIES = "order of the file; increasing frequency is the reverse of decreasing"
"""A text that explains the order of properties with the same production frequency."""

Selection = Literal["top", "bottom"]
Direction = Literal["decreasing", "increasing"]


class Order(Protocol):
    """A rule that selects properties of a concept and determines their order."""

    @property
    def name(self) -> str:
        """The order's name in tables."""
        ...

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """Select at most ``most`` of the concept's ``properties``, and put them in order."""
        ...


@dataclass(frozen=True, slots=True)
class ByFrequency:
    """An order of properties by increasing or decreasing production frequency."""

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
        """Select and sort a concept's properties by production frequency; see ``Order``."""
        falling = sorted(properties, key=lambda one: -one.property.frequency)
        chosen = falling[:most] if self.selection == "top" else falling[::-1][:most][::-1]
        return chosen if self.direction == "decreasing" else chosen[::-1]


def has_ties(concept: Concept) -> bool:
    """Check whether any of a concept's ten most frequent properties have equal frequencies."""
    first = ByFrequency().arrange(concept.name, concept.properties, MOST)
    return len({one.property.frequency for one in first}) < len(first)


@dataclass(frozen=True, slots=True)
class Shuffled:
    """A random selection of properties in a random order, as a baseline (Weir et al. 2020)."""

    number: int = 1
    permutation: int = 1
    seed: int = 0

    @property
    def name(self) -> str:
        """The name, such as ``random-2-5``: second set of properties, fifth random order."""
        return f"random-{self.number}-{self.permutation}"

    def arrange(self, concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """Select properties at random, and put them in a random order; see ``Order``."""
        drawn = _shuffled((self.seed, concept, self.number), properties)[:most]
        return _shuffled((self.seed, concept, self.number, self.permutation), drawn)


FOUR_ORDERS: tuple[ByFrequency, ...] = (
    ByFrequency("top", "decreasing"),
    ByFrequency("top", "increasing"),
    ByFrequency("bottom", "decreasing"),
    ByFrequency("bottom", "increasing"),
)
"""The four orders of properties by production frequency (Weir et al. 2020, Figure 3b).

The first of the four orders (``top-decreasing``) is also used in Figure 2 of Weir et al. (2020).
"""


def random_baseline(seed: int = 0, sets: int = 5, permutations: int = 5) -> tuple[Shuffled, ...]:
    """Return several random selections of properties, each in several random orders."""
    return tuple(
        Shuffled(number, permutation, seed)
        for number in range(1, sets + 1)
        for permutation in range(1, permutations + 1)
    )


@dataclass(frozen=True, slots=True)
class RetrievalPrompt:
    """A text that states ``n`` properties of a concept, with a blank for the concept."""

    concept: str
    word: str
    n: int
    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Asking:
    """The settings that determine how prompts are built from properties."""

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
        """Return the prompt for properties that have already been joined into one phrase."""
        template = of_wording(load_templates().retrieval, self.wording)
        if self.articles == "candidate":
            template = template.replace(f"{{A}} {BLANK}", BLANK).replace(f"{{a}} {BLANK}", BLANK)
        return template.format(a="a", A="A", properties=properties)

    def answer(self, word: str, article: str) -> str:
        """Return the text for the blank: the candidate word, with its article if necessary."""
        if self.articles == "fixed":
            return word
        begins = f"{{A}} {BLANK}" in of_wording(load_templates().retrieval, self.wording)
        return f"{article.capitalize() if begins else article} {word}"


def retrieval_prompts(
    concepts: Sequence[Concept], asking: Asking | None = None
) -> list[RetrievalPrompt]:
    """Return prompts that state 1, 2, … properties of a concept, for each concept in turn."""
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
    """Sort properties in a reproducible random order that depends on ``key``."""

    def number(one: Worded) -> bytes:
        said = "\t".join(map(str, (*key, one.property.feature))).encode()
        return hashlib.blake2b(said, digest_size=16).digest()

    return sorted(properties, key=number)


CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of properties in Figure 3a of Weir et al. (2020)."""

NO_CANDIDATE = "no candidate has a score"
_ARTICLE = "A"

ORDERS = ("all", "main")
"""The names of the available sets of property orders.

The set ``main`` of property orders contains only the order in Figure 2 of Weir et al. (2020). The
set ``all`` contains the property orders in Figure 3b of Weir et al. (2020).
"""


def orders_of(name: str, seed: int = 0) -> tuple[Order, ...]:
    """Return the orders of properties that ``--orders`` selects (``all`` or ``main``)."""
    if name not in ORDERS:
        raise RequestError(f"unknown orders {name!r}; expected one of {', '.join(ORDERS)}")
    return (*FOUR_ORDERS, *random_baseline(seed)) if name == "all" else FOUR_ORDERS[:1]


class Item(NamedTuple):
    """A retrieval prompt, with the order and the category of the properties that it states."""

    order: str
    category: str | None
    prompt: RetrievalPrompt


@dataclass(frozen=True)
class Retrieval:
    """The retrieval prompts in one wording, and methods to rank their candidates."""

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
        """Whether the model scores each candidate separately instead of ranking a vocabulary."""
        return self.sentences or self.articles == "candidate"

    @cached_property
    def items(self) -> Sequence[Item]:
        """All prompts: for each order and category of properties, the prompts of each concept."""
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
        """A ranking prompt per retrieval prompt; empty if candidates are scored separately."""
        if self.listed:
            return ()
        return [self._ranking(one) for one in self.items]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts for scoring each candidate separately; empty if ``listed`` is false."""
        if not self.listed:
            return ()
        return [*self._sentence_prompts()] if self.sentences else [*self._article_prompts()]

    def ranked(self, rankings: Sequence[Ranking], scores: Sequence[Scores]) -> Sequence[Ranking]:
        """Return the ranking of each prompt in ``items``."""
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
        """Check if a prompt has properties of all categories in the order ``orders[0]``."""
        return item.category is None and item.order == self.orders[0].name

    def _ranking(self, item: Item) -> RankingPrompt:
        """Return the request to rank all candidate words for the blank of a retrieval prompt."""
        return RankingPrompt(item.prompt.text, self.vocabulary, (item.prompt.word,), top=self.top)

    @cached_property
    def _answers(self) -> Mapping[str, str]:
        """For each candidate, the text for the blank: the word, or an article and the word."""
        asking = Asking(self.wording, self.articles)
        article = {concept.word: concept.article for concept in self.concepts}
        return {word: asking.answer(word, article.get(word, "a")) for word in self.vocabulary.words}

    def _article_prompts(self) -> Iterator[Prompt]:
        """Yield each prompt, with every candidate (article and word) as a possible answer."""
        for item in self.items:
            yield Prompt(item.prompt.text, tuple(self._answers.values()))

    def _sentence_prompts(self) -> Iterator[Prompt]:
        """Yield the prompts needed to score each sentence in which a candidate fills the blank."""
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
        """Return the text that follows the blank, such as "has fur and is big."."""
        return prompt.text.split(BLANK, 1)[1].strip()

    def _rank(
        self, item: Item, known: Mapping[tuple[str, str], tuple[float | None, int]]
    ) -> Ranking:
        """Rank the candidates of a prompt by their log-probabilities."""
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
