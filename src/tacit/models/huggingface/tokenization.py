"""Tokenize shared parts of strings once, if splitting the strings changes no tokens."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tacit.models.huggingface.alignment import Filled, Tokens, check_text, locate

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


_LOCAL_NORMALIZERS = {"NFC", "NFD", "NFKC", "NFKD", "Lowercase", "BertNormalizer"}

# The split patterns of GPT-4 (and Llama 3) and of Qwen2. Like GPT-2's pattern, which ByteLevel
# uses, they begin a word with the single space before its first letter.
_CONTRACTIONS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
_REST = r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
_WORDS = {
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}" + _REST,
    _CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}" + _REST,
}

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_BEFORE = _LETTERS | frozenset("0123456789.,:?!")


def splits(tokenizer: PreTrainedTokenizerBase) -> bool:
    """Return whether tokenizing a string in two parts leaves the string's tokens unchanged."""
    from tokenizers import models

    backend = tokenizer.backend_tokenizer
    model = backend.model
    if not isinstance(model, (models.BPE, models.WordPiece, models.WordLevel, models.Unigram)):
        return False
    if getattr(model, "dropout", None):
        return False
    return (
        all(part["type"] in _LOCAL_NORMALIZERS for part in _parts(backend.normalizer))
        and _splits_words(_parts(backend.pre_tokenizer))
        and not any(
            _may_reach(token.content) for token in backend.get_added_tokens_decoder().values()
        )
    )


def cut_of(filled: Filled) -> int:
    """Return the index of the last space where the string can be split; 0 if there is none."""
    string = filled.string
    at = string.rfind(" ", 1, max(filled.text_end - 1, 0))
    while at > 0 and not (string[at - 1] in _BEFORE and string[at + 1] in _LETTERS):
        at = string.rfind(" ", 1, at)
    return max(at, 0)


@dataclass(frozen=True)
class Halves:
    """Strings split into two parts each; each distinct part is tokenized only once."""

    heads: Sequence[Sequence[int]]
    tails: Sequence[Tokens | None]
    head: Sequence[int]
    tail: Sequence[int]


def whole(tokenizer: PreTrainedTokenizerBase, filled: Sequence[Sequence[Filled]]) -> Halves:
    """Tokenize each string as a whole, without splitting it."""
    numbers: dict[Filled, int] = {}
    tail = [numbers.setdefault(one, len(numbers)) for answers in filled for one in answers]
    return Halves([()], locate(tokenizer, list(numbers)), [0] * len(filled), tail)


def halves(tokenizer: PreTrainedTokenizerBase, filled: Sequence[Sequence[Filled]]) -> Halves:
    """Split each string at a space, and tokenize its two parts separately."""
    heads: dict[str, int] = {}
    tails: dict[Filled, int] = {}
    known: dict[tuple[object, ...], list[int]] = {}
    head, tail = [], list[int]()
    for answers in filled:
        first = answers[0]
        cut = cut_of(first)
        head.append(heads.setdefault(first.string[:cut], len(heads)))
        key = (first.begin - cut, first.text_end - cut, *[one.string[cut:] for one in answers])
        numbers = known.get(key)
        if numbers is None:
            behind = [_behind(one, cut) for one in answers]
            numbers = known[key] = [tails.setdefault(one, len(tails)) for one in behind]
        tail += numbers
    return Halves(_ids_of(tokenizer, list(heads)), locate(tokenizer, list(tails)), head, tail)


def _behind(filled: Filled, cut: int) -> Filled:
    return Filled(filled.string[cut:], filled.begin - cut, filled.end - cut, filled.text_end - cut)


def _ids_of(tokenizer: PreTrainedTokenizerBase, strings: Sequence[str]) -> list[Sequence[int]]:
    backend = tokenizer.backend_tokenizer
    backend.no_truncation()
    backend.no_padding()
    backend.encode_special_tokens = tokenizer.split_special_tokens
    encoded = backend.encode_batch_fast(list(strings), add_special_tokens=False)
    for string in strings:
        check_text(tokenizer, string)
    return [one.ids for one in encoded]


def _parts(component: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - from an untyped library
    """Return the parts of a normalizer or pre-tokenizer, as stored in ``tokenizer.json``."""
    if component is None:
        return []
    content = json.loads(component.__getstate__())
    if content["type"] == "Sequence":
        return list(content.get("normalizers") or content.get("pretokenizers") or [])
    return [content]


def _splits_words(parts: Sequence[dict[str, Any]]) -> bool:
    """Return whether a pre-tokenizer always splits text at a single space before a letter."""
    if [part["type"] for part in parts] == ["Split", "ByteLevel"]:
        first, second = parts
        known = first["pattern"].get("Regex") in _WORDS
        return (
            known
            and first["behavior"] == "Isolated"
            and not first["invert"]
            and not second["use_regex"]
            and not second["add_prefix_space"]
        )
    if len(parts) != 1:
        return False
    (only,) = parts
    return only["type"] == "BertPreTokenizer" or bool(
        (only["type"] == "ByteLevel" and only["use_regex"])
        or (only["type"] == "Metaspace" and only["split"])
    )


def _may_reach(added: str) -> bool:
    """Return whether an added token can contain or remove a space before a letter."""
    bare = added.strip()
    if not bare:
        return len(added) == 1
    return any(map(str.isspace, bare)) or bare[0] in _LETTERS or bare[-1] in _BEFORE
