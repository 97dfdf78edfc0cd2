"""Files that Tacit writes: whole or not at all, with safe names and numbered formats."""

from __future__ import annotations

import errno
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import DISTRIBUTION, WorkError

if TYPE_CHECKING:
    from collections.abc import Callable


RUN = 1
"""Of a run's folder: its request, manifest, questions and recorded blocks."""

TABLE = 1
"""Of a Parquet table, such as a finding."""

SEGMENT = 1
"""Of a segment of the store."""

KEY = "tacit.format"
"""Under which a Parquet file carries its number, among its key-value metadata."""


def unreadable(found: object, known: int) -> str | None:
    """Why a file cannot be read, by its number; None where it can be.

    Args:
        found: The number that it carries, as a number or in digits.
        known: The newest format of its kind that this Tacit reads.
    """
    text = str(found)
    if not text.isascii() or not text.isdigit() or isinstance(found, bool):
        return f"is damaged: its format is {text[:40]!r}, which is no number"
    if int(text[:9]) > known:
        return (
            f"was written by a newer Tacit: format {text[:9]}, this one reads up to {known}; "
            f"upgrade {DISTRIBUTION}"
        )
    return None


_LONGEST = 100
# File systems count bytes, up to 255, and a suffix or a number may follow.
_BYTES = 200


def legible(name: str) -> str:
    r"""A name that may not be UTF-8 as text, the bytes that are none escaped: ``runs\udcff``."""
    return name.encode(errors="backslashreplace").decode()


def file_name(words: str) -> str:
    """The words as a file's name, without a suffix: letters, digits, dots, hyphens, underscores.

    Two different words may give the same name. It is never empty, never ``.`` or ``..``, holds
    nothing that separates folders and no control character, and is no device's.
    """
    from pathvalidate import sanitize_filename

    name = re.sub(r"[^\w.-]+", "-", words)
    # The end of a name is what tells most: a checkpoint's number, a model's size.
    name = name[-_LONGEST:].encode(errors="replace")[-_BYTES:].decode(errors="ignore")
    return sanitize_filename(
        name.strip(".-"), platform="universal", null_value_handler=lambda _: "_"
    )


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
