"""The wordings of a feature: in the style of the CSLB norms, and as participants wrote them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from tacit.strings import Spellings, comparable

UNALIGNED = "alternatives not aligned with participants"
UNNAMED = "alternatives without participants"
SHIFTED = "alternatives of another feature"
PROBLEMS = (UNALIGNED, UNNAMED, SHIFTED)
"""Reasons why the number of participants per alternative wording is unknown."""

# Words that express the relation between a concept and a property, not the property.
_RELATING = frozenset(
    {"a", "an", "the", "is", "are", "was", "be", "has", "have", "had", "does", "do", "can"}
    | {"used", "made", "found", "in", "of", "for", "to", "it"}
)
_WORD = re.compile(r"[^\W_]+")
_BEHAVIOUR = re.compile(r"(?:in)?beh - ")
_NOUN = re.compile(r"an? ")
_UNDERSCORED = re.compile(r"(?:an?|has|is|made_of|used_for|(?:in)?beh_-)_")


def is_underscored(features: Sequence[str]) -> bool:
    """Return whether features are in McRae's style, with underscores in place of spaces."""
    return not any(" " in one for one in features) and any(map(_UNDERSCORED.match, features))


def feature_text(feature: str) -> str:
    """Rewrite a feature in the style of the CSLB norms, unless it already has this style."""
    text = " ".join(feature.replace("_", " ").split())
    if _NOUN.match(text):
        return f"is {text}"
    behaviour = _BEHAVIOUR.match(text)
    return _done(text[behaviour.end() :]) if behaviour else text


def _done(text: str) -> str:
    """Replace a verb by "does" and its base form: "eats grass" becomes "does eat grass"."""
    from lemminflect import getAllLemmas, getInflection

    verb, space, rest = text.partition(" ")
    if verb in {"is", "has", "does"}:
        return text
    for base in getAllLemmas(verb).get("VERB", ()):
        if verb in getInflection(base, "VBZ"):
            return f"does {base}{space}{rest}"
    return text


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The alternatives of a feature: the different wordings in which participants wrote it."""

    texts: tuple[str, ...] = ()
    people: tuple[frozenset[str], ...] = ()
    problem: str | None = None


def read_alternatives(cell: str, participants: str = "") -> Alternatives:
    """Parse the wordings (alternatives) of a feature, and the participants who wrote them."""
    entries = [*map(Spellings(), _split(cell, ";|,"))]
    texts = tuple(dict.fromkeys(entries))
    named = [frozenset(_identifiers(group)) for group in _split(participants, ";|, ")]
    if not texts or not any(named):
        return Alternatives(texts, (), UNNAMED if len(texts) > 1 else None)
    if len(texts) == 1:
        return Alternatives(texts, (frozenset().union(*named),))
    if len(named) != len(entries):
        named = [frozenset((one,)) for one in _identifiers(participants)]
    if len(named) != len(entries):
        return Alternatives(texts, (), UNALIGNED)
    gave: dict[str, frozenset[str]] = dict.fromkeys(texts, frozenset())
    for text, people in zip(entries, named, strict=True):
        gave[text] |= people
    return Alternatives(texts, tuple(gave.values()))


def _split(text: str, marks: str) -> list[str]:
    """Split a text at the first of the marks that occurs in it."""
    text = comparable(text)
    mark = next((mark for mark in marks if mark in text), None)
    return [one.strip() for one in (text.split(mark) if mark else [text]) if one.strip()]


def _identifiers(participants: str) -> list[str]:
    return [one for one in re.split(r"[;|,\s]+", comparable(participants)) if one]


def shifted_rows(rows: Sequence[tuple[str, Sequence[str]]]) -> frozenset[int]:
    """Find rows whose alternatives (wordings) belong to the feature of a different row."""
    written = [[_content(text) for text in texts] for _, texts in rows]
    foreign = {
        index
        for index, (feature, _) in enumerate(rows)
        if written[index] and not any(words & _content(feature) for words in written[index])
    }
    if not foreign:
        return frozenset()
    stating: defaultdict[frozenset[str], set[int]] = defaultdict(set)
    for index, (feature, _) in enumerate(rows):
        for words in filter(None, _variants(feature)):
            stating[words].add(index)
    stated = {
        index: set[int]().union(*(stating.get(words, ()) for words in written[index]))
        for index in foreign
    }
    lettered = {index for index in foreign if any(map(str.isalpha, "".join(rows[index][1])))}
    moved = {index for index in foreign if stated[index] or index not in lettered}
    return frozenset(moved.union(*(stated[index] & foreign for index in moved)))


@cache
def _content(text: str) -> frozenset[str]:
    """Return the lemmas of a text's content words; an underscore counts as a space."""
    words = _WORD.findall(comparable(text).lower())
    return frozenset(_lemma(word) for word in words if word not in _RELATING)


def _variants(feature: str) -> list[frozenset[str]]:
    """Return the lemmas of each variant of a feature: fur and hair for ``fur_hair``."""
    variants: list[frozenset[str]] = [frozenset()]
    for token in feature.split():
        choices = [_content(word) for word in token.split("_") if word]
        variants = [before | choice for before in variants for choice in choices]
    return variants


@cache
def _lemma(word: str) -> str:
    from lemminflect import getAllLemmas

    lemmas = getAllLemmas(word)
    return min((one for found in lemmas.values() for one in found), default=word)
