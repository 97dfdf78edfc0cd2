"""Build background questions from the surface texts (sentences) of the knowledge base."""

from __future__ import annotations

import logging
import re
from dataclasses import dataclass
from html import unescape
from typing import TYPE_CHECKING, Self, TypeAlias

from tacit.knowledge.surface import surface_texts
from tacit.probes.consistency.wording import determiners, ended
from tacit.strings import comparable

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from tacit.english import Nouns
    from tacit.knowledge.base import KnowledgeBase

    Fact: TypeAlias = tuple[str, str, str]

log = logging.getLogger(__name__)

_MARKED = re.compile(r"\[\[(.*?)\]\]")
_MARKS = ("[[", "]]")
_ARTICLE = re.compile(r"\b(an?|the) ", re.IGNORECASE)
# An article that the sentence has before the marked concept: "is an [[animal]]".
_ARTICLE_BEFORE = re.compile(r"\ban? $", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")
# ConceptNet leaves these words out of the labels of concepts.
_UNLABELLED = frozenset({"a", "an", "the", "to"})
_FIRST_PERSON = re.compile(r"I\b")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A parsed surface text, whose marked concepts are the head and the tail of a fact."""

    before: str
    tail: str
    after: str

    @classmethod
    def parse(cls, text: str, head: str, tail: str) -> Self | None:
        """Parse a surface text, the sentence that expresses a fact in the knowledge base."""
        plain = " ".join(unescape(text).replace("_", " ").split())
        pieces = _MARKED.split(plain.strip("* "))
        if len(pieces) != 5 or any(mark in piece for piece in pieces for mark in _MARKS):  # noqa: PLR2004
            return None
        start, first, middle, second, end = pieces
        first, second, end = first.strip(), second.strip(), end.rstrip(" .!?*")
        in_order = _overlap(first, head) + _overlap(second, tail)
        reverse = _overlap(first, tail) + _overlap(second, head)
        if not first or not second or in_order == reverse:
            return None
        start, first = _lowered(start, first)
        if in_order > reverse:
            return cls(f"{start}{first}{middle}", second, end)
        return cls(start, first, f"{middle}{second}{end}")

    def statement(self, nouns: Nouns, tail: str | None = None) -> str:
        """Return the sentence without the brackets that mark concepts."""
        if tail is None:
            return f"{self.before}{self.tail}{self.after}"
        other = tail.replace("_", " ")
        article = nouns.article(other)
        before = _ARTICLE_BEFORE.sub(f"{article} ", self.before)
        own = _ARTICLE.match(self.tail)
        if own is not None:
            other = f"{'the' if own[1].lower() == 'the' else article} {other}"
        return f"{before}{other}{self.after}"


@dataclass(frozen=True)
class Surface:
    """The surface texts of facts, which are used to word background questions."""

    facts: int
    texts: int
    sentences: Mapping[Fact, Sentence]
    template: str
    nouns: Nouns

    @classmethod
    def of(cls, base: KnowledgeBase, facts: pl.DataFrame, template: str) -> Self:
        """Load the surface texts of facts, and log a warning if no fact has a surface text."""
        from tacit.english import Nouns

        found = surface_texts(base, facts)
        parsed = {
            (head, relation, tail): Sentence.parse(text, head, tail)
            for head, relation, tail, text in found.iter_rows()
        }
        if facts.height and found.is_empty():
            log.warning(
                "%s has no surface text for any of the facts (files of triples, such as CN-100K, "
                "have none): all background questions are worded by the paper's templates",
                base.path,
            )
        sentences = {fact: sentence for fact, sentence in parsed.items() if sentence is not None}
        distinct = facts.n_unique(["head", "relation", "tail"])
        return cls(distinct, found.height, sentences, template, Nouns.load())

    def question(self, fact: Fact, tail: str) -> str | None:
        """Return a question built from a fact's surface text; None if the text is unusable."""
        sentence = self.sentences.get(fact)
        if sentence is None:
            return None
        other = None if tail == fact[2] else tail
        return ended(self.template.format(statement=sentence.statement(self.nouns, other)))

    def summary(self) -> dict[str, int]:
        """Count the facts, the facts with a surface text, and the parsed surface texts."""
        return {"facts": self.facts, "with_text": self.texts, "worded": len(self.sentences)}


def _overlap(worded: str, label: str) -> float:
    """Return the Jaccard index of two sets of words: a concept's wording and its label."""
    one, other = _words(worded), _words(label)
    return len(one & other) / len(one | other) if one | other else 0.0


def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(comparable(text).lower()))
    return words - _UNLABELLED or words


def _lowered(start: str, first: str) -> tuple[str, str]:
    """Lower-case the first letter of a sentence, unless it may begin with a name or "I"."""
    text = start or first
    is_name = not start and text.split(maxsplit=1)[0].lower() not in determiners()
    if is_name or _FIRST_PERSON.match(text):
        return start, first
    lower = text[:1].lower() + text[1:]
    return (lower, first) if start else (start, lower)
