"""Retrieval prompts, which ask for a concept by its properties (Weir et al. 2020, Figures 1-3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import joined
from tacit.requests import BLANK, Prompt, Ranking, RankingKind, RankingPrompt, Vocabulary, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import polars as pl

    from tacit.probes.assumptions.options import Articles
    from tacit.probes.assumptions.properties import Concept, Worded

MOST = 10
"""Maximum number of properties per prompt, as in Weir et al. (2020)."""

TIES = "order of the file; increasing frequency is the reverse of decreasing"
"""A text that explains the order of properties with the same production frequency."""

CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of properties in Figure 3a of Weir et al. (2020)."""

NO_CANDIDATE = "no candidate has a score"

Scored: TypeAlias = Mapping[tuple[str, str], tuple[float | None, int]]
"""The log-probability and the number of tokens of each answer, by the prompt's text and answer."""


@dataclass(frozen=True, slots=True)
class ByFrequency:
    """An order of properties by production frequency; ties have the order of the file."""

    selection: Literal["top", "bottom"] = "top"
    direction: Literal["decreasing", "increasing"] = "decreasing"

    @property
    def name(self) -> str:
        """The order's name in tables, such as ``top-decreasing``."""
        return f"{self.selection}-{self.direction}"

    def arrange(self, _concept: str, properties: Sequence[Worded], most: int) -> list[Worded]:
        """Select at most ``most`` properties, and put them in order."""
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
        """Select at most ``most`` properties at random, and put them in a random order."""
        drawn = _shuffled((self.seed, concept, self.number), properties)[:most]
        return _shuffled((self.seed, concept, self.number, self.permutation), drawn)


def _shuffled(key: tuple[object, ...], properties: Sequence[Worded]) -> list[Worded]:
    """Sort properties in a reproducible random order that depends on ``key``."""

    def number(one: Worded) -> bytes:
        said = "\t".join(map(str, (*key, one.property.feature))).encode()
        return hashlib.blake2b(said, digest_size=16).digest()

    return sorted(properties, key=number)


Order: TypeAlias = ByFrequency | Shuffled

FOUR_ORDERS: tuple[ByFrequency, ...] = (
    ByFrequency("top", "decreasing"),
    ByFrequency("top", "increasing"),
    ByFrequency("bottom", "decreasing"),
    ByFrequency("bottom", "increasing"),
)
"""The orders in Figure 3b of Weir et al. (2020); the first is that of Figures 1, 2 and 3a."""


def random_baseline(seed: int = 0) -> tuple[Shuffled, ...]:
    """Return five random selections of properties, each in five random orders."""
    return tuple(
        Shuffled(number, permutation, seed) for number in range(1, 6) for permutation in range(1, 6)
    )


class RetrievalPrompt(NamedTuple):
    """A text that states ``n`` properties of a concept, with a blank for the concept."""

    order: str
    category: str | None
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

    def text(self, properties: str) -> str:
        """Return the prompt for properties that have already been joined into one phrase."""
        template = self._template
        if self.articles == "candidate":
            template = template.replace(f"{{A}} {BLANK}", BLANK).replace(f"{{a}} {BLANK}", BLANK)
        return template.format(a="a", A="A", properties=properties)

    def answer(self, word: str, article: str) -> str:
        """Return the text for the blank: the candidate word, with its article if necessary."""
        if self.articles == "fixed":
            return word
        begins = f"{{A}} {BLANK}" in self._template
        return f"{article.capitalize() if begins else article} {word}"

    @property
    def _template(self) -> str:
        return load_templates().retrieval[self.wording]


def retrieval_prompts(
    concepts: Sequence[Concept], asking: Asking | None = None
) -> list[RetrievalPrompt]:
    """Return prompts that state 1, 2, … properties of a concept, for each concept in turn."""
    asking = asking or Asking()
    return [prompt for concept in concepts for prompt in _of_concept(concept, asking)]


def _of_concept(concept: Concept, asking: Asking) -> Iterator[RetrievalPrompt]:
    order, category = asking.order, asking.category
    usable = [one for one in concept.properties if category in {None, one.property.category}]
    stated = [one.text for one in order.arrange(concept.name, usable, MOST)]
    answer = asking.answer(concept.word, concept.article)
    for n in range(1, len(stated) + 1):
        text = asking.text(joined(stated[:n]))
        yield RetrievalPrompt(order.name, category, concept.name, concept.word, n, text, answer)


@dataclass(frozen=True)
class Retrieval:
    """The retrieval prompts in one wording, and their candidates.

    If ``listed``, the model scores each candidate separately instead of ranking a vocabulary: with
    its article, or in ``sentences`` of which a causal model scores the whole.
    """

    concepts: Sequence[Concept]
    vocabulary: Vocabulary
    wording: str
    articles: Articles
    orders: Sequence[Order]
    sentences: bool
    top: int

    @property
    def listed(self) -> bool:
        """Whether the model scores each candidate separately instead of ranking a vocabulary."""
        return self.sentences or self.articles == "candidate"

    @cached_property
    def items(self) -> Sequence[RetrievalPrompt]:
        """All prompts: for each order and category of properties, the prompts of each concept."""
        kinds: list[tuple[Order, str | None]] = [(order, None) for order in self.orders]
        kinds += [(self.orders[0], category) for category in CATEGORIES]
        return [
            prompt
            for order, category in kinds
            for prompt in retrieval_prompts(
                self.concepts, Asking(self.wording, self.articles, order, category)
            )
        ]

    def is_main(self, item: RetrievalPrompt) -> bool:
        """Check if a prompt has properties of all categories in the first order."""
        return item.category is None and item.order == self.orders[0].name

    @cached_property
    def keys(self) -> pl.DataFrame:
        """What identifies each prompt, its text and its candidates."""
        import polars as pl

        names = ("wording", "order", "category", "concept", "word", "n", "text")
        schema = {name: pl.Int64 if name == "n" else pl.String for name in names}
        rows = [{**item._asdict(), "wording": self.wording} for item in self.items]
        return pl.DataFrame(rows, schema).with_columns(
            whole_sentence=pl.lit(self.sentences),
            words=pl.lit(len(self.vocabulary), pl.Int64),
            digest=pl.lit(self.vocabulary.digest),
        )

    @cached_property
    def rankings(self) -> Sequence[RankingPrompt]:
        """A request per prompt to rank all candidates for the blank."""
        return [
            RankingPrompt(item.text, self.vocabulary, (item.word,), top=self.top)
            for item in self.items
        ]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts for scoring each candidate separately; empty if ``listed`` is false."""
        if not self.listed:
            return ()
        answers = tuple(self._answers.values())
        if not self.sentences:
            texts = dict.fromkeys(item.text for item in self.items)
            return [Prompt(text, answers) for text in texts]
        phrases = tuple(dict.fromkeys(map(_phrase, self.items)))
        if self.articles == "fixed":
            behind = (Prompt(f"A {answer}", phrases) for answer in answers)
            return [Prompt("A", answers), *behind]
        whole = [tuple(f"{answer} {phrase}" for phrase in phrases) for answer in answers]
        return [
            Prompt("", (answer, *of), separator="")
            for answer, of in zip(answers, whole, strict=True)
        ]

    def ranked(self, scored: Scored) -> list[Ranking]:
        """Rank the candidates of each prompt by their scores."""
        import numpy as np

        found = []
        for item, request in zip(self.items, self.rankings, strict=True):
            each = [self._score(item, word, scored) for word in self.vocabulary.words]
            values = np.array([np.nan if value is None else value for value, _ in each], float)
            tokens = np.array([tokens for _, tokens in each])
            unknown = bool(np.isnan(values).all())
            found.append(
                RankingKind().missing(request, NO_CANDIDATE)
                if unknown
                else rank(request, values, tokens)
            )
        return found

    @cached_property
    def _answers(self) -> Mapping[str, str]:
        """For each candidate, the text for the blank: the word, or an article and the word."""
        asking = Asking(self.wording, self.articles)
        article = {concept.word: concept.article for concept in self.concepts}
        return {word: asking.answer(word, article.get(word, "a")) for word in self.vocabulary.words}

    def _score(
        self, prompt: RetrievalPrompt, word: str, scored: Scored
    ) -> tuple[float | None, int]:
        """Return a candidate's log-probability in nats and its number of tokens."""
        answer = self._answers[word]
        if not self.sentences:
            return scored[prompt.text, answer]
        phrase = _phrase(prompt)
        if self.articles == "candidate":
            whole, _ = scored["", f"{answer} {phrase}"]
            return whole, scored["", answer][1]
        first, tokens = scored["A", answer]
        rest, _ = scored[f"A {answer}", phrase]
        return (None if first is None or rest is None else first + rest), tokens


def _phrase(prompt: RetrievalPrompt) -> str:
    """Return the text that follows the blank, such as "has fur and is big."."""
    return prompt.text.split(BLANK, 1)[1].strip()
