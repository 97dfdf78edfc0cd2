"""Safe terminal output: characters that control the terminal or the text direction are escaped."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

# Control characters except tab and line feed, line and paragraph separators, direction marks and
# overrides, invisible tags, and lone surrogates, which represent the undecodable bytes of a name.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""Return the text with unsafe characters escaped as in JSON, such as ``\u001b``.

    Escaping does not change the value that a JSON text encodes.

    >>> visible("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return _UNSEEN.sub(_escaped, text)


class _Visible:
    """A text stream that escapes control characters before it writes to an underlying stream."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Write the text with control characters escaped."""
        self.beneath.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write the lines with control characters escaped."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any attribute of the stream
        return getattr(self.beneath, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """In a ``with`` block, escape control characters in standard output and standard error."""
    before = sys.stdout, sys.stderr
    mine = _wrapped(sys.stdout), _wrapped(sys.stderr)
    sys.stdout, sys.stderr = mine
    try:
        yield
    finally:
        # If other code has replaced a stream in the meantime, leave its stream.
        if sys.stdout is mine[0]:
            sys.stdout = before[0]
        if sys.stderr is mine[1]:
            sys.stderr = before[1]


def beneath(stream: TextIO) -> TextIO:
    """Return the stream that a ``_Visible`` wraps; return any other stream unchanged."""
    return stream.beneath if isinstance(stream, _Visible) else stream


def console() -> Console:
    """Return a console that prints tables to standard output without interpreting markup."""
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:  # noqa: ANN401 - rich's signature
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else visible(text), style, control)

    return Plain(file=beneath(sys.stdout), highlight=False, markup=False, emoji=False)


def _wrapped(stream: TextIO) -> TextIO:
    return cast("TextIO", _Visible(stream))


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
