"""Check a command's output files in advance, so that no unrelated file is overwritten."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tacit.errors import DataError, RequestError
from tacit.tables import check_suffix, columns_of, resolved

_LONGEST_HEADER = 1 << 20
_HEAD = 4096  # bytes at the start of a page that include its kind


@dataclass(frozen=True)
class OutputKind:
    """A kind of file that a command writes as output."""

    name: str
    is_own: Callable[[Path], bool]
    is_table: bool = False


def table_with(name: str, *columns: str) -> OutputKind:
    """Return an ``OutputKind`` for files that contain a table with at least the given columns."""
    return OutputKind(name, lambda path: set(columns) <= _columns(path), is_table=True)


def page(kind: Literal["report", "comparison"]) -> OutputKind:
    """Return an ``OutputKind`` for HTML files that contain a report or a comparison."""
    mark = f'content="Tacit {kind} '

    def is_own(path: Path) -> bool:
        with path.open("rb") as file:
            return mark.encode() in file.read(_HEAD)

    return OutputKind(f"a {kind} that Tacit wrote", is_own)


def check_outputs(
    inputs: Iterable[Path],
    outputs: Iterable[tuple[Path | None, OutputKind]],
    *,
    force: bool = False,
) -> None:
    """Reject output files that are invalid or would replace an unrelated file."""
    read = {resolved(path) for path in inputs}
    written: set[Path] = set()
    for path, kind in outputs:
        if path is None:
            continue
        if kind.is_table:
            check_suffix(path)
        target = resolved(path)
        if target.is_dir():
            raise RequestError(f"{path} is a folder; name a file for the result")
        if target in read:
            raise RequestError(f"{path} is an input file; name another file for the result")
        if target in written:
            raise RequestError(f"{path} is given for two results; name a different file for each")
        written.add(target)
        if not target.exists():
            continue
        if not target.is_file():
            raise RequestError(f"{path} is not a regular file; name another file for the result")
        if not (force or target.stat().st_size == 0 or kind.is_own(target)):
            raise RequestError(
                f"{path} exists and is not {kind.name}: name another file for the result, or "
                "overwrite it with --force"
            )


def _columns(path: Path) -> set[str]:
    """Return the column names of a table; empty if the table is not readable."""
    try:
        if path.suffix != ".parquet":
            with path.open("rb") as file:
                if len(file.readline(_LONGEST_HEADER)) == _LONGEST_HEADER:
                    return set()
        return set(columns_of(path))
    except (DataError, OSError):
        return set()
