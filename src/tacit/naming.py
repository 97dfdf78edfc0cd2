"""Names of things, concepts and models as names of files, on whatever file system."""

from __future__ import annotations

import re

_LONGEST = 100
# File systems count bytes, up to 255, and a suffix or a number may follow.
_BYTES = 200
# Windows opens a device by these, whatever their suffix.
_DEVICE = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\.|$)", re.IGNORECASE)


def legible(name: str) -> str:
    r"""A name that may not be UTF-8 as text, the bytes that are none escaped: ``runs\udcff``."""
    return name.encode(errors="backslashreplace").decode()


def file_name(words: str) -> str:
    """The words as a file's name, without a suffix: letters, digits, dots, hyphens, underscores.

    Two different words may give the same name. It is never empty, never ``.`` or ``..``, holds
    nothing that separates folders and no control character, and is no device's.
    """
    name = re.sub(r"[^\w.-]+", "-", words)
    # The end of a name is what tells most: a checkpoint's number, a model's size.
    name = name[-_LONGEST:].encode(errors="replace")[-_BYTES:].decode(errors="ignore")
    name = name.strip(".-") or "_"
    return f"_{name}" if _DEVICE.match(name) else name
