"""Parse the alternatives (wordings) of a feature, and the people who wrote each of them."""

from __future__ import annotations

import re
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


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The alternatives of a feature: the different wordings in which participants wrote it."""

    texts: tuple[str, ...] = ()
    people: tuple[frozenset[str], ...] = ()
    problem: str | None = None


def read_alternatives(cell: str, participants: str = "") -> Alternatives:
    """Parse the wordings (alternatives) of a feature, and the participants who wrote them."""
    entries = [*map(Spellings(), _entries(cell, ";|") or _entries(cell, ","))]
    participants = comparable(participants)
    texts = tuple(dict.fromkeys(entries))
    named = [frozenset(_identifiers(group)) for group in _groups(participants)]
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


def shifted_rows(rows: Sequence[tuple[str, Sequence[str]]]) -> frozenset[int]:
    """Find rows whose alternatives (wordings) belong to the feature of a different row."""
    said = [[_content(text) for text in texts] for _, texts in rows]
    foreign = {
        at
        for at, (feature, _) in enumerate(rows)
        if said[at] and not any(words & _content(feature) for words in said[at])
    }
    if not foreign:
        return frozenset()
    known: dict[frozenset[str], set[int]] = {}
    for at, (feature, _) in enumerate(rows):
        for words in filter(None, _variants(feature)):
            known.setdefault(words, set()).add(at)
    stated = {at: set[int]().union(*(known.get(words, ()) for words in said[at])) for at in foreign}
    numbers = {at for at in foreign if not any(map(_has_letter, rows[at][1]))}
    moved = {at for at in foreign if stated[at]} | numbers
    return frozenset(moved | {other for at in moved for other in stated[at] & foreign})


def _entries(cell: str, marks: str) -> list[str]:
    """Split a cell by one separator; try the separators in ``marks`` one after another."""
    mark = next((mark for mark in marks if mark in cell), None)
    if mark is None and marks == ";|":
        return []
    return [one.strip() for one in cell.split(mark or ",") if one.strip()]


def _groups(participants: str) -> list[str]:
    mark = next((mark for mark in ";|," if mark in participants), None)
    return [one for one in participants.split(mark) if one.strip()]


def _identifiers(participants: str) -> list[str]:
    return [one for one in re.split(r"[;|,\s]+", participants) if one]


def _has_letter(text: str) -> bool:
    return any(map(str.isalpha, text))


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
