"""Streams of bytes for Arrow to read from: one that is counted and hashed, one that is text."""

from __future__ import annotations

import codecs
import hashlib
import re
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

# Stands for a byte that is no UTF-8, as Unicode means it to.
SUBSTITUTE = "\x1a"
_LONGEST_CHARACTER = 4


class Counted:
    """A file that counts and hashes what is read of it; a context, which opens and closes it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self.sha256 = hashlib.sha256()
        self.read_so_far = 0

    def __enter__(self) -> None:
        self._file = self._path.open("rb")

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def closed(self) -> bool:
        """Whether nothing can be read."""
        return self._file is None or self._file.closed

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, none only at the end."""
        data = b"" if self._file is None else self._file.read(size)
        self.sha256.update(data)
        self.read_so_far += len(data)
        return data

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


class Legible:
    """A stream as UTF-8: each byte that is none is substituted, so that all lines can be told.

    Args:
        stream: What to read from.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # The beginning of a character whose end has not been read.
        self._begun = b""
        self.substituted = False

    @property
    def closed(self) -> bool:
        """Whether nothing can be read."""
        return self._stream.closed

    def read(self, size: int) -> bytes:
        """At most ``size`` bytes, which are more than a character has; none only at the end."""
        data = b""
        more = True
        while more and not data:
            read = self._stream.read(size - len(self._begun))
            more = bool(read)
            data = self._begun + read
            self._begun = _unfinished(data) if more else b""
            data = data[: len(data) - len(self._begun)]
        return data if _is_text(data) else self._substitute(data)

    def close(self) -> None:
        """Closes the stream."""
        self._stream.close()

    def _substitute(self, data: bytes) -> bytes:
        self.substituted = True
        text = data.decode(errors="surrogateescape")
        return re.sub("[\udc80-\udcff]", SUBSTITUTE, text).encode()


def _unfinished(data: bytes) -> bytes:
    """The beginning of a character that the end of ``data`` cuts off."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    decoder.decode(data[1 - _LONGEST_CHARACTER :])
    return decoder.getstate()[0]


def _is_text(data: bytes) -> bool:
    """Whether bytes are UTF-8; Arrow tells several times as fast as Python."""
    import pyarrow as pa

    try:
        pa.array([data], pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
