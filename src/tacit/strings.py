"""Sequences of strings that a caller gives: a single string is refused, not read as its letters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable


def strings(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Return the strings of a sequence as a tuple.

    Args:
        given: A list, a tuple or another iterable of strings.
        name: The argument's name, for the message.

    Raises:
        RequestError: ``given`` is one string, is not iterable, or holds something else.
    """
    if isinstance(given, str):
        raise RequestError(
            f"{name} is the string {_shown(given)}, and a sequence of strings is expected: write "
            f"[{_shown(given)}] if this string is the only one"
        )
    try:
        found = tuple(given)
    except TypeError as error:
        raise RequestError(f"{name} is {_shown(given)}; expected a sequence of strings") from error
    for one in found:
        if not isinstance(one, str):
            raise RequestError(f"{name} holds {_shown(one)}; expected strings alone")
    return found


def listed(names: str | None) -> tuple[str, ...]:
    """Names with commas between, without the blanks around them."""
    return tuple(name.strip() for name in (names or "").split(",") if name.strip())


def convert_strings(instance: object, *fields: str) -> None:
    """Check fields of a frozen dataclass with ``strings`` and keep them as tuples.

    A set becomes a frozenset. A field that is None stays None.

    Raises:
        RequestError: As for ``strings``.
    """
    for name in fields:
        given = getattr(instance, name)
        if given is not None:
            found = strings(given, name)
            kept = frozenset(found) if isinstance(given, (set, frozenset)) else found
            object.__setattr__(instance, name, kept)


def _shown(value: object) -> str:
    """The value as Python writes it, cut to 80 characters."""
    most = 80
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
