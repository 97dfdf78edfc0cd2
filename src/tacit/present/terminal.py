"""Text on a terminal: what would steer the terminal, or turn the text round, is made visible."""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import Console

# Control characters but tab and line feed, line and paragraph separators, marks and overrides of
# the direction of writing, invisible tags, and halves of characters, such as stand for the bytes of
# a name that is not UTF-8.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    r"""The text with such characters as JSON escapes them, ``\u001b``: the same to who reads JSON.

    >>> visible("a\x1b[31mb")
    'a\\u001b[31mb'
    """
    return _UNSEEN.sub(_escaped, text)


class _Visible:
    """A stream beneath which nothing unseen gets."""

    def __init__(self, beneath: TextIO) -> None:
        self.beneath = beneath

    def write(self, text: str) -> int:
        """Writes the text, visible."""
        self.beneath.write(visible(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Writes the lines, visible."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the stream has
        return getattr(self.beneath, name)


@contextmanager
def visible_output() -> Iterator[None]:
    """Has all that is written to standard output and standard error within made visible."""
    before = sys.stdout, sys.stderr
    mine = _wrapped(sys.stdout), _wrapped(sys.stderr)
    sys.stdout, sys.stderr = mine
    try:
        yield
    finally:
        # Who has put another stream in the place keeps it.
        if sys.stdout is mine[0]:
            sys.stdout = before[0]
        if sys.stderr is mine[1]:
            sys.stderr = before[1]


def beneath(stream: TextIO) -> TextIO:
    """The stream itself, for what draws on the terminal and makes its texts visible."""
    return stream.beneath if isinstance(stream, _Visible) else stream


def console() -> Console:
    """Where tables are printed: their cells are texts, and nothing in them is markup."""
    from rich.console import Console
    from rich.segment import Segment

    class Plain(Console):
        def render(self, *arguments: Any, **options: Any) -> Iterator[Segment]:  # noqa: ANN401 - rich's
            for text, style, control in super().render(*arguments, **options):
                yield Segment(text if control else visible(text), style, control)

    return Plain(file=beneath(sys.stdout), highlight=False, markup=False, emoji=False)


def _wrapped(stream: TextIO) -> TextIO:
    return cast("TextIO", _Visible(stream))


def _escaped(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))
