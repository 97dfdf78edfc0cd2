"""Formats of the files that Tacit writes for itself, by number: a newer one is refused.

A number grows whenever what a file holds means something else than before.
"""

from __future__ import annotations

from tacit.errors import DISTRIBUTION

RUN = 1
"""Of a run's folder: its request, manifest, questions and recorded blocks."""

TABLE = 1
"""Of a Parquet table, such as a finding."""

SEGMENT = 1
"""Of a segment of the store."""

KEY = "tacit.format"
"""Under which a Parquet file carries its number, among its key-value metadata."""


def unreadable(found: object, known: int) -> str | None:
    """Why a file cannot be read, by its number; None where it can be.

    Args:
        found: The number that it carries, as a number or in digits.
        known: The newest format of its kind that this Tacit reads.
    """
    text = str(found)
    if not text.isascii() or not text.isdigit() or isinstance(found, bool):
        return f"is damaged: its format is {text[:40]!r}, which is no number"
    if int(text[:9]) > known:
        return (
            f"was written by a newer Tacit: format {text[:9]}, this one reads up to {known}; "
            f"upgrade {DISTRIBUTION}"
        )
    return None
