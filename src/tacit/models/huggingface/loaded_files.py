"""The files that a model was loaded from, which have to stay what they were while it is used.

Weights may stay mapped into memory, so that a file which is overwritten changes the model. A
private copy would take the model's size in memory again; so the files are looked at each time when
scores have been computed, before anybody is given them.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tacit.errors import ScoringError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from transformers import PreTrainedTokenizerBase

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
