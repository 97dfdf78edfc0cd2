"""The words of the models that are compared: the candidates of their rankings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import DataError, RequestError
from tacit.requests import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Words:
    """The words of the models that are compared.

    Args:
        own: By model, its whole words that are written with letters alone.
        others: By model, how many whole words were left out: digits, punctuation and the like.
        shared: The words that all models have, in the same case.
    """

    own: Mapping[str, Vocabulary]
    others: Mapping[str, int]
    shared: Vocabulary

    @classmethod
    def of(cls, models: Mapping[str, Vocabulary]) -> Words:
        """The words of models, given the whole words of each.

        Raises:
            RequestError: A model has no word, or all together have none.
        """
        own = {name: _lettered(name, words) for name, words in models.items()}
        shared = set.intersection(*(set(words.words) for words in own.values()))
        if not shared:
            raise RequestError(
                f"no word is a single token of all of {', '.join(models)}: give each a run of its "
                "own"
            )
        others = {name: len(models[name]) - len(words) for name, words in own.items()}
        return cls(own, others, Vocabulary(shared))


def read_words(path: Path) -> Vocabulary:
    """Reads a vocabulary: one word per line; blank lines are ignored.

    Raises:
        DataError: The file cannot be read or has no word, or a line has several words.
    """
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            raise DataError(f"has {line.strip()!r}; expected one word per line", path, number)
    words = [line.strip() for line in lines if line.strip()]
    if not words:
        raise DataError("is empty; expected one word per line", path)
    return Vocabulary(words)


def _lettered(name: str, words: Vocabulary) -> Vocabulary:
    """The words without digits, signs or punctuation, which no blank of ours could hold."""
    lettered = [word for word in words.words if word.isalpha()]
    if not lettered:
        raise RequestError(f"{name} writes no word of letters as a single token")
    return Vocabulary(lettered)
