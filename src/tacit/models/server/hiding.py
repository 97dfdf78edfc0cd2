"""Hides a key in what a server said: some repeat it, as it is or as other formats write it."""

from __future__ import annotations

import re
from functools import partial
from html.entities import codepoint2name
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = "[key]"
"""What stands in the key's place."""


def hider(key: str | None) -> Callable[[str], str]:
    """What hides a key in a text, however JSON, an address, HTML or a program's text write it.

    Args:
        key: The key; None where there is none to hide.
    """
    if not key:
        return str
    parts = re.findall(r" +|[^ ]", key)
    written = "".join(_blanks(part) if part.isspace() else _forms(part) for part in parts)
    return partial(re.compile(written).sub, SHOWN)


def _blanks(blanks: str) -> str:
    """A pattern of blanks, which some texts write as one."""
    return rf"(?:\s|\+|{_forms(' ')}){{1,{len(blanks)}}}"


def _forms(character: str) -> str:
    """A pattern of all the ways in which a character is written."""
    number = ord(character)
    digits = f"(?i:{number:02x})"
    named = f"|{codepoint2name[number]}" if number in codepoint2name else ""
    return (
        # A text within a text has its backslashes and its percent signs doubled.
        rf"(?:\\{{0,4}}{re.escape(character)}"
        rf"|\\{{1,4}}(?:u00|x){digits}"
        rf"|%(?:25){{0,2}}{digits}"
        rf"|&(?:amp;){{0,2}}(?:#0{{0,4}}{number}|#[xX]0{{0,4}}{digits}{named});)"
    )
