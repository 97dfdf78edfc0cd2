"""Errors about missing data files; the messages list suitable published data sets."""

from __future__ import annotations

from pathlib import Path

from tacit.errors import DataError
from tacit.tables import resolved


def check_exists(path: Path, kind: str, *, folder: bool = False) -> None:
    """Raise an error that lists suitable data sets, if a path does not exist."""
    found = resolved(path)
    if found.is_file() or (folder and found.is_dir()):
        return
    from tacit.sources.registry import registry

    problem = "there is no such file or folder" if folder else "there is no such file"
    if found.is_dir():
        problem = "is a folder"
    raise DataError(f"{problem}; expected {registry().kinds[kind].expected}; {advice(kind)}", path)


def advice(kind: str) -> str:
    """Return text for an error message: the data sets of a kind, and where to get them."""
    from tacit.sources.registry import registry

    known = registry()
    sources = known.of_kind(kind)
    listed = ", ".join(f"{source.label} ({source.access})" for source in sources)
    name = f" {sources[0].name}" if len(sources) == 1 else ""
    return f"{known.kinds[kind].noun} that Tacit reads: {listed}; see tacit show sources{name}"
