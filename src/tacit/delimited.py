"""Read delimited text by the quoting rules of CSV; the suffix of the file selects the separator.

A cell that begins with a quotation mark ends with one, and quotation marks within it are doubled. A
quotation mark at any other position of a cell is text.
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path

from tacit.english import several
from tacit.errors import DataError, path_text
from tacit.strings import comparable

log = logging.getLogger(__name__)
csv.field_size_limit(2**31 - 1)

Numbered = tuple[int, list[str]]

SEPARATORS = {".dat": "\t", ".txt": "\t", ".tsv": "\t", ".csv": ","}
_NAMES = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}


def read_rows(path: Path) -> Iterator[Numbered]:
    """Yield the number of the first line and the cells of each row."""
    begin, separator = 1, SEPARATORS.get(path.suffix.lower(), "\t")
    width: int | None = None
    try:
        with path.open(encoding="utf-8-sig", newline="\n") as file:
            reader = csv.reader(file, delimiter=separator, strict=True)
            for cells in reader:
                if cells or width == 1:
                    yield begin, cells or [""]
                    width = len(cells) if width is None else width
                begin = reader.line_num + 1
    except csv.Error as error:
        if begin == 1:
            with path.open(encoding="utf-8-sig") as file:
                header = file.readline()
            if separator not in header:
                _check_separator([header], path, 1)
        raise DataError(
            f"is malformed: {error}; a cell that begins with a quote must end with one, quotes "
            "within it must be doubled, and lines must end with LF or CRLF",
            path,
            begin,
        ) from error
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error


def not_utf8(path: Path) -> DataError:
    """Return an error that names the first line of a file that is not UTF-8."""
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                line.decode()
            except UnicodeDecodeError as error:
                return DataError(
                    f"is not UTF-8 text ({error.reason}); save the file as UTF-8", path, number
                )
    return DataError("is not UTF-8 text; save the file as UTF-8", path)


def with_header(
    rows: Iterable[Numbered], path: Path, *, uneven: bool = False
) -> tuple[Numbered, list[Numbered]]:
    """Return the header and the rows, each with as many cells as the header."""
    remaining = iter(rows)
    first, header = next(remaining, (1, []))
    header = list(map(comparable, header))
    if not any(header):
        raise DataError("is empty; expected a header line", path)
    _check_separator(header, path, first)
    repeated = sorted({name for name in header if name and header.count(name) > 1})
    if repeated:
        raise DataError(f"names the column {', '.join(repeated)} twice", path, first)
    named = [at for at, name in enumerate(header) if name]
    kept, ignored = [], set[int]()
    for line, cells in remaining:
        if uneven and not any(cells[len(header) :]):
            cells[len(header) :] = []
            cells.extend([""] * (len(header) - len(cells)))
        if len(cells) != len(header):
            raise _ragged(cells, header, path, line)
        if len(named) == len(header):
            kept.append((line, cells))
        else:
            ignored |= {at for at, cell in enumerate(cells, 1) if cell}
            kept.append((line, [cells[at] for at in named]))
    warn_unnamed(ignored.difference(at + 1 for at in named), path)
    return (first, [header[at] for at in named]), kept


def warn_unnamed(places: Iterable[int], path: Path) -> None:
    """Warn that columns without a name are ignored; the columns are counted from 1."""
    ignored = ", ".join(map(str, sorted(places)))
    if ignored:
        log.warning("%s: columns without a name are ignored: column %s", path_text(path), ignored)


def _check_separator(header: list[str], path: Path, line: int) -> None:
    expected = SEPARATORS.get(path.suffix.lower())
    if expected is None or len(header) > 1:
        return
    used = next((name for mark, name in _NAMES.items() if mark in header[0]), None)
    if used is not None:
        raise DataError(
            f"the columns seem to be separated by {used}, but {path.suffix} requires "
            f"{_NAMES[expected]}; save the file with {_NAMES[expected]}, and with decimal points "
            "in numbers",
            path,
            line,
        )


def _ragged(cells: list[str], header: list[str], path: Path, line: int) -> DataError:
    hint = ""
    if len(cells) == len(header) + 1:
        hint = (
            ". Write decimal points in numbers, quote a cell that contains the separator, and give "
            "a column of row names a name (in R: row.names = FALSE)"
        )
    return DataError(
        f"has {several(len(cells), 'cell')}; the header has {len(header)}: {', '.join(header)}"
        f"{hint}",
        path,
        line,
    )
