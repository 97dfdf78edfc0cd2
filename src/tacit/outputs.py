"""Check a command's output files in advance, so that no unrelated file is overwritten.

A command may overwrite an empty file, or a file of the kind that it writes. A user can repeat a
command, because the command may overwrite its own earlier output. Without the option ``--force``, a
command does not overwrite a non-empty file that differs in kind from the command's own output.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.errors import DataError, RequestError
from tacit.tables import check_suffix, columns_of, resolved

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

_LONGEST_HEADER = 1 << 20


@dataclass(frozen=True)
class Kind:
    """A kind of file that a command writes as output.

    Args:
        name: A noun phrase for this kind of file, including the article, such as "a knowledge
            base", for use in error messages.
        is_own: A function that receives the path of an existing file that is not empty, and returns
            whether the file is of this kind.
        is_table: Whether the file is a table. The suffix of a table's file name determines the
            format of the file.
    """

    name: str
    is_own: Callable[[Path], bool]
    is_table: bool = False


def table_with(name: str, *columns: str) -> Kind:
    """Return a ``Kind`` for files that contain a table with at least the given columns.

    Args:
        name: A noun phrase for this kind of table, including the article, such as "a table of
            prompts", for use in error messages.
        columns: The names of the columns that every table of this kind must contain.
    """
    return Kind(name, lambda path: set(columns) <= _columns(path), is_table=True)


def check_outputs(
    inputs: Iterable[Path], outputs: Iterable[tuple[Path | None, Kind]], *, force: bool = False
) -> None:
    """Reject output files that are invalid or would replace an unrelated file.

    Args:
        inputs: The input files of the command.
        outputs: The output files of the command, each with its kind. If an output is not requested,
            its path is None.
        force: Whether to overwrite existing files of any kind.

    Raises:
        DataError: If the suffix of a table's file name is not that of a supported format, or a path
            is invalid.
        RequestError: If an output path is a folder, a device or an input file, or if two output
            paths point to the same file. Input and output paths are compared after symbolic links
            are resolved. If ``force`` is False and the output would overwrite a non-empty file of a
            different kind.
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
            raise RequestError(f"{path} is an input file; name another file for the result")
        if place in written:
            raise RequestError(f"{path} is given for two results; name a different file for each")
        written.add(place)
        if not place.exists():
            continue
        if not place.is_file():
            raise RequestError(f"{path} is not a regular file; name another file for the result")
        if not (force or place.stat().st_size == 0 or kind.is_own(place)):
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
