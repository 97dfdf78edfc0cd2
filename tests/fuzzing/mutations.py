"""Files as they should not be: any bytes, and whole files with a few places spoilt."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from hypothesis import strategies as st

Change: TypeAlias = Callable[[bytes], bytes]

_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?")
# What readers stumble over: other types, too large or no numbers, halves of characters, nesting.
INSERTS = (
    *(b"\x00", b"\xef\xbb\xbf", b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\r", b"\n", b"\t", b'"'),
    *(b"'", b"\\", b"\\ud800", b"{", b"}", b"[", b"]", b"<", b"&x", b"*x", b"!!python/none ''"),
    *(b"null", b"true", b"NaN", b"Infinity", b"-1", b"1e999", b"9" * 400, b"-0.0", b"0x10", b"1_0"),
    *(b"[" * 3000, b'{"a":' * 3000, b"- " * 3000, b"\xe2\x80\xa8", b"\x1b[31m", b"\n" * 3000),
    *(b"\xf0\x9f\x90\xbb", b'"text": 1, "text": 2, ', b"\x1b]0;x\x07", b"\xe2\x80\xae", b"=1+1"),
    *(b"___", b",", b":", b"---\n", b"2024-01-01", b"a: b", b"x" * 5000, b" ", b"\x85", b"\x0c"),
)


@dataclass(frozen=True)
class Spoilt:
    """How a file is spoilt: changed, or replaced from the beginning."""

    changes: tuple[Change, ...] = ()
    instead: bytes | None = None

    def of(self, valid: bytes) -> bytes:
        content = valid if self.instead is None else self.instead
        for change in self.changes:
            content = change(content)
        return content


def spoilt() -> st.SearchStrategy[Spoilt]:
    """Up to four changes, or any bytes instead."""
    changed = st.lists(_change(), min_size=1, max_size=4).map(lambda c: Spoilt(tuple(c)))
    other = st.binary(max_size=300).map(lambda content: Spoilt((), content))
    return st.one_of(changed, changed, changed, other)


def _change() -> st.SearchStrategy[Change]:
    place, length = st.floats(0, 1, exclude_max=True), st.integers(1, 40)
    inserts = st.sampled_from(INSERTS)
    return st.one_of(
        st.builds(_placed, place, st.integers(0, 7).map(_flip)),
        st.builds(_placed, place, st.just(lambda content, at: content[:at])),
        st.builds(_placed, place, length.map(_drop)),
        st.builds(_placed, place, length.map(_repeat)),
        st.builds(_placed, place, inserts.map(_insert)),
        st.builds(_replace_number, place, inserts),
        st.builds(_swap_lines, place, place),
        st.sampled_from([_utf16, _latin, lambda content: content + content]),
    )


Placed: TypeAlias = Callable[[bytes, int], bytes]


def _placed(place: float, change: Placed) -> Change:
    """A change at a place, which is a share of the file."""
    return lambda content: change(content, int(place * len(content)))


def _flip(bit: int) -> Placed:
    return lambda content, at: (
        content[:at] + bytes(b ^ (1 << bit) for b in content[at : at + 1]) + content[at + 1 :]
    )


def _drop(length: int) -> Placed:
    return lambda content, at: content[:at] + content[at + length :]


def _repeat(length: int) -> Placed:
    return lambda content, at: content[: at + length] + content[at:]


def _insert(what: bytes) -> Placed:
    return lambda content, at: content[:at] + what + content[at:]


def _replace_number(place: float, what: bytes) -> Change:
    def change(content: bytes) -> bytes:
        found = list(_NUMBER.finditer(content))
        if not found:
            return what + content
        one = found[int(place * len(found))]
        return content[: one.start()] + what + content[one.end() :]

    return change


def _swap_lines(first: float, second: float) -> Change:
    def change(content: bytes) -> bytes:
        lines = content.splitlines(keepends=True) or [b""]
        a, b = int(first * len(lines)), int(second * len(lines))
        lines[a], lines[b] = lines[b], lines[a]
        return b"".join(lines)

    return change


def _utf16(content: bytes) -> bytes:
    return content.decode("latin-1").encode("utf-16")


def _latin(content: bytes) -> bytes:
    return content + b"\xe9\t\xe9,\xe9\n"
