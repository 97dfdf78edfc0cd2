"""The words that a model writes as one token, and those that several models share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from tacit.errors import ModelError
from tacit.models.huggingface.alignment import Filled, locate
from tacit.requests import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from transformers import PreTrainedTokenizerBase


_CARRIER = "a"


class HasWords(Protocol):
    """A model that knows its whole words."""

    @property
    def name(self) -> str:
        """The name that the user knows the model by."""
        ...

    def whole_words(self) -> Vocabulary:
        """The words that are one token between white space."""
        ...


def shared_vocabulary(models: Sequence[HasWords]) -> Vocabulary:
    """The words that are whole words of every model, case-sensitive.

    Raises:
        ModelError: There are none.
    """
    own = [set(model.whole_words().words) for model in models]
    shared = set.intersection(*own) if own else set()
    if not shared:
        names = ", ".join(model.name for model in models)
        raise ModelError(f"no word is a single token of all of these models: {names or 'none'}")
    return Vocabulary(shared)


def whole_words(tokenizer: PreTrainedTokenizerBase) -> Vocabulary:
    """The words that a ``bare`` tokenizer writes as one token behind a space.

    They are its tokens without their sign for a space: of WordPiece those with no ``##`` before
    them, else those with Ġ (byte-level) or ▁ (SentencePiece). Each is written out behind a word and
    a space, and counts if it comes out as that very token; so added and special tokens, and what
    the tokenizer never writes, are no words.

    Raises:
        ModelError: There are none.
    """
    known = tokenizer.get_vocab()
    tokens = sorted(set(known) - set(tokenizer.get_added_vocab()))
    pairs = zip(_spelled(tokenizer, tokens), tokens, strict=True)
    spelled = [(word, known[token]) for word, token in pairs if word]
    filled = [Filled(f"{_CARRIER} {word}", 2, 2 + len(word), 1) for word, _ in spelled]
    words = [
        word
        for (word, number), found in zip(spelled, locate(tokenizer, filled), strict=True)
        if found and found.ids[found.begin : found.end] == (number,) and not found.spanned
    ]
    if not words:
        raise ModelError("its tokenizer writes no word as a single token behind a space")
    return Vocabulary(words)


def _spelled(tokenizer: PreTrainedTokenizerBase, tokens: Sequence[str]) -> list[str | None]:
    """The word that each token would be; None for one that goes on with a word."""
    from tokenizers import decoders, models

    if isinstance(tokenizer.backend_tokenizer.model, (models.WordPiece, models.WordLevel)):
        return [None if token.startswith("##") else token for token in tokens]
    metaspaced = sum(token.startswith("▁") for token in tokens)
    if metaspaced > sum(token.startswith("Ġ") for token in tokens):
        return [token[1:] if token.startswith("▁") else None for token in tokens]
    decoder = decoders.ByteLevel()
    return [decoder.decode([token])[1:] if token.startswith("Ġ") else None for token in tokens]
