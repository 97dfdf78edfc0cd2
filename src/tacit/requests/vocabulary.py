"""The words that compete in rankings, shared by many prompts."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.requests.scoring import Prompt
from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """The candidate words of a ranking; build it once and share it among prompts.

    Two of the same words are equal, whatever the order they were given in.

    Args:
        words: The candidates; kept sorted and distinct.

    Raises:
        PromptError: No word, an empty one, or half a character.
        RequestError: The words are one string.

    Examples:
        >>> from tacit import Vocabulary
        >>> len(Vocabulary(["bear", "fox"]).words)
        2
    """

    words: tuple[str, ...] = field(repr=False)
    digest: str = field(init=False)
    """SHA-256 of the words."""
    _indices: dict[str, int] = field(init=False, repr=False)

    def __init__(self, words: Iterable[str]) -> None:
        ordered = tuple(sorted(set(strings(words, "words"))))
        Prompt("", ordered)  # raises where they could not be anybody's answers
        object.__setattr__(self, "words", ordered)
        object.__setattr__(self, "digest", hashlib.sha256(json.dumps(ordered).encode()).hexdigest())
        object.__setattr__(self, "_indices", {word: at for at, word in enumerate(ordered)})

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self._indices

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def index(self, word: str) -> int:
        """The word's index among the words.

        Raises:
            KeyError: It is none of them.
        """
        return self._indices[word]
