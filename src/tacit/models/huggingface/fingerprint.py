"""What makes two models the same: a digest of everything that a score depends on.

The files that a model was loaded from must stay unchanged while it is in use.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from tacit.errors import ScoringError
from tacit.files import publish_text

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


_SETTINGS = (
    "config.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "chat_template.jinja",
)


@dataclass(frozen=True, slots=True)
class Stamp:
    """What the file system says of a file, links followed."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, file: Path) -> Stamp | None:
        """A file's stamp; None where it cannot be looked at."""
        try:
            found = file.stat()
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)

    def difference(self, later: Stamp | None) -> str:
        """What happened to the file until it had another stamp."""
        if later is None:
            return "is gone"
        what = "was replaced" if later.inode != self.inode else "was overwritten"
        sizes = f" ({self.size:,} bytes before, {later.size:,} now)"
        return what + (sizes if later.size != self.size else "")


@dataclass
class LoadedFiles:
    """A model's files as they were when it was loaded.

    Args:
        name: The model's, for messages.
    """

    name: str
    _stamps: dict[Path, Stamp] = field(default_factory=dict)
    _digests: dict[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, weights: Iterable[Path], settings: Iterable[Path]) -> LoadedFiles:
        """The files as they are now; to be called before the weights are read.

        Args:
            name: The model's, for messages.
            weights: The weight files.
            settings: Small files beside them; those that are missing are left out.
        """
        small = [file for file in settings if file.is_file()]
        stamps = {file: Stamp.of(file) for file in (*weights, *small)}
        digests = {file: hashlib.sha256(file.read_bytes()).hexdigest() for file in small}
        return cls(name, {file: stamp for file, stamp in stamps.items() if stamp}, digests)

    def seal(self, weights: Mapping[Path, str]) -> None:
        """Remembers the weight files' SHA-256; to be called when they have been read and hashed.

        Raises:
            ScoringError: As ``check``.
        """
        self._digests |= weights
        self.check()

    def check(self) -> None:
        """Refuses to go on with a model one of whose files has changed since it was loaded.

        A file with its former size and time of writing, but in another place on the disk or with
        other properties, is read again: copies may have the times of what was copied.

        Raises:
            ScoringError: A file has changed, or is gone.
        """
        for file, before in self._stamps.items():
            now = Stamp.of(file)
            if now == before:
                continue
            written = (before.size, before.mtime_ns)
            if now and (now.size, now.mtime_ns) == written and self._is_same(file):
                self._stamps[file] = now
                continue
            raise ScoringError(
                f"{self.name}: {file} {before.difference(now)} while the model was in use; nothing "
                "that was computed since the last block is stored. Put the former file back and "
                "give the same command again, or give another --out to run the model as it is now"
            )

    def _is_same(self, file: Path) -> bool:
        try:
            with file.open("rb") as stream:
                digest = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError:
            return False
        return digest == self._digests.get(file)


def settings_files(folder: Path, tokenizer: PreTrainedTokenizerBase) -> list[Path]:
    """The files beside the weights that a config and a tokenizer may have been read from."""
    own = [name for name in tokenizer.vocab_files_names.values() if isinstance(name, str)]
    return [folder / name for name in dict.fromkeys((*_SETTINGS, *own))]
