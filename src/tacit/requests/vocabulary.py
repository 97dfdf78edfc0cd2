"""Vocabularies: candidate words that many ranking prompts share."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from tacit.requests.scoring import Prompt
from tacit.strings import strings


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The candidate words of a ranking, which many prompts can share.

    Two vocabularies with the same words are equal, regardless of the order in which the words were
    passed.

    Args:
        words: The candidate words, which are stored sorted and without duplicates.

    Raises:
        PromptError: If ``words`` is empty, or contains an empty word or a lone surrogate (half a
            character).
        RequestError: If ``words`` is a single string.

    Examples:
        >>> from tacit import Vocabulary
        >>> len(Vocabulary(["bear", "fox"]).words)
        2
    """

    words: tuple[str, ...] = field(repr=False)
    digest: str = field(init=False)
    """The SHA-256 digest of the words."""
    _indices: dict[str, int] = field(init=False, repr=False)

    def __init__(self, words: Iterable[str]) -> None:
        ordered = tuple(sorted(set(strings(words, "words"))))
        Prompt("", ordered)  # raises PromptError for words that cannot be answers
        object.__setattr__(self, "words", ordered)
        object.__setattr__(self, "digest", hashlib.sha256(json.dumps(ordered).encode()).hexdigest())
        object.__setattr__(self, "_indices", {word: at for at, word in enumerate(ordered)})

    def __reduce__(self) -> tuple[type[Vocabulary], tuple[tuple[str, ...]]]:
        return Vocabulary, (self.words,)  # less to send to other processes

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._indices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def index(self, word: str) -> int:
        """Return the index of a word in the vocabulary.

        Raises:
            KeyError: If the word is not in the vocabulary.
        """
        return self._indices[word]


@lru_cache(maxsize=64)
def spaced(vocabulary: Vocabulary) -> list[str]:
    """Return the words that begin or end with white space."""
    return [word for word in vocabulary.words if word[0].isspace() or word[-1].isspace()]
