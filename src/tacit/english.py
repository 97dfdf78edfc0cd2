"""Determine whether an English noun is plural, and which article (a or an) precedes it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Any

import yaml

from tacit.documents import read_yaml
from tacit.errors import DataError
from tacit.strings import comparable, convert_strings

_KEYS = ("plural", "singular", "an", "a")
_BEHIND = re.compile(r" (?:of|for|with|in|on|at|to|from) ")
_JOINED = re.compile(r" and | \+ ")
_SINGULAR_ENDS = ("ss", "us", "is")


@dataclass(frozen=True)
class Nouns:
    """Exceptions to the rules for plurals and articles, which ``nouns.yaml`` explains."""

    plural: frozenset[str] = frozenset()
    singular: frozenset[str] = frozenset()
    an: frozenset[str] = frozenset()
    a: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        convert_strings(self, "plural", "singular", "an", "a")

    @classmethod
    def load(cls, own: Path | None = None) -> Nouns:
        """Return Tacit's exceptions, in which those of a user's file have precedence."""
        shipped = resources.files("tacit") / "data" / "templates" / "nouns.yaml"
        lists = _lists(yaml.safe_load(shipped.read_text(encoding="utf-8")), Path("nouns.yaml"))
        if own is not None:
            added = _lists(read_yaml(own) or {}, own)
            for pair in (("plural", "singular"), ("an", "a")):
                renamed = {word for key in pair for word in added[key]}
                for key in pair:
                    lists[key] = (lists[key] - renamed) | added[key]
        return cls(**lists)

    def is_plural(self, noun: str) -> bool:
        """Return whether a noun phrase is plural; nouns joined by "and" or "+" are plural."""
        if _JOINED.search(noun):
            return True
        last = head(noun)
        if last in self.plural or last in self.singular:
            return last in self.plural
        return last.endswith("s") and not last.endswith(_SINGULAR_ENDS)

    def article(self, noun: str) -> str:
        """Return the indefinite article, ``a`` or ``an``, that fits the first sound of a noun."""
        first = re.split(r"[ /]", comparable(noun).lower())[0]
        begins = {first, first.split("-")[0]}
        vowel = begins_with_vowel(noun)
        return "an" if not begins & self.a and (vowel or bool(begins & self.an)) else "a"


def several(n: int, one: str, many: str | None = None) -> str:
    """Return a count together with its noun, such as ``1 thing`` or ``2,000 things``."""
    return f"{n:,} {number_of(n, one, many)}"


def number_of(n: int, one: str, many: str | None = None) -> str:
    """Return the form that agrees with a count; by default, ``many`` is ``one`` with an s."""
    return one if n == 1 else many or f"{one}s"


def head(noun: str) -> str:
    """Return the last word of a noun phrase without its prepositional phrases, in lower case."""
    return re.split(r"[ /-]", before_preposition(comparable(noun)))[-1].lower()


def before_preposition(noun: str) -> str:
    """Return the part of a noun phrase that precedes the first preposition."""
    return _BEHIND.split(noun)[0].strip()


def begins_with_vowel(noun: str) -> bool:
    """Return whether the first letter of a noun is a, e, i, o or u."""
    return noun[:1].lower() in {"a", "e", "i", "o", "u"}


@cache
def lemmas(word: str) -> Mapping[str, tuple[str, ...]]:
    """Return a word's lemmas by part of speech; empty if the lexicon does not list the word."""
    from lemminflect import getAllLemmas

    by_part: Mapping[str, tuple[str, ...]] = getAllLemmas(word)
    return by_part


@cache
def inflected(word: str, tag: str, *, unknown: bool = False) -> tuple[str, ...]:
    """Return a word's inflected forms, most usual first; none of a word that the lexicon lacks."""
    from lemminflect import getInflection

    return tuple(getInflection(word, tag, inflect_oov=unknown))


def _lists(content: Any, path: Path) -> dict[str, frozenset[str]]:  # noqa: ANN401 - YAML
    right = isinstance(content, dict) and all(
        key in _KEYS and isinstance(words, list) and all(isinstance(word, str) for word in words)
        for key, words in content.items()
    )
    if not right:
        raise DataError(f"expected lists of words under {', '.join(_KEYS)}", path)
    return {
        key: frozenset(comparable(word).lower() for word in content.get(key, ())) for key in _KEYS
    }
