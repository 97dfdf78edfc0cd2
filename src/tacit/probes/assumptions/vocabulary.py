"""The vocabularies of the compared models, from which candidate words are selected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tacit.errors import DataError, RequestError
from tacit.requests import Vocabulary
from tacit.strings import Spellings


@dataclass(frozen=True, slots=True)
class Vocabularies:
    """The vocabularies of all compared models."""

    own: Mapping[str, Vocabulary]
    shared: Vocabulary

    @classmethod
    def of(cls, models: Mapping[str, Vocabulary]) -> Vocabularies:
        """Build the vocabularies from the words that are a single token in each model."""
        own = {name: _lettered(name, words) for name, words in models.items()}
        shared = set.intersection(*(set(words.words) for words in own.values()))
        if not shared:
            raise RequestError(
                f"no word is a single token in all of these models: {', '.join(models)}; run each "
                "model separately"
            )
        return cls(own, Vocabulary(shared))


def read_words(path: Path) -> Vocabulary:
    """Read a vocabulary file with one word per line; blank lines are ignored."""
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read: {error}", path) from error
    for number, line in enumerate(lines, 1):
        if len(line.split()) > 1:
            raise DataError(f"has {line.strip()!r}; expected one word per line", path, number)
    spelled = Spellings()
    words = [word for line in lines if (word := spelled(line.strip()))]
    if not words:
        raise DataError("is empty; expected one word per line", path)
    spelled.notice(path)
    return Vocabulary(words)


def _lettered(name: str, words: Vocabulary) -> Vocabulary:
    """Return the words that consist of letters only."""
    lettered = [word for word in words.words if word.isalpha()]
    if not lettered:
        raise RequestError(f"{name} has no single token that is a word of letters")
    return Vocabulary(lettered)
