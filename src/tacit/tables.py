"""Read and write TSV, CSV, JSONL and Parquet tables; the suffix selects the format.

TSV files have no quoted cells, so each row is exactly one line. CSV files use standard quoting. In
TSV and CSV files, an empty cell is a missing value, and Booleans are written as ``True`` and
``False``. Files are written atomically.
"""

from __future__ import annotations

import contextlib
import csv
import json
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import files
from tacit.english import several
from tacit.errors import DataError
from tacit.files import publish_bytes
from tacit.strings import strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import polars as pl

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
LONGEST_SHOWN = 200
_JSON_KINDS = {str: "text", int: "number", float: "number", bool: "Boolean"}
_TOO_LARGE = 1 << 63


def read_table(path: Path | str, required: Sequence[str] = ()) -> pl.DataFrame:
    """Read a table; the suffix of the file selects the format.

    Cells of TSV and CSV files are read as strings. Empty cells of TSV and CSV files are read as
    null.

    Args:
        path: The path of the table.
        required: The columns that the table must have. Columns that are not in ``required`` are
            also read.

    Raises:
        DataError: If the file is missing, has an unsupported suffix, lacks a required column, or
            contains a malformed row. For a malformed row, the error message contains the line
            number. If a column contains lists, records or bytes, or if a column of a JSONL file
            contains values of different types.
    """
    required = strings(required, "required")
    path = Path(path)
    suffix = _suffix_of(path)
    check_file(path)
    try:
        frame = _READERS[suffix](path)
    except (UnicodeDecodeError, OSError) as error:
        raise DataError(f"cannot be read as UTF-8 {suffix[1:].upper()}: {error}", path) from error
    _refuse_nested(frame, path)
    missing = [name for name in required if name not in frame.columns]
    if missing:
        raise DataError(
            f"has no column {', '.join(missing)}; expected {', '.join(required)}, "
            f"found {', '.join(frame.columns) or 'none'}{separator_hint(frame.columns, suffix)}",
            path,
            1 if suffix in {".tsv", ".csv"} else None,
        )
    return frame


def separator_hint(columns: Sequence[str], suffix: str) -> str:
    """Return a hint about the separator if the header of a table has only one column."""
    tabs = dict.fromkeys((".tsv", ".dat", ".txt"), ("\t", "tabs"))
    expected = {".csv": (",", "commas"), **tabs}.get(suffix)
    others = {";": "semicolons", ",": "commas", "\t": "tabs", "|": "bars"}
    if expected is None or len(columns) != 1:
        return ""
    used = next((name for mark, name in others.items() if mark in columns[0]), None)
    if used is None:
        return ""
    return f"; the columns seem to be separated by {used}, but {suffix} requires {expected[1]}"


def write_table(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a table atomically; the suffix of the file selects the format.

    Raises:
        DataError: If the suffix of the file is not supported. If a cell or a column name of a TSV
            file contains a tab or a line break.
        WorkError: If the file cannot be written.
    """
    write_tables([(frame, Path(path))])


def write_tables(tables: Sequence[tuple[pl.DataFrame, Path]]) -> None:
    """Write several tables, each atomically; if a table is invalid, no table is written.

    Raises:
        DataError: If the suffix of a file is not supported. If a cell or a column name of a TSV
            file contains a tab or a line break. No table is written if a ``DataError`` is raised.
        WorkError: If a file cannot be written. If writing one of the files fails, the earlier
            tables in ``tables`` have already been written.
    """
    for frame, path in tables:
        if _suffix_of(path) == ".tsv":
            _refuse_breaks(frame, path)
    for frame, path in tables:
        _WRITERS[path.suffix](frame, path)


def check_suffix(path: Path | str) -> None:
    """Raise an error if the suffix of a path is not that of a supported table format.

    Raises:
        DataError: If the suffix of the path is not that of a TSV, CSV, JSONL or Parquet file.
    """
    _suffix_of(Path(path))


def line_of_row(path: Path | str, row: int) -> int:
    """Convert a table row's index, counted from 0, to a line number, counted from 1."""
    path = Path(path)
    if path.suffix == ".parquet":
        return row + 1
    if path.suffix == ".jsonl":
        lines = [number for number, _ in _json_lines(path)]
        return lines[row]
    lines = [line for line, cells in _numbered_rows(path) if cells]
    return lines[row + 1]


def _suffix_of(path: Path) -> str:
    if path.suffix not in SUFFIXES:
        raise DataError(
            f"has the unsupported suffix {path.suffix!r}; expected one of {', '.join(SUFFIXES)}",
            path,
        )
    return path.suffix


def resolved(path: Path) -> Path:
    """Return the absolute path of a file; symbolic links are resolved.

    Raises:
        DataError: If the path is invalid or cannot be accessed.
    """
    try:
        place = path.resolve()
        with contextlib.suppress(FileNotFoundError):
            place.stat()  # raises the errors that `is_file` and `is_dir` suppress
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DataError(f"cannot be used as a file's path: {reason}", _shown(path)) from error
    return place


def _shown(path: Path) -> str:
    """Return a path as text for error messages, with at most 200 characters."""
    name = str(path)
    return name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."


def check_file(path: Path) -> None:
    """Raise an error if a path does not lead to an existing file.

    Raises:
        DataError: If the file does not exist, the path belongs to a folder, or the path is invalid.
    """
    place = resolved(path)
    if place.is_dir():
        raise DataError("is a folder; expected a file", path)
    if not place.is_file():
        raise DataError("there is no such file", path)


def _numbered_rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the number of each row's first line and the row's cells; a blank row has no cells."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        if path.suffix == ".tsv":
            for number, line in enumerate(file, 1):
                stripped = line.rstrip("\r\n")
                yield number, stripped.split("\t") if stripped else []
        else:
            reader = csv.reader(file, strict=True)  # an unclosed quote is an error, not a long cell
            begin = 1
            try:
                for row in reader:
                    yield begin, row
                    begin = reader.line_num + 1
            except csv.Error as error:
                raise DataError(f"is not valid CSV: {error}", path, begin) from error


def _read_separated(path: Path) -> pl.DataFrame:
    import polars as pl

    rows = ((line, cells) for line, cells in _numbered_rows(path) if cells)
    try:
        _, header = next(rows)
    except StopIteration:
        raise DataError("is empty; expected a header line", path) from None
    repeated = sorted({name for name in header if header.count(name) > 1})
    if repeated:
        raise DataError(f"names the column {', '.join(repeated)} twice", path, 1)
    columns: list[list[str | None]] = [[] for _ in header]
    for line, cells in rows:
        if len(cells) != len(header):
            raise DataError(
                f"has {several(len(cells), 'cell')}; the header has {len(header)}: "
                f"{', '.join(header)}",
                path,
                line,
            )
        for column, cell in zip(columns, cells, strict=True):
            column.append(cell or None)
    return pl.DataFrame(
        dict(zip(header, columns, strict=True)), schema=dict.fromkeys(header, pl.String)
    )


def _json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    with path.open(encoding="utf-8-sig") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                record = json.loads(line, object_pairs_hook=once)
                # An escape can be a lone surrogate (\ud800), which UTF-8 cannot encode.
                json.dumps(record, ensure_ascii=False).encode()
            except UnicodeEncodeError as error:
                raise DataError(
                    "has an unpaired surrogate; expected valid Unicode", path, number
                ) from error
            except RepeatedKeyError as error:
                raise DataError(str(error), path, number) from error
            except (ValueError, RecursionError) as error:
                raise DataError(f"is not JSON: {error}", path, number) from error
            if not isinstance(record, dict):
                raise DataError(f"is {type(record).__name__}, not a JSON object", path, number)
            yield number, record


class RepeatedKeyError(ValueError):
    """A JSON object contains a key twice; by default, Python silently keeps the last value."""


def once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Convert the key-value pairs of a JSON object to a dictionary; reject duplicate keys.

    The function serves as the argument ``object_pairs_hook`` of ``json.loads``.

    Raises:
        RepeatedKeyError: If a key occurs twice.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"has the key {twice!r} twice; expected it once")
    return found


def read_json_lines(path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Return the line number and the JSON object of each line that is not blank.

    Raises:
        DataError: If the file is missing, or one of its lines is not a JSON object.
    """
    path = Path(path)
    check_file(path)
    try:
        return list(_json_lines(path))
    except (UnicodeDecodeError, OSError) as error:
        raise DataError(f"cannot be read as UTF-8 JSONL: {error}", path) from error


def _read_jsonl(path: Path) -> pl.DataFrame:
    import polars as pl

    records = []
    kinds: dict[str, str] = {}
    for line, record in _json_lines(path):
        _check_kinds(record, kinds, path, line)
        records.append(record)
    try:
        return pl.DataFrame(records, infer_schema_length=None, strict=False)
    except (pl.exceptions.PolarsError, TypeError, OverflowError) as error:
        raise DataError(f"cannot be read as a table: {error}", path) from error


def _check_kinds(record: dict[str, Any], kinds: dict[str, str], path: Path, line: int) -> None:
    """Raise an error if a cell's type differs from that of earlier cells in its column."""
    for name, cell in record.items():
        if cell is None:
            continue
        kind = _JSON_KINDS.get(type(cell))
        if kind is None:
            raise DataError(
                f"has a {type(cell).__name__} in {name}; expected text, a number, true, false or "
                "null",
                path,
                line,
            )
        if kind == "number" and abs(cell) >= _TOO_LARGE and isinstance(cell, int):
            raise DataError(f"has an integer of more than 64 bits in {name}", path, line)
        if kinds.setdefault(name, kind) != kind:
            raise DataError(
                f"has a {kind} in {name}, but the lines above have a {kinds[name]}; "
                "use one type per column",
                path,
                line,
            )


def _refuse_nested(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise DataError(
                f"column {name} has the type {dtype}; expected text, numbers or Booleans", path
            )


def read_parquet(path: Path) -> pl.DataFrame:
    """Read a Parquet file with any column types; decode dictionary-encoded strings.

    Raises:
        DataError: If the file is missing or cannot be read.
    """
    import polars as pl

    check_file(path)
    try:
        with path.open("rb") as file:  # polars would expand * and [1] in a path
            metadata = pl.read_parquet_metadata(file)
            file.seek(0)
            newer = files.unreadable(metadata.get(files.KEY, files.TABLE), files.TABLE)
            if newer:
                raise DataError(newer, path)
            frame = pl.read_parquet(file)
        dictionaries = pl.selectors.categorical() | pl.selectors.enum()
        return frame.with_columns(dictionaries.cast(pl.String))
    # polars may panic on a malformed file, and a panic is not a subclass of Exception.
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
    ) as error:
        raise DataError(f"cannot be read as Parquet: {error}", path) from error


def _refuse_breaks(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    for name in frame.columns:
        if any(character in name for character in "\t\r\n"):
            raise DataError(
                f"the name of column {name!r} contains a tab or a line break; write CSV instead",
                path,
            )
        column = frame[name]
        if column.dtype in (pl.String, pl.Categorical, pl.Enum):
            broken = column.cast(pl.String).str.contains(r"[\t\r\n]").any()
            if broken:
                raise DataError(
                    f"column {name} contains a tab or a line break; write CSV instead", path
                )


def _write_separated(frame: pl.DataFrame, path: Path) -> None:
    import polars as pl

    truth = pl.selectors.boolean()
    words = truth.replace_strict([True, False], ["True", "False"], return_dtype=pl.String)
    text = frame.with_columns(words)
    quoting: Any = "necessary" if path.suffix == ".csv" else "never"
    separator = "," if path.suffix == ".csv" else "\t"
    _publish(path, partial(text.write_csv, separator=separator, quote_style=quoting))


def _write_jsonl(frame: pl.DataFrame, path: Path) -> None:
    _publish(path, frame.write_ndjson)


def _write_parquet(frame: pl.DataFrame, path: Path) -> None:
    metadata = {files.KEY: str(files.TABLE)}
    _publish(path, lambda file: frame.write_parquet(file, metadata=metadata))


def _publish(path: Path, write: Callable[[BytesIO], object]) -> None:
    """Write a file through a buffer, because polars hides why a write to a file failed."""
    content = BytesIO()
    write(content)
    publish_bytes(path, content.getbuffer())


_READERS = {
    ".tsv": _read_separated,
    ".csv": _read_separated,
    ".jsonl": _read_jsonl,
    ".parquet": read_parquet,
}
_WRITERS = {
    ".tsv": _write_separated,
    ".csv": _write_separated,
    ".jsonl": _write_jsonl,
    ".parquet": _write_parquet,
}
