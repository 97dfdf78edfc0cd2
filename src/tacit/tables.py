"""Read and write TSV, CSV, JSONL and Parquet tables; the suffix selects the format.

In TSV and CSV files, an empty cell is a missing value, and Booleans are written as ``True`` and
``False``. Files are written atomically.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from functools import cache
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit import files
from tacit.delimited import SEPARATORS, not_utf8, read_rows, warn_unnamed, with_header
from tacit.errors import DATA_FRAMES, DataError, RequestError
from tacit.files import publish_bytes
from tacit.strings import comparable, strings

if TYPE_CHECKING:
    import polars as pl

SUFFIXES = (".tsv", ".csv", ".jsonl", ".parquet")
LONGEST_SHOWN = 200
_JSON_KINDS = {str: "text", int: "number", float: "number", bool: "Boolean"}
_TOO_LARGE = 1 << 63


def frame_of(given: Any) -> pl.DataFrame | None:  # noqa: ANN401 - any object
    """Return a polars or pandas frame as a polars frame, with categories as text; else None."""
    library = type(given).__module__.partition(".")[0]
    if library not in {"polars", "pandas"}:
        return None
    import polars as pl

    try:
        if library == "pandas" and type(given).__name__ == "DataFrame":
            named = any(name is not None for name in given.index.names)
            given = pl.from_pandas(given, include_index=named)
        if isinstance(given, pl.LazyFrame):
            given = given.collect()
        return _readable(given) if isinstance(given, pl.DataFrame) else None
    except (TypeError, ValueError, OSError, pl.exceptions.PolarsError) as error:
        reason = str(error).partition("\n")[0]
        raise DataError(f"the data frame cannot be used as a table: {reason}") from error


def table_path(given: Any) -> Path:  # noqa: ANN401 - a path or a data frame
    """Return a path as it is; write a data frame to a temporary Parquet file."""
    if isinstance(given, str | PathLike):
        return Path(given)
    frame = frame_of(given)
    if frame is None:
        raise RequestError(
            f"an object of type {type(given).__name__} is not a table; expected a data frame, or "
            "the path of a file or a folder"
        )
    import polars as pl

    content = BytesIO()
    try:
        frame.write_parquet(content)
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise DataError(f"the data frame cannot be used as a table: {error}") from error
    path = _frames() / f"data-frame-{hashlib.sha256(content.getvalue()).hexdigest()[:16]}.parquet"
    path.write_bytes(content.getvalue())
    return path


def recorded_path(path: Path) -> str:
    """Return a path as a run records it; a data frame has a name that its content determines."""
    made = _frames.cache_info().currsize and path.parent == _frames()
    return path.name if made else str(path)


@cache
def _frames() -> Path:
    folder = tempfile.mkdtemp(prefix=DATA_FRAMES)
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def read_table(source: Any, required: Sequence[str] = ()) -> pl.DataFrame:  # noqa: ANN401
    """Read a table of a file or a data frame; a file's suffix selects the format.

    Args:
        source: The path of a TSV, CSV, JSONL or Parquet file, or a polars or pandas data frame.
        required: The names of columns that the table must have.

    Raises:
        DataError: If the file is missing or malformed, or lacks a required column.

    Examples:
        >>> import polars as pl
        >>> import tacit
        >>> tacit.read_table(pl.DataFrame({"word": ["bear"]}), ("word",)).height
        1
    """
    required = strings(required, "required")
    path = table_path(source)
    suffix = check_suffix(path)
    check_file(path)
    try:
        frame = _READERS[suffix](path)
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error}", path) from error
    unnamed = [name for name in frame.columns if not name.strip()]
    warn_unnamed([frame.columns.index(name) + 1 for name in unnamed], path)
    frame = frame.drop(unnamed)
    _refuse_nested(frame, path)
    missing = [name for name in required if name not in frame.columns]
    if missing:
        raise DataError(
            f"has no column {', '.join(missing)}; expected {', '.join(required)}, "
            f"found {', '.join(frame.columns) or 'none'}",
            path,
            1 if suffix in {".tsv", ".csv"} else None,
        )
    return frame


def columns_of(path: Path) -> list[str]:
    """Return the names of a table's columns; the rows are not read."""
    import polars as pl

    try:
        if path.suffix == ".parquet":
            with path.open("rb") as file:
                return list(pl.read_parquet_schema(file))
        if path.suffix == ".jsonl":
            return list(next(_json_lines(path), (1, {}))[1])
        return next(read_rows(path), (1, []))[1]
    except (OSError, ValueError, pl.exceptions.PolarsError) as error:
        raise DataError(f"cannot be read: {error}", path) from error


def write_table(frame: pl.DataFrame, path: Path | str) -> None:
    """Write a table atomically; the suffix of the file selects the format."""
    import polars as pl

    content, suffix = BytesIO(), check_suffix(path)  # polars hides why it cannot write a file
    if suffix == ".parquet":
        frame.write_parquet(content, metadata={files.KEY: str(files.TABLE)})
    elif suffix == ".jsonl":
        frame.write_ndjson(content)
    else:
        truth = pl.selectors.boolean()
        words = truth.replace_strict([True, False], ["True", "False"], return_dtype=pl.String)
        frame.with_columns(words).write_csv(content, separator=SEPARATORS[suffix])
    publish_bytes(Path(path), content.getbuffer())


def check_suffix(path: Path | str) -> str:
    """Return the suffix of a path, or raise an error if no table format has it."""
    suffix = Path(path).suffix
    if suffix not in SUFFIXES:
        raise DataError(
            f"has the unsupported suffix {suffix!r}; expected one of {', '.join(SUFFIXES)}",
            Path(path),
        )
    return suffix


def line_of_row(path: Path | str, row: int) -> int:
    """Convert a table row's index, counted from 0, to a line number, counted from 1."""
    path = Path(path)
    if path.suffix == ".parquet":
        return row + 1
    if path.suffix == ".jsonl":
        lines = [number for number, _ in _json_lines(path)]
        return lines[row]
    return [line for line, _ in read_rows(path)][row + 1]


def resolved(path: Path) -> Path:
    """Return the absolute path of a file; symbolic links are resolved."""
    try:
        target = path.resolve()
        with contextlib.suppress(FileNotFoundError):
            target.stat()  # raises the errors that `is_file` and `is_dir` suppress
    except (OSError, RuntimeError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        name = str(path)
        shortened = name if len(name) <= LONGEST_SHOWN else f"{name[:LONGEST_SHOWN]}..."
        raise DataError(f"cannot be used as a file's path: {reason}", shortened) from error
    return target


def check_file(path: Path) -> None:
    """Raise an error if a path does not lead to an existing file."""
    target = resolved(path)
    if target.is_dir():
        raise DataError("is a folder; expected a file", path)
    if not target.is_file():
        raise DataError("there is no such file", path)


def _read_separated(path: Path) -> pl.DataFrame:
    import polars as pl

    (_, header), rows = with_header(read_rows(path), path)
    columns = [[cells[at] or None for _, cells in rows] for at in range(len(header))]
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
                if isinstance(record, dict):
                    record = once([(comparable(name), cell) for name, cell in record.items()])
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
    """Convert the key-value pairs of a JSON object to a dictionary; reject duplicate keys."""
    by_key = dict(pairs)
    if len(by_key) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RepeatedKeyError(f"has the key {twice!r} twice; expected it once")
    return by_key


def read_json_lines(path: Path | str) -> list[tuple[int, dict[str, Any]]]:
    """Return the line number and the JSON object of each line that is not blank."""
    path = Path(path)
    check_file(path)
    try:
        return list(_json_lines(path))
    except UnicodeDecodeError as error:
        raise not_utf8(path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error}", path) from error


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
    """Read a Parquet file with any column types; decode dictionary-encoded strings."""
    import polars as pl

    check_file(path)
    try:
        with path.open("rb") as file:  # polars would expand * and [1] in a path
            metadata = pl.read_parquet_metadata(file)
            file.seek(0)
            newer = files.unreadable(metadata.get(files.KEY, files.TABLE), files.TABLE)
            if newer:
                raise DataError(newer, path)
            return _readable(pl.read_parquet(file))
    # polars may panic on a malformed file, and a panic is not a subclass of Exception.
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
    ) as error:
        raise DataError(f"cannot be read as Parquet: {error}", path) from error


def _readable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with categories as text and column names in their comparable form."""
    import polars as pl

    dictionaries = pl.selectors.categorical() | pl.selectors.enum()
    return frame.rename(comparable).with_columns(dictionaries.cast(pl.String))


_READERS = {
    ".tsv": _read_separated,
    ".csv": _read_separated,
    ".jsonl": _read_jsonl,
    ".parquet": read_parquet,
}
