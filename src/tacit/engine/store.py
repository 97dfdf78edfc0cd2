"""The score store: Parquet files, called segments, that are added but never changed."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import logging
import os
import re
import uuid
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

import polars as pl

from tacit import files
from tacit.engine.storage import Storage
from tacit.english import several
from tacit.errors import StoreError, WorkError
from tacit.files import cache_folder
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.requests import KINDS, Prompt

log = logging.getLogger(__name__)

_NAME = re.compile(r"([0-9]{8})-[0-9a-f]{8}-([0-9a-f]{32})\.parquet")
"""The name of a segment: its number, random digits, and the digest of its content."""

_CHECKED = "checked"
"""A folder with an empty file for each segment whose answers passed a recheck."""


class Damaged(Exception):  # noqa: N818 - the name describes the state
    """Raised if a file is not an intact segment; the message contains the reason."""


class Store:
    """The score store in a folder; nothing is written before the first ``append``.

    Several processes, even on different machines, can read and write the same store at the same
    time.

    Args:
        root: The folder, or an address that fsspec supports, such as ``s3://bucket/folder``.

    Raises:
        RequestError: If the protocol of the address is unknown, or the package that supports the
            protocol is not installed.
        StoreError: If the root is a file, or the storage at the address cannot be reached.

    Examples:
        >>> import tempfile
        >>> from tacit import Store
        >>> store = Store(tempfile.mkdtemp())
    """

    def __init__(self, root: Path | str) -> None:
        self.root = root
        self._storage = Storage(root)
        self._kept = self._storage.folder or _cache_of(self._storage.shown())
        self.hashes = FileHashes(self._kept / "hashes.json")
        self._written: set[str] = set()

    @classmethod
    def default(cls) -> Store:
        """Open the store at ``$TACIT_STORE``, or at ``.tacit`` if this variable is not set."""
        return cls(os.environ.get("TACIT_STORE") or ".tacit")

    def append(
        self, model: Mapping[str, Any], requests: Sequence[Any], answers: Sequence[Any]
    ) -> PurePosixPath:
        """Publish the answers to requests of one kind as one new segment of the store.

        Args:
            model: The model's description, which includes the entry ``fingerprint``.
            requests: The requests, all of the same kind.
            answers: The answers, in the order of the requests.

        Returns:
            The segment's path, relative to the store's root.

        Raises:
            StoreError: If the segment cannot be written. The store remains unchanged.
        """
        kind = KINDS[type(requests[0])]
        folder = self._folder(kind.folder, model["fingerprint"])
        self._prepare(folder, model)
        for name, file in kind.files(requests).items():
            self._keep(name, file)
        content = encode(kind.frame(requests, answers), model["fingerprint"])
        # Without the lock, another segment could precede one that has already been read.
        with self._storage.alone(folder):
            name = next_name(self._storage.names(folder), content)
            self._storage.publish(f"{folder}/{name}", content)
        return PurePosixPath(folder, name)

    def unchecked(self, fingerprint: str, of: type) -> tuple[list[PurePosixPath], pl.DataFrame]:
        """Return the segments that were never passed to ``mark_checked``, and their rows."""
        folder = self._folder(KINDS[of].folder, fingerprint)
        checked = set(self._storage.names(f"{folder}/{_CHECKED}"))
        names = [name for name in self._names(folder) if PurePosixPath(name).stem not in checked]
        rows = self.read(fingerprint, of, names=names)
        return [PurePosixPath(folder, name) for name in names], rows

    def mark_checked(self, names: Sequence[PurePosixPath]) -> None:
        """Record that the answers in segments passed a recheck."""
        for name in names:
            self._storage.publish(str(name.parent / _CHECKED / name.stem), b"")

    def withdraw(self, names: Sequence[PurePosixPath]) -> None:
        """Move segments with unreliable answers to the folder for damaged files.

        Raises:
            StoreError: If a segment cannot be moved.
        """
        moved = [path for name in names if (path := self._storage.set_aside(str(name)))]
        if moved:
            log.warning(
                "%s with unreliable answers: moved to %s",
                several(len(moved), "segment"),
                PurePosixPath(moved[0]).parent,
            )

    def read(
        self,
        fingerprint: str,
        of: type = Prompt,
        *,
        final: bool = False,
        names: Sequence[str] | None = None,
    ) -> pl.DataFrame:
        """Read the rows that contain a model's answers, without rows that other rows supersede.

        The first row of an answer supersedes the others, except that a score supersedes one that
        is missing for now. If a segment is damaged, it is moved to the folder for damaged files and
        a warning is logged.

        Args:
            fingerprint: The model's fingerprint.
            of: The class of the requests whose answers are read.
            final: Whether to leave out scores that are missing for now, and are requested again.
            names: The names of the segments to read; None to read all of them.

        Raises:
            StoreError: If the store cannot be read, or a damaged segment cannot be moved.
        """
        kind, schema = KINDS[of], KINDS[of].schema()
        folder = self._folder(kind.folder, fingerprint)
        frames = [pl.DataFrame(schema=schema)]
        for name in self._names(folder) if names is None else names:
            for again in (False, True):  # a second read over a network may succeed
                content = self._storage.read(f"{folder}/{name}")
                if content is None:
                    break  # another process has set it aside
                try:
                    frames.append(decode(name, content, fingerprint, schema))
                    break
                except Damaged as error:
                    if again:
                        self._set_aside(f"{folder}/{name}", str(error))
        rows = pl.concat(frames)
        if kind.for_now:
            for_now = pl.col("reason").is_in(sorted(kind.for_now)).fill_null(value=False)
            if rows.select(for_now.any()).item():
                lasting = rows.filter(~for_now)
                rows = lasting if final else pl.concat([lasting, rows.filter(for_now)])
        return rows.unique(subset=kind.keyed, keep="first", maintain_order=True)

    def note(self, fingerprint: str, key: str) -> Any:  # noqa: ANN401 - any JSON value
        """Return the value that ``add_note`` stored; None if there is no intact one."""
        folder = self._folder("notes", fingerprint)
        for name in sorted(self._storage.names(folder)):
            content = self._storage.read(f"{folder}/{name}") if name.startswith(key) else None
            if content is not None and name == _note_name(key, content):
                return json.loads(content)
        return None

    def add_note(self, model: Mapping[str, Any], key: str, value: object) -> None:
        """Store a small JSON value about a model, of which ``model`` is the description."""
        folder = self._folder("notes", model["fingerprint"])
        content = json.dumps(value, ensure_ascii=False).encode()
        self._prepare(folder, model)
        self._storage.publish(f"{folder}/{_note_name(key, content)}", content)

    def _names(self, folder: str) -> list[str]:
        """List segments in order; none that may precede one that is still to be listed."""
        last = max(filter(_NAME.fullmatch, self._storage.names(folder)), default="")
        names = sorted(filter(_NAME.fullmatch, self._storage.names(folder)))
        return names[: bisect_right(names, last)]

    def _set_aside(self, name: str, reason: str) -> None:
        """Move a damaged file, if it exists, to the folder for damaged files; log a warning."""
        moved = self._storage.set_aside(name)
        if moved is not None:
            log.warning(
                "%s is damaged (%s): it was moved to %s, and its contents are computed again",
                self._storage.shown(name),
                reason,
                moved,
            )

    def _folder(self, what: str, fingerprint: str) -> str:
        # A custom model may have any fingerprint; a path consists of hexadecimal digits only.
        safe = re.fullmatch("[0-9a-f]{32,}", fingerprint)
        name = fingerprint if safe else hashlib.sha256(fingerprint.encode()).hexdigest()
        return f"{what}/{name[:32]}"

    def _prepare(self, folder: str, model: Mapping[str, Any]) -> None:
        """Write the model's description; exclude a new local store from version control."""
        root = self._storage.folder
        if root and (not root.is_dir() or not any(root.iterdir())):
            self._storage.publish(".gitignore", b"*\n")
        with contextlib.suppress(WorkError):  # only a cache: files are hashed again
            self.hashes.save()
        if folder in self._written:
            return
        about = json.dumps(dict(model), indent=1, ensure_ascii=False, default=str).encode()
        if "model.json" not in self._storage.names(folder):
            self._storage.publish(f"{folder}/model.json", about)
        if root is None:
            # Lets this machine recognise a server whose answers differ only by rounding.
            with contextlib.suppress(StoreError):
                Storage(self._kept).publish(f"{folder}/model.json", about)
        self._written.add(folder)

    def _keep(self, name: str, content: bytes) -> None:
        """Write a file to which stored rows refer, unless the store contains an intact copy."""
        if name in self._written:
            return
        there = self._storage.read(name)
        if there is not None and there != content:
            self._set_aside(name, "its content has changed")
        if there != content:
            self._storage.publish(name, content)
        self._written.add(name)


def next_name(names: Iterable[str], content: bytes) -> str:
    """Return a name for a new segment, given the names of the existing segments."""
    last = max(filter(_NAME.fullmatch, names), default="0")
    number = int(last.partition("-")[0]) + 1
    return f"{number:08d}-{uuid.uuid4().hex[:8]}-{_digest(content)}.parquet"


def encode(frame: pl.DataFrame, fingerprint: str) -> bytes:
    """Encode a table as a segment for the model that has the given fingerprint."""
    file = io.BytesIO()
    frame.write_parquet(file, metadata={"fingerprint": fingerprint, files.KEY: str(files.SEGMENT)})
    return file.getvalue()


def decode(name: str, content: bytes, fingerprint: str, schema: Mapping[str, Any]) -> pl.DataFrame:
    """Decode a segment into its table."""
    named = _NAME.fullmatch(name)
    if not named or _digest(content) != named[2]:
        raise Damaged("its checksum does not match its content")
    about = pl.read_parquet_metadata(io.BytesIO(content))
    if reason := files.unreadable(about.get(files.KEY, ""), files.SEGMENT):
        raise StoreError(f"{name}: this segment {reason}, or use another --store")
    if about.get("fingerprint") != fingerprint:
        raise Damaged("it contains the answers of another model")
    try:
        return pl.read_parquet(io.BytesIO(content)).match_to_schema(dict(schema))
    except pl.exceptions.PolarsError as error:
        raise StoreError(
            f"{name}: this segment was written by another version of Tacit and has other columns "
            f"({error}): use that version, or another --store"
        ) from error


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _note_name(key: str, content: bytes) -> str:
    return f"{key}-{hashlib.sha256(content).hexdigest()[:16]}.json"


def _cache_of(address: str) -> Path:
    """Return the local folder that serves as the cache of a remote store."""
    return cache_folder() / "stores" / hashlib.sha256(address.encode()).hexdigest()[:16]
