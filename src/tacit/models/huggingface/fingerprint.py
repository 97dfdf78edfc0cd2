"""What makes two models the same model: a digest of everything that a score depends on."""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.publishing import publish_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

_BLOB = re.compile(r"[0-9a-f]{64}")
_NOT_A_SETTING = ("transformers_version", "_name_or_path", "torch_dtype", "dtype")


@dataclass(frozen=True)
class Identity:
    """Everything that the scores of a local model depend on but the prompt.

    Args:
        weights: SHA-256 of each weight file, by its name.
        config: Digest of the architecture's settings.
        tokenizer: Digest of the tokenizer's vocabulary, rules and special tokens.
        revision: The commit of a model from a hub, or the revision asked for.
        dtype: The number format that the model computes in.
        specials: The rule for special tokens, in words and ids.
        scorer: Name, version and options of the code that scores.
    """

    weights: Mapping[str, str]
    config: str
    tokenizer: str
    revision: str | None
    dtype: str
    specials: str
    scorer: str

    @property
    def fingerprint(self) -> str:
        """The digest of all fields, hexadecimal."""
        return _digest(asdict(self))


@dataclass
class FileHashes:
    """SHA-256 of files, remembered by machine, path, inode, size and times of change.

    Args:
        path: Where they are remembered between runs; None forgets them.
    """

    path: Path | None = None
    _known: dict[str, dict[str, Any]] = field(default_factory=dict)
    _changed: bool = False

    def __post_init__(self) -> None:
        if self.path is None or not self.path.is_file():
            return
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return  # only a shortcut: hash again
        self._known = known if isinstance(known, dict) else {}

    def sha256(self, file: Path) -> str:
        """The file's SHA-256; a hub's cache already names its large files by it."""
        target = file.resolve()
        if target.parent.name == "blobs" and _BLOB.fullmatch(target.name):
            return target.name
        stat = target.stat()
        # Where times are copied with files, or a store is shared, path, size and time of change are
        # those of other bytes too.
        stamp = {
            "size": stat.st_size,
            "mtime_ns": stat.st_mtime_ns,
            "ctime_ns": stat.st_ctime_ns,
            "inode": stat.st_ino,
            "host": platform.node(),
        }
        known = self._known.get(str(target))
        if isinstance(known, dict) and {**stamp, "sha256": known.get("sha256")} == known:
            return str(known["sha256"])
        with target.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
        self._known[str(target)] = {**stamp, "sha256": digest}
        self._changed = True
        return digest

    def save(self) -> None:
        """Writes what was learnt, where there is a place for it."""
        if self.path is None or not self._changed:
            return
        publish_text(self.path, json.dumps(self._known, indent=1, sort_keys=True))
        self._changed = False


def weight_hashes(files: Iterable[Path], hashes: FileHashes) -> dict[str, str]:
    """SHA-256 of a model's weight files, by their names."""
    return {file.name: hashes.sha256(file) for file in files}


def config_digest(config: PreTrainedConfig) -> str:
    """Digest of an architecture's settings, without what only describes the file."""
    settings = {k: v for k, v in config.to_dict().items() if k not in _NOT_A_SETTING}
    return _digest(settings)


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Digest of a fast tokenizer's whole content."""
    content = json.loads(tokenizer.backend_tokenizer.to_str())
    # Set and unset by every call, so no part of what the tokenizer is.
    content.pop("truncation", None)
    content.pop("padding", None)
    return _digest([content, {k: str(v) for k, v in tokenizer.special_tokens_map.items()}])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
