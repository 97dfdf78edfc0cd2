"""Redaction of secrets in a server's answers, including secrets in an encoded form.

Redaction ignores letter case. A secret is redacted if it occurs in its original spelling, reversed,
in hexadecimal or in base64. A secret is redacted even if it is part of a longer text that is
encoded in base64, such as ``Bearer KEY`` or ``user:KEY``. A secret is redacted even if it is
escaped as in JSON, URLs, HTML or source code, and even if the escapes are nested.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from dataclasses import dataclass
from html.entities import codepoint2name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SHOWN = "[key]"
"""The text that replaces a secret."""

SHORTEST = 8
"""The minimum length, in characters, of a secret that is redacted in answers.

A secret of fewer than ``SHORTEST`` characters, such as ``EMPTY``, could be an ordinary word.
"""

_ESCAPES = ("\\", "%", "&")

# JSON escapes of ASCII characters. NUL bytes indicate another encoding than UTF-8.
_ESCAPED = re.compile(rb"\\(?:u00[0-7]|[\\/\"])")
_MARKS = (b"%", b"&", b"\0")


def hider(*secrets: str | None) -> Callable[[str], str]:
    """Return a function that redacts secrets of any length in a text.

    Args:
        secrets: The secrets; None entries are ignored.
    """
    known = [secret for secret in secrets if secret]
    return _Redaction.of(known) if known else str


def reader(*secrets: str | None) -> Callable[[bytes], object]:
    """Return a function that parses JSON and redacts secrets in strings and object keys.

    Args:
        secrets: The secrets; a secret of fewer than ``SHORTEST`` characters is not redacted.

    The function that ``reader`` returns raises ``ValueError`` for invalid JSON, and
    ``RecursionError`` for JSON that is nested too deeply.
    """
    known = [secret for secret in secrets if secret and len(secret) >= SHORTEST]
    if not known:
        return json.loads
    hide = _Redaction.of(known)

    def clean(value: object) -> object:
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, list):
            return [clean(one) for one in value]
        if isinstance(value, dict):
            return {hide(name): clean(one) for name, one in value.items()}
        return value

    def read(content: bytes) -> object:
        value = json.loads(content)
        return clean(value) if hide.may_be_in(content) else value

    return read


@dataclass(frozen=True)
class _Redaction:
    """A function that redacts secrets; a quick check skips most texts without a secret.

    Args:
        pattern: A regular expression that matches every spelling of the secrets.
        plain: The secrets and their encodings, case-folded and without escape sequences; empty if a
            secret contains a blank.
        plain_bytes: The entries of ``plain`` as UTF-8 bytes, with all ASCII letters converted to
            lower case.
        shortest: The minimum length, in characters, of a text that can contain a secret.
    """

    pattern: re.Pattern[str]
    plain: tuple[str, ...]
    plain_bytes: tuple[bytes, ...]
    shortest: int

    @classmethod
    def of(cls, secrets: Sequence[str]) -> _Redaction:
        encoded = sorted({one for secret in secrets for one in _encoded(secret)}, key=len)[::-1]
        pieces = [re.findall(r" +|[^ ]", one) for one in encoded]
        begins = {_begin(one[0]) for one in encoded}
        written = "|".join("".join(map(_written, each)) for each in pieces)
        pattern = re.compile(f"(?=[{''.join(sorted(begins))}\\\\%&])(?:{written})", re.IGNORECASE)
        # A blank has several unescaped spellings, so the quick check does not apply.
        plain = () if any(" " in one for one in encoded) else tuple(map(str.casefold, encoded))
        lower = tuple(one.encode(errors="surrogatepass").lower() for one in plain)
        return cls(pattern, plain, lower, min(map(len, pieces)))

    def may_be_in(self, content: bytes) -> bool:
        """Quickly check whether JSON may contain a secret, either literally or escaped."""
        # Searching for single bytes first is several times as fast as one pattern for all.
        if not self.plain or any(mark in content for mark in _MARKS) or _ESCAPED.search(content):
            return True
        lower = content.lower()
        return any(one in lower for one in self.plain_bytes)

    def __call__(self, text: str) -> str:
        if len(text) < self.shortest:
            return text
        if self.plain and not any(mark in text for mark in _ESCAPES):
            folded = text.casefold()
            if not any(one in folded for one in self.plain):
                return text
        return self.pattern.sub(SHOWN, text)


def _encoded(secret: str) -> set[str]:
    """Return a secret and its encodings.

    A short secret is returned without encodings, because parts of its encodings occur in many
    words.
    """
    if len(secret) < SHORTEST:
        return {secret}
    content = secret.encode(errors="surrogatepass")
    found = {secret, secret[::-1], content.hex()}
    for before, cut in ((0, 0), (1, 2), (2, 3)):
        for encode in (b64encode, urlsafe_b64encode):
            # Drop the characters that also depend on the surrounding bytes.
            size = (before + len(content)) * 8 // 6
            found.add(encode(b"\0" * before + content).decode()[cut:size])
    return found - {""}


def _begin(character: str) -> str:
    """Convert a secret's first character to regex syntax for use inside square brackets."""
    return r"\s+" if character.isspace() else re.escape(character)


def _written(piece: str) -> str:
    return _blanks(piece) if piece.isspace() else _spellings(piece)


def _blanks(blanks: str) -> str:
    """Return a regex for 1 to ``len(blanks)`` whitespace characters, escaped or not."""
    return rf"(?:\s|\+|{_spellings(' ')}){{1,{len(blanks)}}}"


def _spellings(character: str) -> str:
    """Return a pattern that matches a character in escaped or unescaped form."""
    number = ord(character)
    digits = f"{number:02x}"
    named = f"|{codepoint2name[number]}" if number in codepoint2name else ""
    return (
        # Nested escapes double backslashes and percent signs.
        rf"(?:\\{{0,4}}{re.escape(character)}"
        rf"|\\{{1,4}}(?:u00|x){digits}"
        rf"|%(?:25){{0,2}}{digits}"
        rf"|&(?:amp;){{0,2}}(?:#0{{0,4}}{number}|#x0{{0,4}}{digits}{named});)"
    )
