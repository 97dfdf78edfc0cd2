"""Build predicates from alternatives (people's own wordings of a feature of a concept)."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from tacit.probes.assumptions.template import load_templates
from tacit.probes.assumptions.wording import (
    first_alternatives,
    is_passive,
    is_plural,
    kinds_of,
    predicate,
    shipped_nouns,
    verbs_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | frozenset(
    {"one", "each", "every", "no", "its", "his", "her", "their", "your", "my", "this", "that"}
)
_BE = frozenset({"is", "are", "am", "was", "were", "be"})
_DO = frozenset({"does", "do"})
_VERBS = _BE | _DO | frozenset({"has", "have", "can", "cannot", "can't", "could", "may", "will"})
_PRONOUNS = frozenset({"i", "you", "we", "they", "he", "she", "it", "who", "that"})
# Verbs that take an object and a bare infinitive: "makes you be careful".
_CAUSATIVES = frozenset({"make", "makes", "let", "lets", "help", "helps", "have", "has"})


def worded(alternative: str, feature: str) -> str | None:
    """Convert an alternative, such as "a keyboard", to a predicate: "has a keyboard"."""
    if not _is_bare(alternative):
        return predicate(alternative)
    completed = _completed(alternative.split(), first_alternatives(feature).split())
    return None if completed is None else predicate(completed)


def wordings(text: str) -> Iterator[str]:
    """Expand underscores: ``has fur_hair`` yields "has fur" and "has hair"."""
    tokens = [[word for word in token.split("_") if word] for token in text.split()]
    for words in itertools.product(*filter(None, tokens)):
        yield " ".join(words)


def corrected(said: str, feature: str) -> str | None:
    """Return the predicate that replaces a person's ungrammatical wording of a feature."""
    own = [one for one in map(predicate, wordings(feature)) if one is not None]
    if said in own:
        return None
    for rival in own:
        if _faults(said, rival) and not _faults(rival, said):
            return rival
    if own and _has_infinite_be(said) and not _has_infinite_be(own[0]):
        return own[0]
    return None


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
    if _is_base_verb(first) and (verb in _DO or not _may_be_noun(first)):
        return " ".join(["does", *words])
    if kinds_of(words[-1].lower()).all == {"ADJ"}:
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
    is_noun = _may_be_noun(last) and (verb not in _BE or "ADJ" not in kinds_of(last).all)
    if not is_noun or is_plural(last):
        return words
    return [shipped_nouns().article(" ".join(words)), *words]


def _has_infinite_be(said: str) -> bool:
    """Check for "be" after a pronoun without an auxiliary verb, as in "when you be sick"."""
    words = ["", *said.lower().split()]
    return any(
        word == "be" and words[at - 1] in _PRONOUNS and words[at - 2] not in _CAUSATIVES
        for at, word in enumerate(words)
        if at >= 2  # noqa: PLR2004 - the subject and the word before it
    )


def _faults(said: str, rival: str) -> int:
    """Count the wrong word forms in a wording by comparing the wording with a second wording."""
    own, other = _bare_words(said), _bare_words(rival)
    if len(own) != len(other):
        return 0
    pairs = [(one[0], another[0]) for one, another in zip(own, other, strict=True)]
    if not all(map(_is_same_word, *zip(*pairs, strict=True))):
        return 0
    before = ["", *(word for word, _ in own)]
    return sum(
        _is_wrong(one, another, before[at])
        for at, (one, another) in enumerate(zip(own, other, strict=True))
    )


def _bare_words(said: str) -> list[tuple[str, bool]]:
    """Return each word except articles, and whether a determiner precedes it in its phrase."""
    found: list[tuple[str, bool]] = []
    determined = False
    for word in said.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'").split():
        if word not in _ARTICLES:
            found.append((word, determined))
        if word in _DETERMINERS:
            determined = True
        elif _may_be_noun(word) or word in _VERBS:
            determined = False
    return found


def _is_same_word(word: str, other: str) -> bool:
    """Check whether two words share a lemma or differ only in apostrophes."""
    return word.replace("'", "") == other.replace("'", "") or bool(_lemmas(word) & _lemmas(other))


def _is_wrong(one: tuple[str, bool], another: tuple[str, bool], before: str) -> bool:
    """Check whether a word form is wrong, given the correct form and the preceding word."""
    (word, determined), (right, needs) = one, another
    if word == right:
        is_noun = _may_be_noun(word) and not is_plural(word)
        return is_noun and needs and not determined
    prepositions = load_templates().wording["prepositions"]
    return (
        ("'" in right and word == right.replace("'", ""))
        or (word == "be" and right in _BE and before not in _VERBS | {"to", "not"})
        or (word in kinds_of(right).nouns and is_plural(right) and not determined)
        or (word in verbs_of(right, "VBG") and before in prepositions)
    )


def _is_base_verb(word: str) -> bool:
    return word in kinds_of(word).verbs


def _may_be_noun(word: str) -> bool:
    """Check whether a word can be a noun; words outside the lexicon count as nouns."""
    kinds = kinds_of(word).all
    return not kinds or "NOUN" in kinds


def _lemmas(word: str) -> frozenset[str]:
    known = kinds_of(word)
    return frozenset((word, *known.nouns, *known.verbs))
