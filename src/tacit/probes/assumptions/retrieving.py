"""Concept retrieval as requests: every order and category, ranked from one pass or word by word.

A place that one pass reads ranks a whole vocabulary. Where candidates change the text itself (their
article, or a sentence that a causal model reads to its end) the concept list is scored, word by
word.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tacit.errors import RequestError
from tacit.probes.assumptions.retrieval import (
    FOUR_ORDERS,
    MOST,
    Asking,
    random_baseline,
    retrieval_prompts,
)
from tacit.prompts import BLANK, Prompt
from tacit.rankings import Ranking, RankingPrompt, Vocabulary, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.probes.assumptions.filters import Articles, Concept
    from tacit.probes.assumptions.retrieval import Order, RetrievalPrompt
    from tacit.prompts import LogProbs

CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of Figure 3a; of the others few concepts have more than two or three."""

ORDERS = ("all", "main")
"""``all`` is Figure 3b with its baseline; ``main`` is the one order of Figure 2."""


def orders_of(name: str, seed: int = 0) -> tuple[Order, ...]:
    """The orders of that name; the first is the one of Figure 2.

    Raises:
        RequestError: There is no such name.
    """
    if name not in ORDERS:
        raise RequestError(f"the orders {name!r} are none of {', '.join(ORDERS)}")
    return (*FOUR_ORDERS, *random_baseline(seed)) if name == "all" else FOUR_ORDERS[:1]


class Item(NamedTuple):
    """One prompt of retrieval, and what it is of."""

    order: str
    category: str | None
    prompt: RetrievalPrompt


@dataclass(frozen=True)
class Retrieval:
    """The prompts of one wording, and how their candidates are ranked.

    Args:
        concepts: What is asked about.
        vocabulary: The candidates; the concepts' words are among them.
        wording: ``sentence`` or ``blank-last``.
        articles: ``fixed`` or ``candidate``, as for ``Filters``.
        orders: Which properties, in which order; the first also by category.
        sentences: Whether the model reads whole sentences, each with a candidate in place.
        top: How many of the best candidates are kept.
        most: At most so many properties in a prompt.
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
        """Whether candidates are scored word by word."""
        return self.sentences or self.articles == "candidate"

    @cached_property
    def items(self) -> Sequence[Item]:
        """Every prompt, by order and category, then by concept and number of properties."""
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
        """One per item, where one pass reads all candidates."""
        if self.listed:
            return ()
        return [
            RankingPrompt(one.prompt.text, self.vocabulary, (one.prompt.word,), top=self.top)
            for one in self.items
        ]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts with the candidates as answers, where they are scored word by word."""
        if not self.listed:
            return ()
        return [*self._sentence_prompts()] if self.sentences else [*self._article_prompts()]

    def ranked(self, rankings: Sequence[Ranking], scores: Sequence[LogProbs]) -> Sequence[Ranking]:
        """The rankings of all items, from the rankings or the scores of what was asked."""
        if not self.listed:
            return rankings
        scored = zip(self.prompts, scores, strict=True)
        known = {
            (prompt.text, one.answer): (one.logprob, one.tokens)
            for prompt, score in scored
            for one in score.answers
        }
        return [self._rank(item.prompt, known) for item in self.items]

    @cached_property
    def _article(self) -> Mapping[str, str]:
        """Each candidate's article, as the prompts have it."""
        if self.articles == "fixed":
            return dict.fromkeys(self.vocabulary.words, "a")
        return {concept.word: concept.article for concept in self.concepts}

    def _article_prompts(self) -> Iterator[Prompt]:
        """Each text with the candidates that have its article."""
        behind: dict[str, list[str]] = {}
        for word in self.vocabulary.words:
            behind.setdefault(self._article[word], []).append(word)
        for item in self.items:
            for article, words in behind.items():
                yield Prompt(item.prompt.text_for(article), tuple(words))

    def _sentence_prompts(self) -> Iterator[Prompt]:
        """Candidates behind their article, then, behind each, every phrase that goes on.

        All phrases share the text before them, which is computed once.
        """
        phrases = tuple(dict.fromkeys(self._phrase(item.prompt) for item in self.items))
        for article in dict.fromkeys(self._article.values()):
            words = tuple(w for w in self.vocabulary.words if self._article[w] == article)
            yield Prompt(article.capitalize(), words)
        for word in self.vocabulary.words:
            yield Prompt(self._begun(word), phrases)

    def _begun(self, word: str) -> str:
        """The sentence up to its phrase: "A bear"."""
        return f"{self._article[word].capitalize()} {word}"

    def _phrase(self, prompt: RetrievalPrompt) -> str:
        """What follows the blank: "has fur and is big."."""
        return prompt.text.split(BLANK, 1)[1].strip()

    def _rank(
        self, prompt: RetrievalPrompt, known: Mapping[tuple[str, str], tuple[float | None, int]]
    ) -> Ranking:
        """The ranking of the candidates that were scored word by word."""
        import numpy as np

        found = [self._value(prompt, word, known) for word in self.vocabulary.words]
        values = np.array([np.nan if value is None else value for value, _ in found], float)
        asked = RankingPrompt(prompt.text, self.vocabulary, (prompt.word,), top=self.top)
        return rank(asked, values, np.array([tokens for _, tokens in found]))

    def _value(
        self,
        prompt: RetrievalPrompt,
        word: str,
        known: Mapping[tuple[str, str], tuple[float | None, int]],
    ) -> tuple[float | None, int]:
        """A candidate's log-probability, and the tokens that it takes itself."""
        article = self._article[word]
        if not self.sentences:
            return known[prompt.text_for(article), word]
        first, tokens = known[article.capitalize(), word]
        rest, _ = known[self._begun(word), self._phrase(prompt)]
        return (None if first is None or rest is None else first + rest), tokens
