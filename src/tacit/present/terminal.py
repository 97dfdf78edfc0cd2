"""Safe output: what a terminal would obey or a stream cannot encode is replaced, never raised."""

from __future__ import annotations

import codecs
import errno
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from rich.console import Console

_UNWRAPPED = 10_000  # columns

_PLAIN = str.maketrans(
    {"\u2212": "-", "\u2013": "-", "\u2026": "...", "\u201c": '"', "\u201d": '"', "\u2019": "'"}
    | {"\u00a0": " ", "\u00b7": "|", "\u00d7": "x", "\u00b2": "2", "\u2192": "->"}
)
"""ASCII for the characters that Tacit's own messages and tables use."""

# Control characters except tab and line feed, line and paragraph separators, direction marks and
# overrides, invisible tags, and lone surrogates, which represent the undecodable bytes of a name.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return the text with unsafe characters escaped as in JSON, such as ``\u001b``."""
    return _UNSEEN.sub(_escaped, text)


_UNREAD = (errno.EPIPE, errno.EBADF)


class _Safe:
    """A text stream that discards its text once nobody can read it, and may escape its text."""

    buffer = None  # Typer would write to it directly if the encoding is ASCII

    def __init__(self, beneath: TextIO, *, escapes: bool) -> None:
        self.beneath, self.escapes = beneath, escapes

    def write(self, text: str) -> int:
        with self._open():
            self.beneath.write(visible(text) if self.escapes else text)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        with self._open():
            self.beneath.flush()

    @contextmanager
    def _open(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.errno not in _UNREAD and self.beneath is not sys.__stderr__:
                raise
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.beneath.fileno())
            os.close(null)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of the stream
        return getattr(self.beneath, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """In a ``with`` block, make standard output and standard error safe to write anything to."""
    before = sys.stdout, sys.stderr
    _fill_closed()
    mine = _wrapped(sys.stdout), _wrapped(sys.stderr)
    sys.stdout, sys.stderr = mine
    if before[0] is None:
        sys.stderr.write("tacit: standard output is closed: what would be printed is lost\n")
    try:
        yield
    finally:
        # If other code has replaced a stream in the meantime, leave its stream.
        if sys.stdout is mine[0]:
            sys.stdout = before[0]
        if sys.stderr is mine[1]:
            sys.stderr = before[1]


def beneath(stream: TextIO) -> TextIO:
    """Return a stream that does not escape, for Rich, whose own control characters are meant."""
    if isinstance(stream, _Safe):
        return cast("TextIO", _Safe(stream.beneath, escapes=False))
    return stream


def console(*, wraps: bool = True) -> Console:
    """Return a console that prints to standard output without interpreting markup.

    If ``wraps`` is False, only a terminal wraps long lines.
    """
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:  # noqa: ANN401 - rich's signature
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else visible(text), style, control)

    file = beneath(sys.stdout)
    width = None if wraps or file.isatty() else _UNWRAPPED
    return Plain(file=file, width=width, highlight=False, markup=False, emoji=False)


def _wrapped(stream: TextIO) -> TextIO:
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="tacit")
    return cast("TextIO", _Safe(stream, escapes=True))


def _fill_closed() -> None:
    """Open closed standard streams on nothing, so that no file gets their numbers."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:  # noqa: PLR2004 - standard error's
        pass
    os.close(number)
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r+", encoding="utf-8"))  # noqa: SIM115, PTH123


def _replaced(error: UnicodeError) -> tuple[str, int]:
    """Replace what a stream cannot encode by similar ASCII, or else by a JSON escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    return re.sub("[^\x00-\x7f]", _escaped, text), error.end


codecs.register_error("tacit", _replaced)


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
