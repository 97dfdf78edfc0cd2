"""Number and article: how a statement about a thing reads.

``paper`` follows the authors' program: a subject that ends in s is plural, and ``an`` stands before
a, e, i, o and u. ``grammar`` gets it right, by rule and by a list of exceptions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import yaml

from tacit.errors import DataError, RequestError

if TYPE_CHECKING:
    from tacit.coherence.ontology import Relation

Number = Literal["paper", "grammar"]

_KEYS = ("plural", "singular", "an", "a")
_BEHIND = re.compile(r" (?:of|for|with|in|on|at|to|from) ")
_JOINED = re.compile(r" and | \+ ")
_SINGULAR_ENDS = ("ss", "us", "is")


@dataclass(frozen=True)
class Nouns:
    """Exceptions to the rules, in lower case: the words that ``nouns.yaml`` describes."""

    plural: frozenset[str] = frozenset()
    singular: frozenset[str] = frozenset()
    an: frozenset[str] = frozenset()
    a: frozenset[str] = frozenset()

    @classmethod
    def load(cls, own: Path | None = None) -> Nouns:
        """The exceptions that come with Tacit, and those of a file of one's own.

        A word that one's own file names counts as that file says.

        Raises:
            DataError: The file is missing or no lists of words under the four keys.
        """
        shipped = resources.files("tacit") / "data" / "templates" / "nouns.yaml"
        lists = _lists(shipped.read_text(encoding="utf-8"), Path("nouns.yaml"))
        if own is not None:
            added = _lists(_text(own), own)
            for pair in (("plural", "singular"), ("an", "a")):
                renamed = {word for key in pair for word in added[key]}
                for key in pair:
                    lists[key] = (lists[key] - renamed) | added[key]
        return cls(**lists)


@dataclass(frozen=True)
class Wording:
    """How nouns are put: by the paper's rule, or by grammar.

    Args:
        number: The preset.
        nouns: The exceptions, for ``grammar``.
    """

    number: Number = "paper"
    nouns: Nouns = Nouns()

    @classmethod
    def of(cls, number: str, own: Path | None = None) -> Wording:
        """The wording of a preset, with one's own exceptions.

        Raises:
            RequestError: The preset is unknown, or exceptions come with the paper's rule.
            DataError: The exceptions cannot be read.
        """
        if number == "paper":
            if own is not None:
                raise RequestError("exceptions are for --number grammar; the paper's rule has none")
            return cls()
        if number == "grammar":
            return cls("grammar", Nouns.load(own))
        raise RequestError(f"the number preset {number!r} is none of paper, grammar")

    def is_plural(self, noun: str) -> bool:
        """Whether the verb behind a subject is plural."""
        if self.number == "paper":
            return noun.endswith("s")
        if _JOINED.search(noun):
            return True
        head = re.split(r"[ /-]", _BEHIND.split(noun)[0].strip())[-1].lower()
        if head in self.nouns.plural or head in self.nouns.singular:
            return head in self.nouns.plural
        return head.endswith("s") and not head.endswith(_SINGULAR_ENDS)

    def with_article(self, noun: str) -> str:
        """The noun behind its indefinite article; by grammar, a plural has none."""
        first = re.split(r"[ /]", noun.lower())[0]
        begins = {first, first.split("-")[0]}
        vowel = noun[:1].lower() in set("aeiou")
        if self.number == "grammar":
            if self.is_plural(noun):
                return noun
            vowel = not begins & self.nouns.a and (vowel or bool(begins & self.nouns.an))
        return f"{'an' if vowel else 'a'} {noun}"

    def statement(self, subject: str, relation: Relation, obj: str) -> str:
        """The statement in words, its verb in the subject's number."""
        wording = relation.plural if self.is_plural(subject) else relation.singular
        return wording.format(subject=subject, object=obj)


AS_IN_THE_PAPER = Wording()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error


def _lists(text: str, path: Path) -> dict[str, frozenset[str]]:
    try:
        content = yaml.safe_load(text) or {}
    except (ValueError, yaml.YAMLError) as error:
        raise DataError(f"is not YAML: {error}", path) from error
    right = isinstance(content, dict) and all(
        key in _KEYS and isinstance(words, list) and all(isinstance(word, str) for word in words)
        for key, words in content.items()
    )
    if not right:
        raise DataError(f"expected lists of words under {', '.join(_KEYS)}", path)
    return {key: frozenset(word.lower() for word in content.get(key, ())) for key in _KEYS}
