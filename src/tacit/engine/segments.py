"""Segments of the score store: tables in Parquet files, with a checksum in each file's name."""

from __future__ import annotations

import hashlib
import io
import re
import uuid
from collections.abc import Iterable, Mapping
from typing import Any

import polars as pl

from tacit import files
from tacit.errors import StoreError

_NAME = re.compile(r"([0-9]{1,18})-[0-9a-f]{8}-([0-9a-f]{32})\.parquet")


class Damaged(Exception):  # noqa: N818 - the name describes the state
    """Raised if a file is not an intact segment; the message contains the reason."""


def in_order(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """Return the names of the segments in a score-store folder, sorted by segment number."""
    last = max((number for number, _ in _numbered(first)), default=0)
    return [name for number, name in _numbered(second) if number <= last]


def next_name(names: Iterable[str], content: bytes) -> str:
    """Return a name for a new segment, given the names of the existing segments."""
    numbers = [number for number, _ in _numbered(names)]
    number = numbers[-1] + 1 if numbers else 1
    return f"{number:08d}-{uuid.uuid4().hex[:8]}-{_digest(content)}.parquet"


def encode(frame: pl.DataFrame, fingerprint: str) -> bytes:
    """Encode a table as a segment for the model that has the given fingerprint."""
    import pyarrow.parquet as pq

    about = {"fingerprint": fingerprint, files.KEY: str(files.SEGMENT)}
    table = frame.to_arrow().replace_schema_metadata(about)
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd")
    return file.getvalue()


def decode(name: str, content: bytes, fingerprint: str, schema: Mapping[str, Any]) -> pl.DataFrame:
    """Decode a segment into its table."""
    import polars as pl
    import pyarrow.parquet as pq

    named = _NAME.fullmatch(name)
    if not named or _digest(content) != named[2]:
        raise Damaged("its checksum does not match its content")
    table = pq.ParquetFile(io.BytesIO(content)).read()  # read_table imports pandas
    about = table.schema.metadata or {}
    written = about.get(files.KEY.encode(), b"").decode(errors="replace")
    if reason := files.unreadable(written, files.SEGMENT):
        raise StoreError(f"{name}: this segment {reason}, or use another --store")
    if about.get(b"fingerprint") != fingerprint.encode():
        raise Damaged("it contains the answers of another model")
    try:
        return pl.DataFrame(pl.from_arrow(table)).match_to_schema(dict(schema))
    except pl.exceptions.PolarsError as error:
        raise StoreError(
            f"{name}: this segment was written by another version of Tacit and has other columns "
            f"({error}): use that version, or another --store"
        ) from error


def _numbered(names: Iterable[str]) -> list[tuple[int, str]]:
    found = ((_NAME.fullmatch(name), name) for name in names)
    return sorted((int(match[1]), name) for match, name in found if match)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
