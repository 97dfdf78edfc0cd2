"""Build predicates from alternatives (people's own wordings of a feature of a concept)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from tacit.english import lemmas
from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import (
    first_alternatives,
    is_passive,
    is_plural,
    predicate,
    shipped_nouns,
)

_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | frozenset(
    {"one", "each", "every", "no", "its", "his", "her", "their", "your", "my", "this", "that"}
)
_BE = frozenset({"is", "are", "am", "was", "were", "be"})
_DO = frozenset({"does", "do"})
_VERBS = _BE | _DO | frozenset({"has", "have", "can", "cannot", "can't", "could", "may", "will"})


def worded(alternative: str, feature: str) -> str | None:
    """Convert an alternative, such as "a keyboard", to a predicate: "has a keyboard"."""
    if not _is_bare(alternative):
        return predicate(alternative)
    completed = _completed(alternative.split(), first_alternatives(feature).split())
    return None if completed is None else predicate(completed)


def expanded(text: str) -> Iterator[str]:
    """Expand underscores: ``has fur_hair`` yields "has fur" and "has hair"."""
    tokens = [[word for word in token.split("_") if word] for token in text.split()]
    for words in itertools.product(*filter(None, tokens)):
        yield " ".join(words)


def _is_bare(text: str) -> bool:
    """Check whether an alternative lacks a verb."""
    first = text.split(" ", maxsplit=1)[0].lower()
    if first in _VERBS:
        return False
    return first in _ARTICLES or predicate(text) is None


def _completed(words: list[str], feature: list[str]) -> str | None:
    """Add a verb to a person's wording of a feature: "does", "is", or the feature's verb."""
    if not words or not feature or predicate(" ".join(feature)) is None:
        return None
    verb, first = feature[0].lower(), words[0].lower()
    prepositions = load_templates().wording["prepositions"]
    if first in prepositions:
        stop = next((at for at, word in enumerate(feature) if word.lower() in prepositions), 1)
        return " ".join([*feature[:stop], *words])
    if first in lemmas(first).get("VERB", ()) and (verb in _DO or not _may_be_noun(first)):
        return " ".join(["does", *words])
    if lemmas(words[-1].lower()).keys() == {"ADJ"}:
        return " ".join(["is", *words])
    lead = _lead(feature)
    return " ".join([*feature[:lead], *_with_article(words, feature[lead:], verb)])


def _lead(feature: list[str]) -> int:
    """Count the words of a feature's verb phrase: "is made of" (3), "does eat" (2), "has" (1)."""
    first, *rest = (word.lower() for word in feature)
    prepositions = load_templates().wording["prepositions"] | {"to"}
    second, third = (*rest, "", "")[:2]
    if first in _BE and is_passive(second, third):
        return 3
    if first in _DO:
        return 3 if third in prepositions else 2
    return 2 if second in prepositions else 1


def _with_article(words: list[str], rest: list[str], verb: str) -> list[str]:
    """Put "a" or "an" before ``words`` if ``rest`` begins with the article "a" or "an"."""
    if not rest or rest[0].lower() not in {"a", "an"} or words[0].lower() in _DETERMINERS:
        return words
    last = words[-1].lower()
    is_noun = _may_be_noun(last) and (verb not in _BE or "ADJ" not in lemmas(last))
    if not is_noun or is_plural(last):
        return words
    return [shipped_nouns().article(" ".join(words)), *words]


def _may_be_noun(word: str) -> bool:
    """Check whether a word can be a noun; words outside the lexicon count as nouns."""
    kinds = lemmas(word)
    return not kinds or "NOUN" in kinds
