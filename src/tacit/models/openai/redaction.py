"""Redaction of secrets, such as the API key, in what a server sends."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

SHOWN = "[key]"
"""The text that replaces a secret."""

SHORTEST = 8
"""The minimum length, in characters, of a secret that is redacted in answers.

A secret of fewer than ``SHORTEST`` characters, such as ``EMPTY``, could be an ordinary word.
"""


def hider(*secrets: str | None) -> Callable[[str], str]:
    """Return a function that replaces secrets of any length in a text; None is ignored."""
    known = {
        spelling
        for secret in secrets
        if secret
        for spelling in (secret, json.dumps(secret)[1:-1], secret.replace("/", "\\/"))
    }
    longest_first = sorted(known, key=len, reverse=True)

    def hide(text: str) -> str:
        for spelling in longest_first:
            text = text.replace(spelling, SHOWN)
        return text

    return hide


def reader(*secrets: str | None) -> Callable[[bytes], object]:
    """Return a JSON parser that replaces secrets of ``SHORTEST`` characters or more."""
    hide = hider(*(secret for secret in secrets if secret and len(secret) >= SHORTEST))

    def clean(value: Any) -> Any:  # noqa: ANN401 - any JSON
        if isinstance(value, str):
            return hide(value)
        if isinstance(value, list):
            return [clean(one) for one in value]
        return (
            {hide(key): clean(one) for key, one in value.items()}
            if isinstance(value, dict)
            else value
        )

    def read(content: bytes) -> object:
        text = content.decode(json.detect_encoding(content), "surrogatepass")
        try:
            return json.loads(hide(text))
        except ValueError:  # a secret of digits occurs in numbers, too
            return clean(json.loads(text))

    return read
