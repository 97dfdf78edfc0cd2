"""What a server's answer is made of: objects, lists, texts and numbers, where each is expected.

An answer of another form is told of by place and type. No value of it is repeated, as it may be the
key that the server was sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

_KINDS = {dict: "an object", list: "a list", str: "a text", int: "a number", float: "a number"}
_HALF = re.compile("[\ud800-\udfff]")
_LONGEST = 18
"""Digits of an id, which has to be a number of 64 bits."""


class FormError(ValueError):
    """An answer is of another form: where, what was expected, and of which type it is."""


def record(value: object, where: str) -> dict[str, Any]:
    """An object.

    Raises:
        FormError: It is none.
    """
    if not isinstance(value, dict):
        raise _other(value, where, "an object")
    return value


def listing(value: object, where: str) -> list[Any]:
    """A list.

    Raises:
        FormError: It is none.
    """
    if not isinstance(value, list):
        raise _other(value, where, "a list")
    return value


def text(value: object, where: str) -> str:
    """A text, with a mark in place of half a character, which no file can hold.

    Raises:
        FormError: It is none.
    """
    if not isinstance(value, str):
        raise _other(value, where, "a text")
    return _HALF.sub("\ufffd", value)


def number(value: object, where: str) -> float:
    """A number.

    Raises:
        FormError: It is none, or too large for one.
    """
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _other(value, where, "a number")
    try:
        return float(value)
    except OverflowError:
        raise FormError(f"{where} is larger than any number that there is") from None


def count(value: object) -> int | None:
    """A number of tokens, or a token's id; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def written_count(digits: object) -> int | None:
    """As ``count``, of a number that is written as a text."""
    is_one = isinstance(digits, str) and digits.isascii() and digits.isdecimal()
    return int(str(digits)) if is_one and len(str(digits)) <= _LONGEST else None


def listed_choices(answer: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The choices of an answer as they come.

    Raises:
        FormError: There are none.
    """
    found = [record(one, "a choice") for one in listing(answer.get("choices"), "choices")]
    if not found:
        raise FormError("there are no choices")
    return found


def choices(answer: Mapping[str, Any], most: int = 1) -> list[dict[str, Any]]:
    """The choices of an answer, in the order of their index.

    Args:
        answer: What a server sent.
        most: So many were asked for.

    Raises:
        FormError: There are none, more than were asked for, or they are numbered otherwise.
    """
    found = listed_choices(answer)
    if len(found) > most:
        raise FormError(f"there are {len(found)} choices, and {most} asked for")
    if all(one.get("index") is None for one in found):
        return found
    numbered = {number(one.get("index") or 0, "a choice's index"): one for one in found}
    if len(numbered) < len(found) or not set(numbered) <= set(range(most)):
        raise FormError("choices do not have the indexes of what was asked for")
    return [numbered[index] for index in sorted(numbered)]


def _other(value: object, where: str, expected: str) -> FormError:
    kind = _KINDS.get(type(value), "true or false" if isinstance(value, bool) else "nothing")
    return FormError(f"{where} is {kind}, and {expected} was expected")
