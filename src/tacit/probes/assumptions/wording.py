"""Convert properties, and people's own wordings of them, to predicates of English sentences."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from functools import cache

from tacit.english import Nouns, head, inflected, lemmas
from tacit.findings.declared import shipped
from tacit.probes.assumptions import load_templates
from tacit.strings import comparable

_AS_IT_STANDS = frozenset({"is", "has", "can", "cannot", "can't", "isn't", "hasn't", "doesn't"})
_PLURAL = {"are": "is", "have": "has", "aren't": "isn't", "haven't": "hasn't", "don't": "doesn't"}
_ARTICLES = frozenset({"a", "an", "the"})
_DETERMINERS = _ARTICLES | frozenset(
    {"one", "each", "every", "no", "its", "his", "her", "their", "your", "my", "this", "that"}
)
_BE = frozenset({"is", "are", "am", "was", "were", "be"})
_DO = frozenset({"does", "do"})
_VERBS = _BE | _DO | frozenset({"has", "have", "can", "cannot", "can't", "could", "may", "will"})
_TAG = re.compile(r"[ _]?\([^()]*\)$")
_WORD = re.compile(r"[^\W_]+")


def bare(concept: str) -> str:
    """Return a concept's words without the sense tag: ``seal_(animal)`` becomes "seal"."""
    return " ".join(_TAG.sub("", concept).replace("_", " ").split()) or concept


def is_tagged(concept: str) -> bool:
    """Check whether a concept has a sense tag, as in ``seal_(animal)``."""
    return bare(concept) != " ".join(concept.replace("_", " ").split())


def first_alternatives(feature: str) -> str:
    """Keep the first word of each underscored token: ``has fur_hair`` becomes "has fur"."""
    return " ".join(next(filter(None, token.split("_")), "") for token in feature.split())


def predicate(feature: str) -> str | None:
    """Convert a feature to a predicate in the third person; None if that is impossible."""
    words = [word for word in first_alternatives(feature).rstrip(" .,;:!").split(" ") if word]
    if not words:
        return None
    head, rest = words[0].lower(), words[1:]
    head = _PLURAL.get(head, head)
    if not rest:
        text = head if _is_verb(head, alone=True) else None
    elif rest[-1].lower() in load_templates().wording["unfinished"] or (
        head == "used" and len(rest) == 1
    ):
        text = None  # cut off: "has a", "used to"
    elif head in _AS_IT_STANDS:
        text = " ".join([head, *rest])
    elif head in _DO:
        text = _third_person(rest)
    elif head in {"a", "an"} or is_passive(head, rest[0].lower()):
        text = " ".join(["is", head, *rest])
    elif _is_verb(head):
        text = " ".join([head, *rest])
    else:
        text = None
    return text


def joined(predicates: list[str]) -> str:
    """Join predicates with commas and "and", as in "has fur, is big, and eats"."""
    *before, last = predicates
    if not before:
        return last
    return f"{before[0]} and {last}" if len(before) == 1 else f"{', '.join(before)}, and {last}"


def names(text: str, concept: str) -> bool:
    """Check whether a text contains a concept's name, whose last word may be inflected."""
    *before, last = _words(bare(concept)) or [""]
    words = _words(text)
    forms = _inflections(last)
    return any(
        word in forms and words[at - len(before) : at] == before
        for at, word in enumerate(words)
        if at >= len(before)
    )


def _words(text: str) -> list[str]:
    return _WORD.findall(comparable(text).lower())


def verbs_of(word: str, tag: str) -> list[str]:
    """Return the verbs whose inflected form for the part-of-speech tag ``tag`` is ``word``."""
    return [base for base in lemmas(word).get("VERB", ()) if word in inflected(base, tag)]


def _is_verb(word: str, *, alone: bool = False) -> bool:
    """Check whether a word should be treated as a verb in the third person."""
    bases = verbs_of(word, "VBZ")
    if any("NOUN" in lemmas(one) for one in (word, *bases)):
        return not alone and any(base in load_templates().wording["verbs"] for base in bases)
    return bool(bases) and word not in {"is", "has", "does"}


def is_passive(word: str, following: str) -> bool:
    """Check whether two words are "part of", or a participle and a preposition ("made of")."""
    prepositions = load_templates().wording["prepositions"]
    return following in prepositions and (word == "part" or bool(verbs_of(word, "VBN")))


def _third_person(words: list[str]) -> str | None:
    """Put a verb phrase such as "eat grass" in the third person; None if that is impossible."""
    if words[0].lower() == "not":
        return " ".join(["does", *words]) if len(words) > 1 else None
    first = next((i for i, word in enumerate(words) if not _is_adverb(word)), None)
    if first is None:
        return None
    verbs = [first]
    also = words[first + 1 : first + 3]
    if len(also) > 1 and also[0] in {"and", "or"} and also[1] in lemmas(also[1]).get("VERB", ()):
        verbs.append(first + 2)
    forms = [_conjugated(words[i]) for i in verbs]
    if None in forms:
        return None
    changed = dict(zip(verbs, forms, strict=True))
    return " ".join(changed.get(i) or word for i, word in enumerate(words))


def _is_adverb(word: str) -> bool:
    return lemmas(word.lower()).keys() == {"ADV"}


def _conjugated(verb: str) -> str | None:
    """Return the third person of a verb; None if the verb is a participle or a past form."""
    verb = verb.lower()
    known = lemmas(verb).get("VERB", ())
    if known and verb not in known:
        return verb if verbs_of(verb, "VBZ") else None
    return next(iter(inflected(verb, "VBZ", unknown=True)), None)


@cache
def _inflections(word: str) -> frozenset[str]:
    """Return a word with its plural, its singular and its regular inflections as a verb."""
    forms = {word, *inflected(word, "NNS", unknown=True)}
    singulars = lemmas(word).get("NOUN", ())
    if word not in singulars:
        forms.update(singulars)
    for tag in ("VBZ", "VBD", "VBN", "VBG"):
        forms.update(form for form in inflected(word, tag) if _is_regular(word, form))
    return frozenset(forms)


def _is_regular(word: str, form: str) -> bool:
    """Check whether an inflection is regular: "flies" is regular for "fly", "flew" is not."""
    ends = {"e": ("ing",), "y": ("i",)}.get(word[-1:], ())
    return form.startswith((word, *(word[:-1] + end for end in ends)))


@cache
def shipped_nouns() -> Nouns:
    """Return Tacit's own lists of exceptions to the rules for plurals and articles."""
    return Nouns.load()


@cache
def is_plural(concept: str) -> bool:
    """Check whether the name of a concept is a plural noun."""
    nouns, words = shipped_nouns(), bare(concept)
    last = head(words)
    if last in nouns.plural or last in nouns.singular:
        return last in nouns.plural
    singulars = lemmas(last).get("NOUN", ())
    if singulars and last not in singulars:
        return True
    only = not singulars or inflected(last, "NNS", unknown=True) == (last,)
    return only and nouns.is_plural(words)


@cache
def singular(word: str) -> str | None:
    """Return the singular of a word: "handle" for "handles"."""
    from lemminflect import getAllLemmasOOV

    if not is_plural(word):
        return word
    nouns = lemmas(word).get("NOUN", ()) or getAllLemmasOOV(word, "NOUN").get("NOUN", ())
    return None if word in nouns else next(iter(nouns), None)


def spellings(word: str) -> tuple[str, ...]:
    """Return a word and its British or American variant, if any: ``grey`` and ``gray``."""
    return tuple(dict.fromkeys([word, _respelled(word, _either_spelling())]))


def american(word: str) -> str:
    """Return the American spelling of a word."""
    return _respelled(word, _american_spelling())


@cache
def _american_spelling() -> Mapping[str, str]:
    """Return a mapping from British to American spellings, including plurals."""
    pairs: dict[str, str] = shipped("templates", "spellings")
    return {f"{one}s": f"{other}s" for one, other in pairs.items()} | pairs


@cache
def _either_spelling() -> Mapping[str, str]:
    pairs = _american_spelling()
    return {other: one for one, other in pairs.items()} | dict(pairs)


def _respelled(word: str, pairs: Mapping[str, str]) -> str:
    """Replace each hyphenated part of a word by its other spelling, if it has one."""
    parts = [(part, pairs.get(part.lower(), part)) for part in word.split("-")]
    return "-".join(
        other.capitalize() if other != part and part[:1].isupper() else other
        for part, other in parts
    )


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
