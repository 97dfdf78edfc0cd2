"""Errors for missing data files; each error lists published data sets of the missing kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables import resolved

if TYPE_CHECKING:
    from pathlib import Path


def check_exists(path: Path, kind: str, *, folder: bool = False) -> None:
    """Check that a path exists; otherwise, raise an error that lists suitable data sets.

    Args:
        path: The path from the user.
        kind: The kind of data that is expected: a key of ``registry().kinds``.
        folder: Whether a folder is also accepted, in addition to a file.

    Raises:
        DataError: If there is no such file or folder, or the path is invalid.
    """
    found = resolved(path)
    if found.is_file() or (folder and found.is_dir()):
        return
    from tacit.sources.registry import registry

    problem = "there is no such file or folder" if folder else "there is no such file"
    if found.is_dir():
        problem = "is a folder"
    raise DataError(f"{problem}; expected {registry().kinds[kind].expected}; {advice(kind)}", path)


def advice(kind: str) -> str:
    """List the data sets of a kind with their sources, for the end of an error message."""
    from tacit.sources.registry import registry

    known = registry()
    sources = known.of_kind(kind)
    listed = ", ".join(f"{source.label} ({source.access})" for source in sources)
    name = f" {sources[0].name}" if len(sources) == 1 else ""
    return f"{known.kinds[kind].noun} that Tacit reads: {listed}; see tacit show sources{name}"
