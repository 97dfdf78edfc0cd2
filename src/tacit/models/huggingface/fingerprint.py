"""Compute fingerprints of local models, and detect changes to a loaded model's files.

The files that a model is loaded from must not change while the model is in use.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.errors import ScoringError
from tacit.files import file_hash, publish_text

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

_BLOB = re.compile(r"[0-9a-f]{64}")
_NOT_A_SETTING = ("transformers_version", "_name_or_path", "torch_dtype", "dtype")


@dataclass(frozen=True)
class Identity:
    """Everything that a local model's scores depend on, except the prompt."""

    weights: Mapping[str, str]
    config: str
    tokenizer: str
    revision: str | None
    dtype: str
    specials: str
    scorer: str

    @property
    def fingerprint(self) -> str:
        """The hexadecimal digest of all fields."""
        return _digest(asdict(self))


class Stamp(NamedTuple):
    """A file's metadata in the file system; symbolic links are followed."""

    inode: int
    size: int
    mtime_ns: int
    ctime_ns: int

    @classmethod
    def of(cls, file: Path) -> Stamp | None:
        """Return a file's ``Stamp``, or None if the file cannot be accessed."""
        try:
            found = file.stat()
        except OSError:
            return None
        return cls(found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


@dataclass
class FileHashes:
    """A cache of files' SHA-256 digests, each valid while its file's metadata is unchanged."""

    path: Path | None = None
    beside: dict[Path, str] = field(default_factory=dict)
    _known: dict[str, dict[str, Any]] = field(default_factory=dict)
    _changed: bool = False

    def __post_init__(self) -> None:
        if self.path is None or not self.path.is_file():
            return
        try:
            known = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            return  # the cache is optional: hash again
        self._known = known if isinstance(known, dict) else {}

    def sha256(self, file: Path) -> str:
        """Return the file's SHA-256."""
        target = file.resolve()
        if target.parent.name == "blobs" and _BLOB.fullmatch(target.name):
            return target.name
        # Path, size and modification time are not enough: copies can preserve the time, and several
        # hosts can share a store.
        found = Stamp.of(target)
        stamp = {**(found._asdict() if found else {}), "host": platform.node()}
        known = self._known.get(str(target))
        if isinstance(known, dict) and {**stamp, "sha256": known.get("sha256")} == known:
            return str(known["sha256"])
        digest = file_hash(target)
        self._known[str(target)] = {**stamp, "sha256": digest}
        self._changed = True
        return digest

    def save(self) -> None:
        """Write new digests to the cache file, if ``path`` is not None."""
        if self.path is not None and self._changed:
            publish_text(self.path, json.dumps(self._known, indent=1, sort_keys=True))
            self._changed = False
        while self.beside:
            publish_text(*self.beside.popitem())


def config_digest(config: PreTrainedConfig) -> str:
    """Return the digest of a config's settings except transformers version, name and dtype."""
    settings = {k: v for k, v in config.to_dict().items() if k not in _NOT_A_SETTING}
    return _digest(settings)


def tokenizer_digest(tokenizer: PreTrainedTokenizerBase) -> str:
    """Return the digest of a fast tokenizer's vocabulary, rules and special tokens."""
    # Every call sets and unsets these, so they are not part of the tokenizer's identity.
    tokenizer.backend_tokenizer.no_truncation()
    tokenizer.backend_tokenizer.no_padding()
    content = tokenizer.backend_tokenizer.to_str()
    return _digest([content, {k: str(v) for k, v in tokenizer.special_tokens_map.items()}])


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass
class LoadedFiles:
    """A model's weight files as they were when it was loaded, to detect changes.

    Changes of its other files do not matter, because they are in memory.
    """

    name: str
    _stamps: dict[Path, Stamp]
    _digests: Mapping[Path, str] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, weights: Iterable[Path]) -> LoadedFiles:
        """Record the current state of weight files; call ``of`` before reading them."""
        return cls(name, {file: stamp for file in weights if (stamp := Stamp.of(file))})

    def seal(self, digests: Mapping[Path, str]) -> None:
        """Store the files' digests after loading, and check for changed files."""
        self._digests = digests
        self.check()

    def check(self) -> None:
        """Raise if one of the model's files has changed since the model was loaded."""
        for file, before in self._stamps.items():
            now = Stamp.of(file)
            if now == before:
                continue
            written = (before.size, before.mtime_ns)
            if now and (now.size, now.mtime_ns) == written and self._is_same(file):
                self._stamps[file] = now
                continue
            happened = "was changed" if now else "was deleted"
            raise ScoringError(
                f"{self.name}: {file} {happened} while the model was in use. Results "
                "computed since the last block were not stored. Restore the file and run the same "
                "command again, or use another --out to run the model with its current files"
            )

    def _is_same(self, file: Path) -> bool:
        try:
            return file_hash(file) == self._digests.get(file)
        except OSError:
            return False
