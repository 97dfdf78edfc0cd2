"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import WorkError

if TYPE_CHECKING:
    from collections.abc import Callable


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
        raise WorkError(f"{path}: cannot be written: {error}") from error


def publish_text(path: Path, text: str) -> None:
    """Writes a text file whole or not at all.

    Raises:
        WorkError: The file cannot be written.
    """

    def write(file: Path) -> None:
        file.write_text(text, encoding="utf-8")

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
