"""Errors about missing data files, which list published data sets of the missing kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.tables import resolved

if TYPE_CHECKING:
    from pathlib import Path


def check_exists(path: Path, kind: str, *, folder: bool = False) -> None:
    """Check that a path exists; if not, raise an error that lists suitable data sets.

    Args:
        path: The path from the user.
        kind: The expected kind of data, a key of ``registry().kinds``.
        folder: Whether a folder is accepted as well as a file.

    Raises:
        DataError: There is no such file or folder, or the path is invalid.
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
    """List the data sets of a kind and where to find them, for the end of an error message."""
    from tacit.sources.registry import registry

    known = registry()
    sources = known.of_kind(kind)
    listed = ", ".join(f"{source.label} ({source.access})" for source in sources)
    name = f" {sources[0].name}" if len(sources) == 1 else ""
    return f"{known.kinds[kind].noun} that Tacit reads: {listed}; see tacit show sources{name}"
