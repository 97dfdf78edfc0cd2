"""Check sequences of strings in options, and split text into names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import RequestError

if TYPE_CHECKING:
    from collections.abc import Iterable


def strings(given: Iterable[str], name: str) -> tuple[str, ...]:
    """Convert an iterable of strings to a tuple, and check that all values are strings.

    Args:
        given: A list, a tuple or another iterable of strings.
        name: The name of the checked argument or field, for the error message.

    Raises:
        RequestError: If the argument ``given`` is a single string, is not iterable, or contains a
            value that is not a string.
    """
    if isinstance(given, str):
        raise RequestError(
            f"{name} is the string {shown(given)}; expected a sequence of strings, such as "
            f"[{shown(given)}]"
        )
    try:
        found = tuple(given)
    except TypeError as error:
        raise RequestError(f"{name} is {shown(given)}; expected a sequence of strings") from error
    for one in found:
        if not isinstance(one, str):
            raise RequestError(f"{name} contains {shown(one)}; expected only strings")
    return found


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
    """Convert fields of a frozen dataclass to tuples with the function ``strings``.

    A set is converted to a frozenset instead of a tuple. If the value of a field is None, the field
    is not changed.

    Raises:
        RequestError: If ``strings`` rejects the value of a field.
    """
    for name in fields:
        given = getattr(instance, name)
        if given is not None:
            found = strings(given, name)
            kept = frozenset(found) if isinstance(given, (set, frozenset)) else found
            object.__setattr__(instance, name, kept)


def shown(value: object) -> str:
    """Return the ``repr`` of a value, shortened to 80 characters."""
    most = 80
    text = repr(value)
    return text if len(text) <= most else text[: most - 1] + "…"
