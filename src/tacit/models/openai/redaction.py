"""Hides secrets in what a server said: some repeat them, as they are or written otherwise.

Redacted are, in upper and lower case: the secret itself, reversed, in hexadecimal, and in base64
wherever in a longer text it stands (``Bearer KEY``, ``user:KEY``); each also as JSON, an address,
HTML or a program's text write it, within one another as well.
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
"""What stands in a secret's place."""

SHORTEST = 8
"""Characters of a secret that is redacted in answers; a shorter one could be a word (``EMPTY``)."""

_ESCAPES = ("\\", "%", "&")

# How JSON may write ASCII otherwise than as it is; NUL bytes are those of other encodings.
_ESCAPED = re.compile(rb"\\(?:u00[0-7]|[\\/\"])")
_MARKS = (b"%", b"&", b"\0")


def hider(*secrets: str | None) -> Callable[[str], str]:
    """What hides secrets in a text that is shown, however short they are.

    Args:
        secrets: The secrets; None where there is none to hide.
    """
    known = [secret for secret in secrets if secret]
    return _Redaction.of(known) if known else str


def reader(*secrets: str | None) -> Callable[[bytes], object]:
    """What reads JSON and hides secrets in all of its texts, names of members included.

    Args:
        secrets: The secrets; those of fewer than ``SHORTEST`` characters are left in.

    The function raises ``ValueError`` for what is no JSON, and ``RecursionError`` where it is
    nested too deeply.
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
    """Hides secrets; most texts hold nothing like them, and are skipped quickly.

    Args:
        pattern: All the ways in which they are written.
        plain: How they are written without escapes, in one case; none where that is no one text.
        plain_bytes: The same, as JSON in UTF-8 has them.
        shortest: The characters of the shortest of them.
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
        # Blanks are written in many ways.
        plain = () if any(" " in one for one in encoded) else tuple(map(str.casefold, encoded))
        lower = tuple(one.encode(errors="surrogatepass").lower() for one in plain)
        return cls(pattern, plain, lower, min(map(len, pieces)))

    def may_be_in(self, content: bytes) -> bool:
        """Whether JSON may hold one of the secrets: as it is, or by an escape of ASCII."""
        # Looking for single bytes first is several times as fast as one pattern for all.
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
    """A secret, and how it is encoded; of a short one, a part of which is in many words, not."""
    if len(secret) < SHORTEST:
        return {secret}
    content = secret.encode(errors="surrogatepass")
    found = {secret, secret[::-1], content.hex()}
    for before, cut in ((0, 0), (1, 2), (2, 3)):
        for encode in (b64encode, urlsafe_b64encode):
            # What depends on the bytes around it is left off.
            size = (before + len(content)) * 8 // 6
            found.add(encode(b"\0" * before + content).decode()[cut:size])
    return found - {""}


def _begin(character: str) -> str:
    """What the first character may be written as, within brackets of a pattern."""
    return r"\s+" if character.isspace() else re.escape(character)


def _written(piece: str) -> str:
    return _blanks(piece) if piece.isspace() else _spellings(piece)


def _blanks(blanks: str) -> str:
    """A pattern of blanks, which some texts write as one."""
    return rf"(?:\s|\+|{_spellings(' ')}){{1,{len(blanks)}}}"


def _spellings(character: str) -> str:
    """A pattern of all the ways in which a character is written."""
    number = ord(character)
    digits = f"{number:02x}"
    named = f"|{codepoint2name[number]}" if number in codepoint2name else ""
    return (
        # A text within a text has its backslashes and its percent signs doubled.
        rf"(?:\\{{0,4}}{re.escape(character)}"
        rf"|\\{{1,4}}(?:u00|x){digits}"
        rf"|%(?:25){{0,2}}{digits}"
        rf"|&(?:amp;){{0,2}}(?:#0{{0,4}}{number}|#x0{{0,4}}{digits}{named});)"
    )
