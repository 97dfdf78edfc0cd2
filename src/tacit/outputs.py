"""The files that a command writes: checked before any work, so that no foreign file is lost.

A command overwrites a file of the kind that it writes itself, so that it can be repeated, and an
empty one. Any other file stays unless the user forces the command.
"""

from __future__ import annotations

import csv
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import RequestError
from tacit.tables import SUFFIXES, check_suffix, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Kind:
    """A kind of file that a command writes.

    Args:
        name: The kind with its article, for messages.
        is_own: Whether an existing file, which is not empty, is of this kind.
        is_table: Whether the file's suffix names the format of a table.
    """

    name: str
    is_own: Callable[[Path], bool]
    is_table: bool = False


def table_with(name: str, *columns: str) -> Kind:
    """Return the kind of the tables that have these columns, and maybe others.

    Args:
        name: The kind with its article, for messages.
        columns: Columns that every table of the kind has.
    """
    return Kind(name, lambda path: set(columns) <= _columns(path), is_table=True)


def check_outputs(
    inputs: Iterable[Path], outputs: Iterable[tuple[Path | None, Kind]], *, force: bool = False
) -> None:
    """Refuse, before any work, files that cannot be written or would overwrite another file.

    Args:
        inputs: The files that are read, of any kind.
        outputs: The files to write, each with its kind; None stands for a file that is not wanted.
        force: Whether existing files are overwritten, whatever they hold.

    Raises:
        DataError: A table has a suffix that names no format of ours, or no file can have the path.
        RequestError: An output is a folder, a device, an input, another output (links followed),
            or, unless forced, an existing file of another kind.
    """
    read = {resolved(path) for path in inputs}
    written: set[Path] = set()
    for path, kind in outputs:
        if path is None:
            continue
        if kind.is_table:
            check_suffix(path)
        place = resolved(path)
        if place.is_dir():
            raise RequestError(f"{path} is a folder; name a file for the result")
        if place in read:
            raise RequestError(f"{path} is a file that is read; name another for the result")
        if place in written:
            raise RequestError(f"{path} is named for two results; name a file for each")
        written.add(place)
        if not place.exists():
            continue
        if not place.is_file():
            raise RequestError(f"{path} is no regular file; name another for the result")
        if not (force or place.stat().st_size == 0 or kind.is_own(place)):
            raise RequestError(
                f"{path} exists and is not {kind.name}: name another file for the result, or "
                "overwrite it with --force"
            )


def _columns(path: Path) -> set[str]:
    """The columns of a table; none if the file cannot be read as a table."""
    import polars as pl

    try:
        if path.suffix == ".parquet":
            with path.open("rb") as file:
                return set(pl.read_parquet_schema(file))
        with path.open(encoding="utf-8-sig", newline="") as lines:
            first = lines.readline(_LONGEST_HEADER)
        if path.suffix == ".jsonl":
            record = json.loads(first)
            return set(record) if isinstance(record, dict) else set()
        if path.suffix in SUFFIXES:
            return set(next(csv.reader([first], delimiter="," if path.suffix == ".csv" else "\t")))
    except (OSError, ValueError, RecursionError, csv.Error, pl.exceptions.PolarsError):
        return set()
    return set()
