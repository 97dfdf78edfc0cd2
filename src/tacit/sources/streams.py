"""Byte streams for Arrow: one computes a hash, and the other replaces invalid UTF-8."""

from __future__ import annotations

import codecs
import hashlib
import re
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from pathlib import Path

# Replaces a byte that is not UTF-8: the control character SUBSTITUTE.
SUBSTITUTE = "\x1a"
_LONGEST_CHARACTER = 4


class Counted:
    """A context manager that reads a file, and counts and hashes the bytes that are read."""

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
        """Whether the stream is closed."""
        return self._file is None or self._file.closed

    def read(self, size: int) -> bytes:
        """Read at most ``size`` bytes; an empty result means the end of the file."""
        data = b"" if self._file is None else self._file.read(size)
        self.sha256.update(data)
        self.read_so_far += len(data)
        return data

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class Legible:
    """A stream that replaces invalid UTF-8 in its input, so that no line is lost."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        # The first bytes of a character whose last bytes have not been read.
        self._begun = b""
        self.substituted = False

    @property
    def closed(self) -> bool:
        """Whether the stream is closed."""
        return self._stream.closed

    def read(self, size: int) -> bytes:
        """Read at most ``size`` bytes; an empty result means the end of the stream."""
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
        """Close the stream."""
        self._stream.close()

    def _substitute(self, data: bytes) -> bytes:
        self.substituted = True
        text = data.decode(errors="surrogateescape")
        return re.sub("[\udc80-\udcff]", SUBSTITUTE, text).encode()


def _unfinished(data: bytes) -> bytes:
    """Return the incomplete UTF-8 character at the end of ``data``; empty if there is none."""
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    decoder.decode(data[1 - _LONGEST_CHARACTER :])
    return decoder.getstate()[0]


def _is_text(data: bytes) -> bool:
    """Return whether bytes are valid UTF-8; Arrow does the check faster than Python."""
    import pyarrow as pa

    try:
        pa.array([data], pa.binary()).cast(pa.string())
    except pa.ArrowInvalid:
        return False
    return True
