"""Retrieval prompts, which ask for a concept by its properties (Weir et al. 2020, Figures 1-3)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import NamedTuple, TypeAlias

import numpy as np
import polars as pl

from tacit.probes.assumptions import MAIN, load_templates
from tacit.probes.assumptions.options import Articles
from tacit.probes.assumptions.properties import Concept, Worded
from tacit.probes.assumptions.wording import joined
from tacit.requests import BLANK, Prompt, Ranking, RankingKind, RankingPrompt, Vocabulary, rank

MOST = 10
"""Maximum number of properties per prompt, as in Weir et al. (2020)."""

TIES = "order of the file; increasing frequency is the reverse of decreasing"
"""A text that explains the order of properties with the same production frequency."""

ORDERS = (MAIN, "top-increasing", "bottom-decreasing", "bottom-increasing")
"""The orders in Figure 3b of Weir et al. (2020); the first is that of Figures 1, 2 and 3a."""

RANDOM_ORDERS = tuple(
    f"random-{number}-{order}" for number, order in product(range(1, 6), repeat=2)
)
"""The baseline in Figure 3b: five random selections of properties, each in five random orders."""

CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of properties in Figure 3a of Weir et al. (2020)."""

Scored: TypeAlias = Mapping[tuple[str, str], tuple[float | None, int]]
"""The log-probability and the number of tokens of each answer, by the prompt's text and answer."""


def arranged(
    order: str, concept: str, properties: Sequence[Worded], *, most: int = MOST, seed: int = 0
) -> list[Worded]:
    """Select properties in one of ``ORDERS`` or ``RANDOM_ORDERS``; ties have the file's order."""
    selection, *how = order.split("-")
    if selection == "random":
        number, permutation = how
        drawn = _shuffled((seed, concept, number), properties)[:most]
        return _shuffled((seed, concept, number, permutation), drawn)
    falling = sorted(properties, key=lambda one: -one.property.frequency)
    chosen = falling[:most] if selection == "top" else falling[-most:]
    return chosen if how == ["decreasing"] else chosen[::-1]


def _shuffled(key: tuple[object, ...], properties: Sequence[Worded]) -> list[Worded]:
    """Sort properties in a reproducible random order that depends on ``key``."""

    def number(one: Worded) -> bytes:
        text = "\t".join(map(str, (*key, one.property.feature))).encode()
        return hashlib.blake2b(text, digest_size=16).digest()

    return sorted(properties, key=number)


def has_ties(concept: Concept) -> bool:
    """Check whether any of a concept's ten most frequent properties have equal frequencies."""
    first = arranged(MAIN, concept.name, concept.properties)
    return len({one.property.frequency for one in first}) < len(first)


class RetrievalPrompt(NamedTuple):
    """A text that states ``n`` properties of a concept, with a blank for the concept."""

    wording: str
    order: str
    category: str | None
    concept: str
    word: str
    n: int
    text: str
    added: str


@dataclass(frozen=True)
class Retrieval:
    """The retrieval prompts in one wording, and their candidates.

    If ``listed``, the model scores each candidate separately instead of ranking a vocabulary: with
    its article, or in ``sentences`` of which a causal model scores the whole.
    """

    concepts: Sequence[Concept]
    vocabulary: Vocabulary
    wording: str = "sentence"
    articles: Articles = "fixed"
    orders: Sequence[str] = ORDERS[:1]
    sentences: bool = False
    top: int = 1
    seed: int = 0

    @property
    def listed(self) -> bool:
        """Whether the model scores each candidate separately instead of ranking a vocabulary."""
        return self.sentences or self.articles == "candidate"

    @cached_property
    def items(self) -> Sequence[RetrievalPrompt]:
        """All prompts: for each order and category of properties, the prompts of each concept."""
        kinds: list[tuple[str, str | None]] = [(order, None) for order in self.orders]
        kinds += [(self.orders[0], category) for category in CATEGORIES]
        return [
            prompt
            for order, category in kinds
            for concept in self.concepts
            for prompt in self.of(concept, order, category)
        ]

    def of(
        self, concept: Concept, order: str = MAIN, category: str | None = None
    ) -> Iterator[RetrievalPrompt]:
        """Yield the prompts that state 1, 2, … properties of a concept."""
        usable = [one for one in concept.properties if category in {None, one.property.category}]
        stated = [one.text for one in arranged(order, concept.name, usable, seed=self.seed)]
        template, key = self._template, (self.wording, order, category, concept.name, concept.word)
        if self.articles == "candidate":
            template = template.replace(f"{{A}} {BLANK}", BLANK).replace(f"{{a}} {BLANK}", BLANK)
        for n in range(1, len(stated) + 1):
            text = template.format(a="a", A="A", properties=joined(stated[:n]))
            yield RetrievalPrompt(*key, n, text, stated[n - 1])

    @property
    def _template(self) -> str:
        return load_templates().retrieval[self.wording]

    @cached_property
    def keys(self) -> pl.DataFrame:
        """What identifies each prompt, its text and its candidates."""
        schema = {name: pl.Int64 if name == "n" else pl.String for name in RetrievalPrompt._fields}
        return pl.DataFrame(self.items, schema, orient="row").with_columns(
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
        rankings = []
        for item, request in zip(self.items, self.rankings, strict=True):
            each = [self._score(item, word, scored) for word in self.vocabulary.words]
            values = np.array([np.nan if value is None else value for value, _ in each], float)
            tokens = np.array([tokens for _, tokens in each])
            unknown = bool(np.isnan(values).all())
            rankings.append(
                RankingKind().missing(request, "no candidate has a score")
                if unknown
                else rank(request, values, tokens)
            )
        return rankings

    @cached_property
    def _answers(self) -> Mapping[str, str]:
        """For each candidate, the text for the blank: the word, or an article and the word."""
        words = self.vocabulary.words
        if self.articles == "fixed":
            return dict(zip(words, words, strict=True))
        articles = {concept.word: concept.article for concept in self.concepts}
        named = {word: f"{articles.get(word, 'a')} {word}" for word in words}
        begins = self._template.startswith("{A}")
        return (
            {word: text[0].upper() + text[1:] for word, text in named.items()} if begins else named
        )

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
