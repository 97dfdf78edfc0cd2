"""Tokenize texts with a tokenizer file, or with the tokens that a server returns."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from tokenizers import Tokenizer

from tacit.errors import ModelError
from tacit.models.huggingface.alignment import Filled, Tokens, answer_tokens
from tacit.models.huggingface.vocabulary import whole_words
from tacit.models.openai.tokens import HALF, Token, apart, identifies_token
from tacit.requests import Vocabulary

MOST_BEFORE = 2
"""The maximum number of special tokens that a server may put before a text."""


@dataclass(frozen=True, slots=True)
class Cut:
    """The tokens of a text, without the special tokens that precede the text."""

    tokens: tuple[int | str, ...]
    offsets: tuple[tuple[int, int], ...]


class TokenizerFile:
    """A tokenizer that is loaded from a ``tokenizer.json`` and adds no special tokens."""

    def __init__(self, path: Path) -> None:
        file = path / "tokenizer.json" if path.is_dir() else path
        if not file.is_file():
            raise ModelError(
                f"{file}: there is no such file; --tokenizer expects a tokenizer.json, or a folder "
                "that contains one"
            )
        try:
            content = file.read_bytes()
            self.backend = Tokenizer.from_str(content.decode())
        except Exception as error:  # the library raises bare Exceptions
            raise ModelError(f"{file}: this is not a tokenizer.json ({error})") from error
        self.path = path
        self.digest = hashlib.sha256(content).hexdigest()
        self.backend.no_truncation()
        self.backend.no_padding()
        # Some post-processors trim spaces from a token's offsets, as in ``alignment.bare``.
        self.start = _start(self.backend)
        self.before = len(self.start)
        self.backend.post_processor = None
        self.unknown = _unknown(self.backend)

    def cut(self, text: str) -> Cut:
        encoded = self.backend.encode(text, add_special_tokens=False)
        return Cut(tuple(encoded.ids), tuple(encoded.offsets))

    def locate(self, filled: Sequence[Filled]) -> list[Tokens | None]:
        texts = [one.string for one in filled]
        encoded = self.backend.encode_batch(texts, add_special_tokens=False)
        return [
            answer_tokens(one.ids, one.offsets, own)
            for one, own in zip(encoded, filled, strict=True)
        ]

    def whole_words(self) -> Vocabulary:
        return whole_words(self.backend, self.locate)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The ids of all tokens that are no added ones, such as special tokens."""
        added = self.backend.get_added_tokens_decoder()
        return tuple(sorted(set(self.backend.get_vocab().values()) - set(added)))

    def spelled(self, number: int) -> str:
        """Return a token's text, including any leading space; empty for an unknown id."""
        return self._spellings.get(number, "")

    def key(self, number: int, *, spaced: bool) -> str | None:
        """Return the text by which a server identifies a token; None if the text is ambiguous."""
        text = self.spelled(number)
        key = text if spaced else text.lstrip(" ")
        return key if key and self._keys[spaced].get(key) == number else None

    def number_of(self, token: Token, *, spaced: bool) -> int | None:
        """Return the id of a server's token; None if several or no tokens are written like it."""
        if token.number is not None or token.text is None:
            return token.number
        return self._keys[spaced].get(token.text)

    def is_written(self, number: int, token: Token) -> bool:
        """Return False if a server's token is certainly not the token with the given id."""
        if token.number is not None:
            return token.number == number
        own = self.spelled(number)
        if token.text is None or not (identifies_token(token.text) and identifies_token(own)):
            return True
        return token.text.lstrip(" ") == own.lstrip(" ")

    def begins(self, cut: Cut, tokens: Sequence[Token]) -> bool:
        """Return whether a server's list of tokens may begin with the tokens of a text."""
        if len(tokens) < len(cut.tokens):
            return False
        pairs = zip(cut.tokens, tokens, strict=False)
        return all(isinstance(own, int) and self.is_written(own, one) for own, one in pairs)

    def may_contain(self, token: Token) -> bool:
        """Return whether a token that a server returned can be in the tokenizer's vocabulary."""
        if token.text is None:
            return True
        if token.number is None:
            return not identifies_token(token.text) or token.text.lstrip(" ") in self._stripped
        return self.is_written(token.number, replace(token, number=None))

    @cached_property
    def _spellings(self) -> dict[int, str]:
        """Map each token id to the decoded text of the token when it follows another token."""
        anchor = self.backend.encode("a", add_special_tokens=False).ids[-1:]
        numbers = sorted(self.backend.get_vocab(with_added_tokens=True).values())
        alone = self.backend.decode(anchor, skip_special_tokens=False)
        together = self.backend.decode_batch(
            [[*anchor, number] for number in numbers], skip_special_tokens=False
        )
        return {
            number: text[len(alone) :] if text.startswith(alone) else HALF
            for number, text in zip(numbers, together, strict=True)
        }

    @cached_property
    def _stripped(self) -> frozenset[str]:
        written = (text for own in self._spellings.values() for text in (own, _whole(own)))
        return frozenset(text.lstrip(" ") for text in written)

    @cached_property
    def _keys(self) -> dict[bool, dict[str, int]]:
        """Map each unambiguous text to the id of its token, with and without a leading space."""
        stripped = {number: text.lstrip(" ") for number, text in self._spellings.items()}
        return {True: _unique(self._spellings), False: _unique(stripped)}


def _unique(spelled: Mapping[int, str]) -> dict[str, int]:
    """Map each unambiguous text to the id of its token."""
    counts = Counter(map(_whole, spelled.values()))
    return {
        text: number
        for number, text in spelled.items()
        if counts[_whole(text)] == 1 and identifies_token(text)
    }


def _whole(text: str) -> str:
    """Return a token's text without incomplete characters, which some servers omit."""
    return text.replace(HALF, "")


def _start(tokenizer: Tokenizer) -> tuple[int, ...]:
    """Return the special tokens that a tokenizer puts before a text."""
    encoded = tokenizer.encode("a", add_special_tokens=True)
    pairs = zip(encoded.ids, encoded.special_tokens_mask, strict=True)
    return tuple(number for number, _ in takewhile(lambda pair: pair[1], pairs))


def _unknown(tokenizer: Tokenizer) -> int | None:
    """Return the id of the token for unknown text; None if every text can be encoded."""
    model = json.loads(tokenizer.to_str())["model"]
    if isinstance(model.get("unk_id"), int):
        return None if model.get("byte_fallback") else int(model["unk_id"])
    token = model.get("unk_token")
    known = tokenizer.token_to_id(token) if isinstance(token, str) else None
    return None if model.get("byte_fallback") else known


def cut_by_texts(tokens: Sequence[Token], text: str) -> tuple[int, Cut] | None:
    """Find a text's tokens among the tokens that a server returned, by their spellings."""
    written = [token.text for token in tokens]
    for before in range(min(MOST_BEFORE, len(written)) + 1):
        cut = _spelling(written[before:], text)
        if cut:
            return before, cut
    return None


def _spelling(written: Sequence[str | None], text: str) -> Cut | None:
    """Return the leading tokens of the list ``written`` that spell ``text``, or None."""
    at, offsets = 0, []
    for number, token in enumerate(written):
        if at == len(text):
            break
        # SentencePiece adds a space before the first word.
        extra = number == 0 and (token or "").startswith(" ") and not text.startswith(" ")
        covered = (token or "")[extra:]
        if not token or not text.startswith(covered, at):
            return None
        offsets.append((at, at + len(covered)))
        at += len(covered)
    if at < len(text):
        return None
    return Cut(tuple(str(token) for token in written[: len(offsets)]), tuple(offsets))


@dataclass(frozen=True)
class Echoed:
    """The tokens of a text in a server's echo, with their log-probabilities in nats."""

    before: int
    cut: Cut
    logprobs: tuple[float | None, ...]

    @property
    def end(self) -> int:
        """The number of tokens before and in the text."""
        return self.before + len(self.cut.tokens)

    @property
    def total(self) -> float:
        return sum(one for one in self.logprobs if one is not None)

    def differences(self, other: Echoed) -> list[float]:
        """Return the differences between the tokens that the texts share; NaN if one is unknown."""
        pairs = zip(self.logprobs, other.logprobs, strict=False)
        return [0.0 if one is after else apart(one, after) for one, after in pairs]


def align(
    tokens: Sequence[Token], text: str, tokenizer: TokenizerFile | None, before: int | None = None
) -> Echoed | None:
    """Find the tokens of a text in the list of tokens that a server returned."""
    if tokenizer is None:
        found = cut_by_texts(tokens, text)
    else:
        cut = tokenizer.cut(text)
        starts = range(MOST_BEFORE + 1) if before is None else [before]
        fitting = (at for at in starts if tokenizer.begins(cut, tokens[at:]))
        at = next(fitting, None)
        found = None if at is None else (at, cut)
    if found is None or before not in {None, found[0]}:
        return None
    at, cut = found
    return Echoed(at, cut, tuple(one.logprob for one in tokens[at : at + len(cut.tokens)]))
