"""Readers of large knowledge base files: ConceptNet's assertions, or plain triples."""

from __future__ import annotations

import gzip
import logging
import re
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import BufferedIOBase, BufferedReader
from pathlib import Path
from typing import Literal

import polars as pl

from tacit.english import several
from tacit.errors import DataError, RequestError, path_text
from tacit.sources.registry import check_exists
from tacit.strings import convert_strings
from tacit.tables import line_of_row, read_table, table_path

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
# Bytes of text per batch of rows, and the longest line.
_BLOCK = 8 << 20
_GZIP = b"\x1f\x8b"
# Decoding puts this character in place of bytes that are not UTF-8.
_ILLEGIBLE = "\ufffd"
_LONGEST_SHOWN = 120


@dataclass
class Dump:
    """A knowledge base file (assertions or triples), with counts of the lines read so far."""

    path: Path
    language: str = "en"
    columns: tuple[str, ...] = ()
    lines: int = 0
    bad: int = 0
    bytes_read: int = 0
    shown: list[tuple[int, str]] = field(default_factory=list)

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
        self.layout: Layout = self._recognised()
        self.columns = tuple(name for name in self._names if name in KNOWN)
        if given and self.layout == "triples" and self.columns != given:
            raise DataError(
                f"has the columns {', '.join(self.columns)}, but --columns says {','.join(given)}; "
                "leave out --columns",
                self.path,
                1,
            )

    def batches(self) -> Iterator[pl.DataFrame]:
        """Yield the valid rows in file order, each with the number and text of its line."""
        for lines in self._lines() if self._table is None else self._rows(self._table):
            self.lines += lines.height
            blank = pl.col("text").str.strip_chars("\t") == ""
            rows = self._parsed(lines.filter(~blank))
            self.reject(rows.filter(~pl.col("formed")))
            yield rows.filter("formed", *self._chosen()).drop("formed")
            if self.bad > _HOPELESS and 2 * self.bad > self.lines:
                break

    def reject(self, rows: pl.DataFrame) -> None:
        """Count rows from ``batches`` as malformed lines."""
        self.bad += rows.height
        first = [
            (line if self._table is None else line_of_row(self.path, line - 1), _cut(text))
            for line, text in rows.select("line", "text").sort("line").head(SHOWN).iter_rows()
        ]
        self.shown = sorted([*self.shown, *first])[:SHOWN]

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
        return "; ".join(f"line {line}: {text!r}" for line, text in self.shown)

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
        with self._opened() as (_, file):
            for number, line in enumerate(iter(partial(file.readline, _BLOCK), b""), 1):
                if line.strip():
                    return number, line.rstrip(b"\r\n").decode("utf-8-sig", "replace")
        raise DataError("is empty", self.path)

    @contextmanager
    def _opened(self) -> Iterator[tuple[BufferedReader, BufferedIOBase]]:
        """Open the file and the text in it; gzip's checksums, which DuckDB ignores, are checked."""
        try:
            with self.path.open("rb") as raw:
                packed = raw.peek(len(_GZIP)).startswith(_GZIP)
                yield raw, gzip.GzipFile(fileobj=raw) if packed else raw
        except (OSError, EOFError, zlib.error) as error:
            raise DataError(
                f"cannot be read to its end ({error}): it may be truncated or damaged; download "
                "it again and compare its size",
                self.path,
            ) from error

    def _lines(self) -> Iterator[pl.DataFrame]:
        number = 1
        with self._opened() as (raw, file):
            while block := file.read(_BLOCK):
                rest = file.readline(_BLOCK)
                if len(rest) == _BLOCK:
                    raise DataError(f"has a line of more than {_BLOCK:,} bytes", self.path)
                if b"\0" in block + rest:
                    raise DataError("contains a NUL character; expected text", self.path)
                self.bytes_read = raw.tell()
                # No line holds the separator, so each is one column; polars splits lines fastest.
                lines = pl.read_csv(
                    block + rest,
                    schema={"text": pl.String},
                    has_header=False,
                    separator="\0",
                    quote_char=None,
                    encoding="utf8-lossy",
                    row_index_name="line",
                    row_index_offset=number,
                )
                yield lines.with_columns(pl.col("text").fill_null(""))
                number += lines.height

    def _rows(self, table: pl.DataFrame) -> Iterator[pl.DataFrame]:
        """Yield the rows of a table as text."""
        index = {name: at for at, name in enumerate(self._names)}
        texts = table.select(
            pl.nth(index[name]).cast(pl.String).fill_null("").alias(name) for name in self.columns
        )
        text = pl.concat_str(self.columns, separator="\t").alias("text")
        yield texts.with_columns(text).with_row_index("line", 1)
        self.bytes_read = self.path.stat().st_size

    def _parsed(self, lines: pl.DataFrame) -> pl.DataFrame:
        """Return the cells of lines, and whether a line is ``formed`` as its layout requires."""
        if self._table is not None:
            return lines.with_columns(formed=pl.lit(value=True))
        names = ASSERTIONS if self.layout == "assertions" else self._names
        cells = pl.col("text").str.splitn("\t", len(names) + 1)
        rows = lines.with_columns(cells=cells.struct.rename_fields([*names, "more"])).unnest(
            "cells"
        )
        formed = [
            pl.col(names[-1]).is_not_null() & pl.col("more").is_null(),
            ~pl.col("text").str.contains(_ILLEGIBLE, literal=True),
        ]
        if self.layout == "assertions":
            formed += _links()
            return rows.with_columns(formed=pl.all_horizontal(formed).fill_null(value=False))
        quoted = {name: pl.col(name).str.contains(_QUOTED) for name in self.columns}
        formed += [~pl.col(name).str.starts_with('"') | whole for name, whole in quoted.items()]
        return rows.with_columns(
            *(
                pl.when(whole).then(_within_quotes(pl.col(name))).otherwise(name).alias(name)
                for name, whole in quoted.items()
            ),
            formed=pl.all_horizontal(formed).fill_null(value=False),
        )

    def _chosen(self) -> list[pl.Expr]:
        """Return the conditions for rows in the chosen language that do not repeat the header."""
        if self.layout == "assertions":
            prefix = f"/c/{self.language}/"
            return [pl.col(end).str.starts_with(prefix) for end in ("head", "tail")]
        if not self._header or self._table is not None:
            return []
        return [pl.any_horizontal(pl.col(name) != self._header[name] for name in TRIPLES)]


def _links() -> list[pl.Expr]:
    """Return the conditions for a row that links a concept to another or to a web address."""
    tail = pl.col("tail")
    return [
        pl.col("relation").str.starts_with("/r/"),
        pl.col("head").str.starts_with("/c/"),
        tail.str.starts_with("/c/") | tail.str.contains("://", literal=True),
    ]


def _are_triples(columns: Sequence[str]) -> bool:
    named = set(columns)
    return len(named) == len(columns) and set(TRIPLES) <= named <= set(KNOWN)


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if re.match(_QUOTED, cell) else cell


def _within_quotes(text: pl.Expr) -> pl.Expr:
    return text.str.head(-1).str.tail(-1).str.replace_all('""', '"', literal=True)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."
