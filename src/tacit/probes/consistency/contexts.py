"""Select the facts that precede an anchor question in a prompt (METHODS section 4)."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import RequestError
from tacit.probes.consistency.wording import grammatical
from tacit.strings import comparable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

    from tacit.knowledge.background import Background
    from tacit.probes.consistency.template import Templates
    from tacit.requests import Prompt
    from tacit.sources.anchors import Anchor

CONDITIONS = ("true", "false", "irrelevant")
"""The names of the three kinds of contexts: true facts, false facts, irrelevant facts."""

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
    """The contexts (facts in the prompt) of the anchor questions."""

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
        """For each anchor question, context facts from the question's own background."""
        import polars as pl

        facts = self.background.facts.drop_nulls("negative")
        columns = ("head", "relation", "tail")
        ranks = [self.choice.rank(*fact) for fact in facts.select(columns).iter_rows()]
        ordered = facts.with_columns(rank=pl.Series(ranks, dtype=pl.String)).sort(
            "question", "weight", "rank", descending=[False, True, False], nulls_last=True
        )
        most = ordered.group_by("question", maintain_order=True).head(self.choice.most)
        found: dict[int, tuple[Fact, ...]] = {}
        for anchor, *fact in most.select("question", *Fact._fields).iter_rows():
            found[anchor] = (*found.get(anchor, ()), Fact(*fact))
        return found

    @cached_property
    def irrelevant(self) -> Mapping[int, tuple[Fact, ...]]:
        """For each anchor question, irrelevant facts that belong to another anchor question."""
        order = sorted(self.own, key=lambda at: self.choice.rank(self.anchors[at].id))
        found: dict[int, tuple[Fact, ...]] = {}
        for place, anchor in enumerate(order):
            facts = next(self._fitting(anchor, order[place + 1 :] + order[:place]), None)
            if facts is not None:
                found[anchor] = facts
        return {anchor: found[anchor] for anchor in self.own if anchor in found}

    def _fitting(self, anchor: int, others: Sequence[int]) -> Iterator[tuple[Fact, ...]]:
        """Yield the irrelevant facts from each suitable question in ``others``."""
        concepts, n = self._concepts.get(anchor, frozenset()), len(self.own[anchor])
        for other in others:
            facts = self.own[other][:n]
            ends = {end for fact in facts for end in (fact.head, fact.tail)}
            if (
                len(facts) == n
                and concepts.isdisjoint(self._concepts.get(other, frozenset()))
                and concepts.isdisjoint(ends)
                and self._words[anchor].isdisjoint(_words(*ends))
            ):
                yield facts

    @cached_property
    def _concepts(self) -> Mapping[int, frozenset[str]]:
        """The concepts of each anchor question."""
        return _sets(self.background.concepts, "question")

    @cached_property
    def _words(self) -> Mapping[int, frozenset[str]]:
        """The words of each anchor question's text and choices, except stop words."""
        from tacit.knowledge.words import Words

        is_stop = Words().is_stop
        return {
            at: frozenset(
                word
                for word in _words(self.anchors[at].question, *self.anchors[at].choices)
                if not is_stop(word)
            )
            for at in self.own
        }

    @cached_property
    def touching(self) -> Mapping[int, bool]:
        """Whether each anchor question's context facts contain a concept of the correct choice."""
        by_part = self.background.by_part
        if by_part is None:
            return {}
        answers = [(at, (self.anchors[at].answer or 0) + 1) for at in self.own]
        concepts = _sets(by_part, "question", "part")
        return {
            anchor: any(
                end in concepts.get((anchor, part), ())
                for fact in self.own[anchor]
                for end in (fact.head, fact.tail)
            )
            for anchor, part in answers
        }

    @cached_property
    def texts(self) -> Mapping[str, Mapping[int, str]]:
        """The text of each context, by kind of context and by index of the anchor question."""
        tails = {
            at: tuple(fact._replace(tail=fact.negative) for fact in facts)
            for at, facts in self.own.items()
        }
        stated = dict(zip(CONDITIONS, (self.own, tails, self.irrelevant), strict=True))
        return {
            condition: {at: self._text(facts) for at, facts in of.items()}
            for condition, of in stated.items()
        }

    def _text(self, facts: Sequence[Fact]) -> str:
        words, relations = grammatical(), self.templates.relations
        return self.templates.context.facts(
            words.statement(relations[fact.relation], fact.head, fact.tail) for fact in facts
        )

    def wrapped(self, condition: str, anchor: int, prompt: Prompt) -> Prompt:
        """Return an anchor question's prompt, preceded by the facts of one kind of context."""
        return self.templates.context.wrapped(self.texts[condition][anchor], prompt)


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word in _WORD.findall(comparable(text).casefold()))


def _sets(table: pl.DataFrame, *keys: str) -> Mapping[Any, frozenset[str]]:
    """Return a mapping from the values in the columns ``keys`` to sets of concepts."""
    grouped = table.group_by(keys).agg("concept")
    return {
        row[0] if len(keys) == 1 else row[:-1]: frozenset(row[-1]) for row in grouped.iter_rows()
    }
