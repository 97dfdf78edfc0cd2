"""The facts that are stated before an anchor question (METHODS 4, "Intervention")."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from tacit.errors import RequestError
from tacit.probes.consistency.wording import grammatical
from tacit.strings import comparable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tacit.knowledge.background import Background
    from tacit.probes.consistency.template import Templates
    from tacit.requests import Prompt
    from tacit.sources.anchors import Anchor

CONDITIONS = ("true", "false", "irrelevant")
"""The question's own facts, their negatives stated as facts, another question's own facts."""

MOST_FACTS = 5
"""The default maximum number of facts in a context."""

_WORD = re.compile(r"\w+")


class Fact(NamedTuple):
    """A background fact, and the tail (second concept) of the fact's false version."""

    head: str
    relation: str
    tail: str
    negative: str


@dataclass(frozen=True)
class ContextChoice:
    """The rules by which the facts of a context are selected."""

    most: int = MOST_FACTS
    seed: int = 0

    def rank(self, *words: str) -> str:
        """Return a reproducible pseudo-random sort key for the given words."""
        text = "\t".join((str(self.seed), *words))
        return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


@dataclass(frozen=True)
class Contexts:
    """The contexts (facts in the prompt) of the anchor questions, by index of the question."""

    anchors: Sequence[Anchor]
    background: Background
    templates: Templates
    choice: ContextChoice

    def __post_init__(self) -> None:
        relations = self.templates.relations
        unstated = sorted(
            name for name in set(self.background.facts["relation"]) if not relations[name].statement
        )
        if unstated:
            raise RequestError(
                f"--intervene states facts, and there is no statement for {', '.join(unstated)}: "
                "add statement to these relations with --templates FILE, or select other relations "
                "with --relations"
            )
        if not self.own:
            raise RequestError(
                "--intervene needs facts that have a negative, and no question has such a fact"
            )

    @cached_property
    def own(self) -> Mapping[int, tuple[Fact, ...]]:
        """The facts of each question's own background that its contexts state."""
        import polars as pl

        facts = self.background.facts.drop_nulls("negative")
        ranks = [self.choice.rank(*fact) for fact in facts.select(Fact._fields[:3]).iter_rows()]
        most = (
            facts.with_columns(rank=pl.Series(ranks, dtype=pl.String))
            .sort("question", "weight", "rank", descending=[False, True, False], nulls_last=True)
            .group_by("question", maintain_order=True)
            .head(self.choice.most)
        )
        found: dict[int, tuple[Fact, ...]] = {}
        for anchor, *fact in most.select("question", *Fact._fields).iter_rows():
            found[anchor] = (*found.get(anchor, ()), Fact(*fact))
        return found

    @cached_property
    def irrelevant(self) -> Mapping[int, tuple[Fact, ...]]:
        """For each question, as many facts of another one with which it shares no concept."""
        order = sorted(self.own, key=lambda at: self.choice.rank(self.anchors[at].id))
        found = {}
        for place, anchor in enumerate(order):
            others = (
                self.own[other][: len(self.own[anchor])]
                for other in order[place + 1 :] + order[:place]
                if self._fits(anchor, other)
            )
            found[anchor] = next(others, None)
        return {at: facts for at in self.own if (facts := found[at]) is not None}

    def _fits(self, anchor: int, other: int) -> bool:
        """Return whether the facts of ``other`` are as many as and irrelevant to those asked."""
        n, none = len(self.own[anchor]), frozenset[str]()
        facts, concepts = self.own[other][:n], self._concepts.get(anchor, none)
        ends = {end for fact in facts for end in (fact.head, fact.tail)}
        return (
            len(facts) == n
            and concepts.isdisjoint(self._concepts.get(other, none) | ends)
            and self._words[anchor].isdisjoint(_words(*ends))
        )

    @cached_property
    def _concepts(self) -> Mapping[int, frozenset[str]]:
        """The concepts of each anchor question."""
        grouped = self.background.concepts.group_by("question").agg("concept")
        return {at: frozenset(concepts) for at, concepts in grouped.iter_rows()}

    @cached_property
    def _words(self) -> Mapping[int, frozenset[str]]:
        """The words of each anchor question's text and choices, except stop words."""
        from tacit.knowledge.words import Words

        is_stop = Words().is_stop
        said = {at: _words(one.question, *one.choices) for at, one in enumerate(self.anchors)}
        return {at: frozenset(w for w in said[at] if not is_stop(w)) for at in self.own}

    @cached_property
    def texts(self) -> Mapping[str, Mapping[int, str]]:
        """The text of each context, by condition and by index of the anchor question."""
        false = {
            at: tuple(fact._replace(tail=fact.negative) for fact in facts)
            for at, facts in self.own.items()
        }
        stated = dict(zip(CONDITIONS, (self.own, false, self.irrelevant), strict=True))
        words, relations = grammatical(), self.templates.relations
        return {
            condition: {
                at: self.templates.context.facts(
                    words.statement(relations[fact.relation], fact.head, fact.tail)
                    for fact in facts
                )
                for at, facts in of.items()
            }
            for condition, of in stated.items()
        }

    def wrapped(self, condition: str, anchor: int, prompt: Prompt) -> Prompt:
        """Return an anchor question's prompt, preceded by the facts of one kind of context."""
        return self.templates.context.wrapped(self.texts[condition][anchor], prompt)


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(comparable(text).casefold()))
