"""Readers of large knowledge base files: ConceptNet's assertions, or plain triples."""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from dataclasses import dataclass, field
from functools import partial, reduce
from typing import TYPE_CHECKING, Literal

from tacit.english import several
from tacit.errors import DataError, RequestError, path_text
from tacit.sources.missing import check_exists
from tacit.sources.streams import SUBSTITUTE, Counted, Legible
from tacit.strings import convert_strings
from tacit.tables import line_of_row, read_table, table_path

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import polars as pl
    import pyarrow as pa
    from pyarrow import csv

log = logging.getLogger(__name__)

Layout = Literal["assertions", "triples"]

ASSERTIONS = ("uri", "relation", "head", "tail", "info")
TRIPLES = ("relation", "head", "tail")
KNOWN = (*TRIPLES, "weight")
_HEADER = {
    **dict(zip(KNOWN, KNOWN, strict=True)),
    "rel": "relation",
    "predicate": "relation",
    "subject": "head",
    "object": "tail",
}
_QUOTED = '^"(?:[^"]|"")*"$'
_TABLES = (".jsonl", ".parquet")
# A file with a higher share of bad lines is assumed to have another format.
TOLERATED = 0.01
SHOWN = 5
# Reading stops after this many bad lines, if most lines are bad.
_HOPELESS = 1000
# More blank lines than this, if most lines are blank, are an error: 3 MB of gzip can hold 3e9.
_BLANK = 1_000_000
_BLOCK = 8 << 20
_GZIP = b"\x1f\x8b"
_LONGEST_SHOWN = 120


@dataclass
class Dump:
    """A knowledge base file (assertions or triples), with counts of the lines read so far."""

    path: Path
    language: str = "en"
    columns: tuple[str, ...] = ()
    lines: int = 0
    bad: int = 0
    shown: list[tuple[int, str]] = field(default_factory=list)
    _rows: int = 0
    _blank: int = 0
    # Lines that the parser skipped; recorded while line numbers of bad rows are needed.
    _passed: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.path = table_path(self.path)
        convert_strings(self, "columns")
        given = self.columns
        if given and not _are_triples(given):
            raise RequestError(
                f"the columns {','.join(given)} are invalid; expected relation, head and "
                "tail, and optionally weight, each once"
            )
        # All columns of the file; the name of a column that is not read is its number.
        self._names: tuple[str, ...] = given or TRIPLES
        self._header: dict[str, str] = {}
        self._table: pl.DataFrame | None = None
        self._text: Legible | None = None
        self.layout: Layout = self._recognised()
        self.columns = tuple(name for name in self._names if name in KNOWN)
        if given and self.layout == "triples" and self.columns != given:
            raise DataError(
                f"has the columns {', '.join(self.columns)}, but --columns says {','.join(given)}; "
                "leave out --columns",
                self.path,
                1,
            )
        self._bytes = Counted(self.path)

    @property
    def bytes_read(self) -> int:
        """The number of bytes read from the file so far; for a gzip file, compressed bytes."""
        return self._bytes.read_so_far

    @property
    def sha256(self) -> str:
        """The SHA-256 hash of the bytes read so far; at the file's end, the hash of the file."""
        return self._bytes.sha256.hexdigest()

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the valid rows of the file (triples or assertions) in file order."""
        import pyarrow as pa

        table = self._table
        try:
            with self._bytes:
                for batch in self._parsed() if table is None else self._of_table(table):
                    yield self._good(batch)
                    if self.bad > _HOPELESS and 2 * self.bad > self.lines:
                        break
        except pa.ArrowInvalid as error:
            raise DataError(f"cannot be read as a dump: {error}", self.path) from error
        except OSError as error:
            raise DataError(
                f"is truncated or damaged ({error}); download it again and compare its size",
                self.path,
            ) from error

    def reject(self, row: int, text: str) -> None:
        """Count a row from ``batches`` as a malformed line."""
        line = row + 1
        for passed in sorted(self._passed):
            line += passed <= line
        if self._table is not None and len(self.shown) < SHOWN:
            line = line_of_row(self.path, row)
        self._count_bad(line, text)

    def check(self) -> None:
        """Raise an error if more than 1 % of the lines that have been read are malformed."""
        if self.bad <= TOLERATED * self.lines:
            return
        raise DataError(
            f"has {several(self.bad, 'malformed line')} out of {self.lines:,}; expected the layout "
            f"of the first line ({self.layout}); {self.bad_line_text()}",
            self.path,
        )

    def bad_line_text(self) -> str:
        """Return the first malformed lines with their line numbers, as text for a message."""
        return "; ".join(f"line {line}: {text!r}" for line, text in sorted(self.shown))

    def _recognised(self) -> Layout:
        """Detect the layout of the file from its column names or its first line."""
        check_exists(self.path, "dumps")
        if self.path.suffix in _TABLES:
            self._table = read_table(self.path)
            number, cells = 1, self._table.columns
        else:
            number, first = self._first_line()
            cells = first.split("\t")
            if len(cells) == len(ASSERTIONS) and cells[0].startswith("/a/"):
                return "assertions"
            cells = [_unquoted(cell) for cell in cells]
        names = tuple(
            _HEADER.get(cell.strip().lower(), str(at)) for at, cell in enumerate(cells, 1)
        )
        if _are_triples([name for name in names if name in KNOWN]):
            self._names, self._header = names, dict(zip(names, cells, strict=True))
            self._warn_ignored()
            return "triples"
        triple = dict(zip(self._names, cells, strict=False))
        headless = self._table is None and "relation" not in names
        if headless and len(cells) == len(self._names) and all(triple[n].strip() for n in TRIPLES):
            return "triples"
        raise DataError(
            "is not a dump: expected the five columns of ConceptNet's assertions, the first of "
            f"which begins with /a/, or the columns {', '.join(self._names)}, separated by tabs, "
            "in this order or in the order of a header line that names them; "
            f"found {_cut(chr(9).join(cells))!r}",
            self.path,
            number,
        )

    def _warn_ignored(self) -> None:
        ignored = [
            cell.strip() or f"column {name}"
            for name, cell in self._header.items()
            if name not in KNOWN
        ]
        if ignored:
            log.warning(
                "%s: these columns are ignored: %s", path_text(self.path), ", ".join(ignored)
            )

    def _first_line(self) -> tuple[int, str]:
        """Return the number and the text of the first line that is not blank."""
        try:
            with (gzip.open if self._compressed() else open)(self.path, "rb") as file:
                lines = iter(partial(file.readline, _BLOCK), b"")
                for number, line in enumerate(lines, 1):
                    if line.strip():
                        return number, line.rstrip(b"\r\n").decode("utf-8-sig", "replace")
                    if number > _BLANK:
                        raise DataError(f"begins with more than {_BLANK:,} blank lines", self.path)
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(f"cannot be read: {error}", self.path) from error
        raise DataError("is empty", self.path)

    def _compressed(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(_GZIP)) == _GZIP

    def _parsed(self) -> csv.CSVStreamingReader:
        import pyarrow as pa
        from pyarrow import csv

        stream = pa.PythonFile(self._bytes, mode="r")
        if self._compressed():
            stream = pa.CompressedInputStream(stream, "gzip")
        self._text = Legible(stream)
        names = ASSERTIONS if self.layout == "assertions" else self._names
        read = ASSERTIONS[1:] if self.layout == "assertions" else self.columns
        return csv.open_csv(
            pa.PythonFile(self._text, mode="r"),
            # Line counts need a single thread, which is no slower: decompression takes the time.
            csv.ReadOptions(column_names=names, block_size=_BLOCK, use_threads=False),
            csv.ParseOptions(
                delimiter="\t",
                quote_char=False,
                ignore_empty_lines=False,
                invalid_row_handler=self._pass_over,
            ),
            csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                include_columns=read,
                check_utf8=False,
            ),
        )

    def _of_table(self, table: pl.DataFrame) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a table as text; read its file for the hash."""
        import polars as pl

        while self._bytes.read(_BLOCK):
            pass
        places = {name: place for place, name in enumerate(self._names)}
        texts = table.select(
            pl.nth(places[name]).cast(pl.String).fill_null("").alias(name) for name in self.columns
        )
        yield from texts.to_arrow(compat_level=pl.CompatLevel.oldest()).to_batches()

    def _pass_over(self, row: csv.InvalidRow) -> str:
        """Count a line that has too few or too many columns."""
        self.lines += 1
        if len(self.shown) < SHOWN:
            self._passed.append(row.number)
        self._count_bad(row.number, row.text)
        return "skip"

    def _count_bad(self, line: int, text: str) -> None:
        self.bad += 1
        if len(self.shown) < SHOWN:
            self.shown.append((line, _cut(text)))

    def _good(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch's valid rows in the chosen language; count its malformed rows."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        numbers = pa.array(np.arange(self._rows, self._rows + batch.num_rows))
        self._rows += batch.num_rows
        self.lines += batch.num_rows
        batch = batch.append_column("row", numbers)
        if self.layout == "assertions":
            formed = _as_assertions(batch)
        else:
            batch, closed = (batch, True) if self._table is not None else _without_quotes(batch)
            formed = pc.and_(closed, _as_triples(batch))
        if self._text is not None and self._text.substituted:
            formed = pc.and_(formed, _is_legible(batch))
        if not pc.all(formed).as_py():
            blank = _is_blank(batch)
            self._count_blank(pc.sum(blank, min_count=0).as_py())
            self._reject_malformed(batch.filter(pc.invert(pc.or_(formed, blank))))
        if self.layout == "assertions":
            place = f"/c/{self.language}/"
            for name in ("head", "tail"):
                formed = pc.and_(formed, pc.starts_with(batch[name], place))
        if self._header and self._table is None:
            same = [pc.equal(batch[name], self._header[name]) for name in TRIPLES]
            formed = pc.and_(formed, pc.invert(reduce(pc.and_, same)))
        return batch.filter(formed)

    def _reject_malformed(self, batch: pa.RecordBatch) -> None:
        for row in batch.to_pylist():
            number = row.pop("row")
            cells = list(row.values())
            self.reject(number, "\t".join(cells))

    def _count_blank(self, lines: int) -> None:
        self._blank += lines
        if self._blank > _BLANK and 2 * self._blank > self.lines:
            raise DataError(
                f"has {self._blank:,} blank lines among its first {self.lines:,}; remove them, or "
                "download the file again",
                self.path,
            )


def _as_assertions(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return a mask of the rows that link a concept to another concept or to a web address."""
    import pyarrow.compute as pc

    tail = pc.or_(pc.starts_with(batch["tail"], "/c/"), pc.match_substring(batch["tail"], "://"))
    head = pc.starts_with(batch["head"], "/c/")
    return pc.and_(pc.and_(pc.starts_with(batch["relation"], "/r/"), head), tail)


def _are_triples(columns: Sequence[str]) -> bool:
    named = set(columns)
    return len(named) == len(columns) and set(TRIPLES) <= named <= set(KNOWN)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if re.match(_QUOTED, cell) else cell


def _without_quotes(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.BooleanArray | bool]:
    """Return a batch without the quotes around its cells, and which rows have no unclosed quote."""
    import pyarrow.compute as pc

    closed: pa.BooleanArray | bool = True
    for place, name in enumerate(batch.schema.names):
        text = batch[name]
        begins = pc.starts_with(text, '"') if name in KNOWN else None
        if begins is None or not pc.any(begins).as_py():
            continue
        quoted = pc.match_substring_regex(text, _QUOTED)
        closed = pc.and_(closed, pc.equal(begins, quoted))
        within = pc.replace_substring(pc.utf8_slice_codeunits(text, 1, -1), '""', '"')
        batch = batch.set_column(place, name, pc.if_else(quoted, within, text))
    return batch, closed


def _as_triples(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return a mask of the rows whose relation, head and tail all contain text."""
    import pyarrow.compute as pc

    relation, head, tail = (pc.match_substring_regex(batch[name], r"\S") for name in TRIPLES)
    return pc.and_(pc.and_(relation, head), tail)


def _is_blank(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return a mask of the rows in which all cells are empty."""
    import pyarrow.compute as pc

    texts = batch.drop_columns("row").columns
    return reduce(pc.and_, (pc.equal(text, "") for text in texts))


def _is_legible(batch: pa.RecordBatch) -> pa.BooleanArray:
    """Return a mask of the rows whose text was valid UTF-8 before any bytes were replaced."""
    import pyarrow.compute as pc

    texts = batch.drop_columns("row").columns
    return pc.invert(reduce(pc.or_, (pc.match_substring(text, SUBSTITUTE) for text in texts)))


def _cut(text: str) -> str:
    """Shorten a line of the file for use in a message."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
