"""Concept retrieval as requests: every order and category, ranked from one pass or word by word.

One pass ranks a whole vocabulary at the blank. Two kinds of candidates are scored one by one: those
with an article of their own, which is scored with the word, and whole sentences that a causal model
reads to their end. Only the concept list is short enough for that.
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
from tacit.requests import BLANK, Prompt, Ranking, RankingKind, RankingPrompt, Vocabulary, rank

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tacit.probes.assumptions.filters import Articles, Concept
    from tacit.probes.assumptions.retrieval import Order, RetrievalPrompt
    from tacit.requests import Scores

CATEGORIES = ("visual perceptual", "functional", "encyclopaedic")
"""The categories of Figure 3a; of the others few concepts have more than two or three."""

NO_CANDIDATE = "no candidate has a score"
_ARTICLE = "A"

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
        articles: ``fixed`` or ``candidate``, as for ``Asking``.
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
        return [self._ranking(one) for one in self.items]

    @cached_property
    def prompts(self) -> Sequence[Prompt]:
        """The prompts with the candidates as answers, where they are scored word by word."""
        if not self.listed:
            return ()
        return [*self._sentence_prompts()] if self.sentences else [*self._article_prompts()]

    def ranked(self, rankings: Sequence[Ranking], scores: Sequence[Scores]) -> Sequence[Ranking]:
        """The rankings of all items, from the rankings or the scores of what was asked."""
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
        """Whether a prompt is of Figure 2: of the first order and all categories."""
        return item.category is None and item.order == self.orders[0].name

    def _ranking(self, item: Item) -> RankingPrompt:
        """A prompt's request: the concept first, then, for Figure 2, all other concepts.

        The other concepts' scores allow ranks among the concepts that two runs share.
        """
        own = item.prompt.word
        others = [word for word in self._names if word != own] if self.is_main(item) else ()
        return RankingPrompt(item.prompt.text, self.vocabulary, (own, *others), top=self.top)

    @cached_property
    def _names(self) -> Sequence[str]:
        """The concepts' words, each once."""
        return sorted({concept.word for concept in self.concepts})

    @cached_property
    def _answers(self) -> Mapping[str, str]:
        """What each candidate puts in the blank: its word, or its article and its word."""
        asking = Asking(self.wording, self.articles)
        article = {concept.word: concept.article for concept in self.concepts}
        return {word: asking.answer(word, article.get(word, "a")) for word in self.vocabulary.words}

    def _article_prompts(self) -> Iterator[Prompt]:
        """Each text with all candidates in its blank, each behind its own article."""
        for item in self.items:
            yield Prompt(item.prompt.text, tuple(self._answers.values()))

    def _sentence_prompts(self) -> Iterator[Prompt]:
        """The candidates, then, with each, every phrase that goes on.

        With the fixed article, candidates and phrases are scored behind it. With their own
        articles, the whole sentences are scored, behind BOS; the candidates alone give their
        tokens. All phrases share the text before them, which is computed once.
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
        """What follows the blank: "has fur and is big."."""
        return prompt.text.split(BLANK, 1)[1].strip()

    def _rank(
        self, item: Item, known: Mapping[tuple[str, str], tuple[float | None, int]]
    ) -> Ranking:
        """The ranking of the candidates that were scored word by word."""
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
        """A candidate's log-probability, and its tokens, those of a scored article included."""
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
