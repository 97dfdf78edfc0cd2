"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Callable

_FULL = frozenset(
    getattr(errno, name) for name in ("ENOSPC", "EDQUOT", "EFBIG") if hasattr(errno, name)
)


def is_full(error: OSError) -> bool:
    """Whether there is no room for what was to be written."""
    return error.errno in _FULL


def unwritable(path: Path | str, error: OSError) -> str:
    """Says that a file cannot be written, and why; where it lacks room, what to do as well."""
    advice = "; make room there, or name another place, and give the same command again"
    return f"{path}: cannot be written: {error}{advice if is_full(error) else ''}"


def publish(path: Path, write: Callable[[Path], None]) -> None:
    """Lets ``write`` fill a file beside ``path``, then renames it into place.

    Both the file and its new name are on the disk when this returns.

    Raises:
        WorkError: The file cannot be written; nothing is left behind.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
        os.close(handle)
        temporary = Path(name)
        try:
            temporary.chmod(0o644)
            write(temporary)
            _sync(temporary)
            temporary.replace(path)
            _sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)
    except OSError as error:
        raise WorkError(unwritable(path, error)) from error


def publish_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all.

    What UTF-8 cannot hold, as of a folder's name that is none, is written as an escape of Python's,
    JSON's and YAML's.

    Raises:
        WorkError: The file cannot be written.
    """
    publish_bytes(path, text.encode(errors="backslashreplace"))


def publish_bytes(path: Path, content: bytes | memoryview) -> None:
    """Writes a file whole or not at all.

    Raises:
        WorkError: The file cannot be written.
    """

    def write(file: Path) -> None:
        file.write_bytes(content)

    publish(path, write)


def _sync(path: Path) -> None:
    """Has what the system still holds of a file or a folder written down."""
    if path.is_dir() and os.name == "nt":
        return  # a folder cannot be opened there
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
