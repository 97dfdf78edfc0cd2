"""Write files: atomic writes, safe file names, and format versions."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import tempfile
from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from tacit.errors import DISTRIBUTION, WorkError

RUN = 1
"""Format version of the files in a run's folder, such as the request and the manifest."""

SUITE = 1
"""Format version of the status file of a suite of runs."""

TABLE = 1
"""Format version of Parquet tables, such as the tables of findings."""

SEGMENT = 1
"""Format version of a segment of the score store."""

KEY = "tacit.format"
"""The metadata key under which a Parquet file stores its format version."""


def unreadable(version: object, known: int) -> str | None:
    """Return an error message if a file's format version is invalid or too new, else None."""
    text = str(version)
    if not text.isascii() or not text.isdigit() or isinstance(version, bool):
        return f"is damaged: its format is {text[:40]!r}, which is not a number"
    if int(text[:9]) > known:
        return (
            f"was written by a newer version of Tacit: it has format {text[:9]}, and this version "
            f"reads formats up to {known}; upgrade {DISTRIBUTION}"
        )
    return None


def file_hash(path: Path) -> str:
    """Return the SHA-256 of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


_LONGEST = 100
# File systems limit names to 255 bytes; leave room for a suffix or a number.
_BYTES = 200


def legible(name: str) -> str:
    r"""Return a name as valid UTF-8, with each invalid byte escaped, as in ``runs\udcff``."""
    return name.encode(errors="backslashreplace").decode()


def file_name(words: str) -> str:
    """Convert words to a safe file name of letters, digits, dots, hyphens and underscores."""
    from pathvalidate import sanitize_filename

    name = re.sub(r"[^\w.-]+", "-", words)
    # Keep the end of a name: it contains the checkpoint's number or the model's size.
    name = name[-_LONGEST:].encode(errors="replace")[-_BYTES:].decode(errors="ignore")
    return sanitize_filename(
        name.strip(".-"), platform="universal", null_value_handler=lambda _: "_"
    )


def file_names(texts: Iterable[str]) -> list[str]:
    """Convert texts to file names; one that equals an earlier one, ignoring case, is numbered."""
    names: dict[str, str] = {}
    for words in texts:
        name = file_name(words)
        numbered = (f"{name}-{n}" if n > 1 else name for n in count(1))
        free = next(each for each in numbered if each.casefold() not in names)
        names[free.casefold()] = free
    return list(names.values())


_FULL = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)
)


def is_full(error: OSError) -> bool:
    """Return whether a write failed because the disk is full."""
    return error.errno in _FULL


def unwritable(path: Path | str, error: OSError) -> str:
    """Return the error message for an unwritable file, with advice if the disk is full."""
    advice = "; free some space or choose another location, and run the same command again"
    return f"{path}: cannot be written: {error}{advice if is_full(error) else ''}"


def cache_folder() -> Path:
    """Return the folder of what Tacit may compute or fetch again."""
    chosen = os.environ.get("XDG_CACHE_HOME")
    return (Path(chosen) if chosen else Path.home() / ".cache") / "tacit"


def data_folder() -> Path:
    """Return the folder of the data sets that the user let Tacit fetch."""
    chosen = os.environ.get("XDG_DATA_HOME")
    return (Path(chosen) if chosen else Path.home() / ".local" / "share") / "tacit"


def publish(path: Path, write: Callable[[Path], None]) -> None:
    """Write a file atomically: ``write`` fills a temporary file, which becomes ``path``."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            temporary.chmod(0o644)
            write(temporary)
            move_into(temporary, path)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WorkError(unwritable(path, error)) from error


def move_into(temporary: Path, path: Path) -> None:
    """Give a complete file its name, once its content is on the disk."""
    _sync(temporary)
    temporary.replace(path)
    _sync(path.parent)


def publish_text(path: Path, text: str) -> None:
    """Write a text file atomically."""
    publish_bytes(path, text.encode(errors="backslashreplace"))


def publish_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write bytes to a file atomically."""

    def write(file: Path) -> None:
        file.write_bytes(content)

    publish(path, write)


def _sync(path: Path) -> None:
    """Write the buffered content of a file or a folder to disk."""
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
