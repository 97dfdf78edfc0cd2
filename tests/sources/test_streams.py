from __future__ import annotations

import hashlib
from io import BytesIO
from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tacit.sources.streams import Counted, Legible

if TYPE_CHECKING:
    from pathlib import Path

# Text, broken text, and bytes that are anything.
DATA = st.lists(
    st.one_of(
        st.text(max_size=4).map(str.encode),
        st.text(min_size=1, max_size=2).map(lambda text: text.encode()[:-1]),
        st.binary(max_size=4),
    )
).map(b"".join)


class Short(BytesIO):
    """A stream that gives less than it is asked for, as unpacking does."""

    def __init__(self, data: bytes, most: int) -> None:
        super().__init__(data)
        self._most = most

    def read(self, size: int | None = -1, /) -> bytes:
        """At most so many bytes."""
        return super().read(self._most if size is None else min(size, self._most))


@settings(deadline=None)
@given(DATA, st.integers(1, 6), st.integers(5, 12))
@example("é".encode(), 1, 5)
@example("é".encode()[:1], 1, 5)
def test_bytes_that_are_no_utf8_are_substituted(data: bytes, most: int, size: int) -> None:
    """However the stream is cut, each byte that is no UTF-8 becomes one other, and no more."""
    stream = Legible(Short(data, most))
    parts = []
    while part := stream.read(size):
        assert len(part) <= size
        parts.append(part)
    text = data.decode(errors="surrogateescape")
    expected = "".join("\x1a" if "\udc80" <= letter <= "\udcff" else letter for letter in text)
    assert b"".join(parts).decode() == expected
    assert stream.substituted == (text != expected)
    assert stream.read(size) == b""


def test_what_is_read_of_a_file_is_counted_and_hashed(tmp_path: Path) -> None:
    """The count and the SHA-256 are those of what was read, and the file is closed after."""
    path = tmp_path / "file"
    path.write_bytes(b"0123456789" * 10)
    counted = Counted(path)
    assert (counted.closed, counted.read(5)) == (True, b"")
    with counted:
        assert not counted.closed
        assert counted.read(15) == b"012345678901234"
        assert counted.read_so_far == 15
        assert counted.sha256.hexdigest() == hashlib.sha256(b"012345678901234").hexdigest()
        assert len(counted.read(1000)) == 85
    assert counted.closed
    assert counted.sha256.hexdigest() == hashlib.sha256(path.read_bytes()).hexdigest()
