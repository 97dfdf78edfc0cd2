"""Find out whether a tokenizer's tokens of a string are those of the string's two parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokenizers import Tokenizer
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

_LETTERS, _BEFORE = "a-zA-Z", "a-zA-Z0-9.,:?!"
WORD_STARTS = re.compile(f"(?<=[{_BEFORE}])(?= [{_LETTERS}])")
"""Where a string can be split: before a space between these characters."""


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
        and not any(map(_may_reach, _added(backend)))
    )


def _added(backend: Tokenizer) -> Iterator[str]:
    """Yield the added tokens as they are matched in a text."""
    for token in backend.get_added_tokens_decoder().values():
        yield token.content
        if token.normalized and backend.normalizer is not None:
            yield backend.normalizer.normalize_str(token.content)


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
    ends = re.match(f"[{_LETTERS}]", bare) or re.search(rf"[{_BEFORE}]\Z", bare)
    return any(map(str.isspace, bare)) or ends is not None
