"""Check sequences of strings in options, split text into names, and compare names.

Names and texts are joined if :func:`comparable` returns the same for both. Only the comparison uses
this form: what a model is asked stays as it is written.
"""

from __future__ import annotations

import logging
import re
import unicodedata
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import RequestError, path_text

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger(__name__)

# Unicode's default-ignorable characters: soft hyphens, zero-width spaces and joiners, direction
# marks, byte order marks, variation selectors and fillers. Not tags: some flags differ only so.
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0100-\U000e01ef]"
)
_SPACE = re.compile(r"[^\S\x00-\x7f]")


def comparable(text: str) -> str:
    """Return the form in which names and texts are compared."""
    if not text.isascii():
        text = _SPACE.sub(" ", unicodedata.normalize("NFC", _INVISIBLE.sub("", text)))
    return text.strip()


class Spellings:
    """Maps each name to its first spelling, so that names can be joined as they are written."""

    def __init__(self, known: Iterable[str] = ()) -> None:
        self._first = {"": ""}
        for name in known:
            self._first.setdefault(comparable(name), name)
        self.others: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return the first spelling of a name; "" if nothing of it is visible."""
        first = self._first.setdefault(comparable(name), name)
        if first != name:
            self.others[name] = first
        return first

    def within(self, frame: pl.DataFrame, columns: Iterable[str]) -> pl.DataFrame:
        """Replace each name in columns of text by its first spelling."""
        import polars as pl

        texts = [name for name in columns if frame[name].dtype == pl.String]
        for name in texts:
            for text in frame[name].drop_nulls().unique(maintain_order=True):
                self(text)
        return frame.with_columns(pl.col(texts).replace(self.others)) if self.others else frame

    def notice(self, where: Path | str | None = None) -> None:
        """Log how many names are read as another spelling, with one example."""
        read = [(name, first) for name, first in self.others.items() if first]
        if not read:
            return
        name, first = read[0]
        log.warning(
            "%s%s: %s is read as %s, which looks the same%s",
            "" if where is None else f"{path_text(where)}: ",
            comparable(name),
            ascii(name),
            ascii(first),
            f" (and {len(read) - 1:,} more)" if len(read) > 1 else "",
        )


def strings(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Convert an iterable of strings to a tuple, and check that all values are strings."""
    if isinstance(given, str):
        raise RequestError(
            f"{name} is the string {shown(given)}; expected a sequence of strings, such as "
            f"[{shown(given)}]"
        )
    try:
        texts = tuple(given)
    except TypeError as error:
        raise RequestError(f"{name} is {shown(given)}; expected a sequence of strings") from error
    for one in texts:
        if not isinstance(one, str):
            raise RequestError(f"{name} contains {shown(one)}; expected only strings")
    return texts


def listed(names: str | None) -> tuple[str, ...]:
    """Split text at commas into a tuple of names; white space around names is removed."""
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def last_part(name: str) -> str:
    """Return the last part of a model's path or Hub name; return a server's URL unchanged.

    Examples:
        >>> last_part("facebook/opt-350m")
        'opt-350m'
    """
    return name if "://" in name else name.rstrip("/").rsplit("/", 1)[-1]


def convert_strings(instance: object, *fields: str) -> None:
    """Convert fields of a frozen dataclass to tuples with the function ``strings``."""
    for name in fields:
        given = getattr(instance, name)
        if given is not None:
            texts = strings(given, name)
            kept = frozenset(texts) if isinstance(given, (set, frozenset)) else texts
            object.__setattr__(instance, name, kept)


def shown(value: object) -> str:
    """Return the ``repr`` of a value, shortened to 80 characters."""
    most = 80
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
