"""One segment of the store: a table as the bytes of a file, and a name that tells whether it is.

A segment's name is its number, something no other has, and the first half of its content's SHA-256.
Segments of earlier Tacits lack the last, and are checked by the checksums of their pages alone.
"""

from __future__ import annotations

import hashlib
import io
import re
import uuid
from typing import TYPE_CHECKING, Any

from tacit import files
from tacit.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import polars as pl

_NAME = re.compile(r"([0-9]{1,18})(?![0-9]).*\.parquet", re.DOTALL)
_CHECKED = re.compile(r"[0-9]+-[0-9a-f]{8}-([0-9a-f]{32})\.parquet")


_ADDED = frozenset({"reason"})
"""Columns that segments of earlier Tacits lack; they are null there."""


class Damaged(Exception):  # noqa: N818 - says what it is
    """This is no whole segment of ours; the message is the reason."""


def in_order(first: Iterable[str], second: Iterable[str]) -> list[str]:
    """The segments among a folder's names, in the order in which they were published.

    A listing may lack what is published while it is made, and hold what is published later. So a
    second one is made after the first, and what is numbered above all of the first is left out.
    """
    last = max((number for number, _ in _numbered(first)), default=0)
    return [name for number, name in _numbered(second) if number <= last]


def next_name(names: Iterable[str], content: bytes) -> str:
    """A name for a new segment, given those of the others."""
    numbers = [number for number, _ in _numbered(names)]
    number = numbers[-1] + 1 if numbers else 1
    return f"{number:08d}-{uuid.uuid4().hex[:8]}-{_digest(content)}.parquet"


def encode(frame: pl.DataFrame, fingerprint: str) -> bytes:
    """A table as a segment of the model with that fingerprint."""
    import pyarrow.parquet as pq

    about = {"fingerprint": fingerprint, files.KEY: str(files.SEGMENT)}
    table = frame.to_arrow().replace_schema_metadata(about)
    file = io.BytesIO()
    pq.write_table(table, file, compression="zstd", write_page_checksum=True)
    return file.getvalue()


def decode(name: str, content: bytes, fingerprint: str, schema: Mapping[str, Any]) -> pl.DataFrame:
    """The table of a segment.

    Args:
        name: Its name, in which the checksum stands.
        content: Its bytes.
        fingerprint: Of the model that it should be of.
        schema: The columns and their types.

    Raises:
        Damaged: It holds other bytes than were written, or is no segment of this model.
        StoreError: It is whole, and of a newer format, or has other columns than this Tacit's.
    """
    import polars as pl

    checked = _CHECKED.fullmatch(name)
    if not content:
        raise Damaged("it is empty")
    if checked and _digest(content) != checked[1]:
        raise Damaged("its checksum is another than when it was written")
    frame = _decoded(name, content, fingerprint)
    try:
        return frame.match_to_schema(
            dict(schema), missing_columns=dict.fromkeys(_ADDED & set(schema), "insert")
        )
    except pl.exceptions.PolarsError as error:
        if not checked:
            raise Damaged(f"it cannot be read: {_first_line(error)}") from error
        raise StoreError(
            f"{name}: this segment was written whole by another version of Tacit, with other "
            f"columns ({_first_line(error)}): use that version, or another --store"
        ) from error


def _decoded(name: str, content: bytes, fingerprint: str) -> pl.DataFrame:
    import polars as pl
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        table = pq.read_table(io.BytesIO(content), page_checksum_verification=True)
        metadata = table.schema.metadata or {}
        _check_format(name, metadata.get(files.KEY.encode()))
        table.validate(full=True)
        frame = pl.DataFrame(pl.from_arrow(table))
    except (
        pa.ArrowException,
        OSError,
        ValueError,
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
    ) as error:
        raise Damaged(f"it cannot be read: {_first_line(error)}") from error
    written = metadata.get(b"fingerprint", fingerprint.encode())
    if written != fingerprint.encode():
        raise Damaged("it holds what another model answered")
    return frame


def _check_format(name: str, written: bytes | None) -> None:
    """Refuses a segment of a newer format.

    Raises:
        StoreError: It is one, or its format is no number.
    """
    if written is None:
        return
    reason = files.unreadable(written.decode(errors="replace"), files.SEGMENT)
    if reason:
        raise StoreError(f"{name}: this segment {reason}, or use another --store")


def _numbered(names: Iterable[str]) -> list[tuple[int, str]]:
    found = ((_NAME.fullmatch(name), name) for name in names)
    return sorted((int(match[1]), name) for match, name in found if match)


def _first_line(error: BaseException) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
