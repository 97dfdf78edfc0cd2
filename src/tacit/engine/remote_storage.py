"""A store's files on another machine or in an object store, through fsspec."""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager, nullcontext
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from tacit.engine.local_storage import aside
from tacit.errors import RequestError, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

# What these are given becomes visible whole, in one step, and they copy in order to rename.
_PUT_AT_ONCE = frozenset(
    {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"}
)
# A password may hold an @ itself.
_PASSWORD = re.compile(r"(?<=://)[^/]*@")


class RemoteStorage:
    """A folder of a file system that fsspec knows.

    Args:
        address: The address, such as ``s3://bucket/folder``.

    Raises:
        RequestError: The protocol is unknown, or its package is not installed.
        StoreError: The file system cannot be reached, or the address is that of a file.
    """

    folder = None

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._files, self._root = _reached(self._address)
        with self._translated("be reached", ""):
            if self._files.isfile(self._root):
                raise StoreError(f"{self.shown()}: the store is a folder, and this is a file")
            self._check_bucket()

    def shown(self, name: str = "") -> str:
        """See ``Storage``."""
        place = without_password(self._address)
        return f"{place}/{name}" if name else place

    def names(self, folder: str) -> list[str]:
        """See ``Storage``; what others wrote meanwhile is among them."""
        with self._translated("be read", folder):
            self._files.invalidate_cache()
            try:
                entries = self._files.ls(self._at(folder), detail=True)
            except FileNotFoundError:
                return []
        return [PurePosixPath(each["name"]).name for each in entries if each["type"] == "file"]

    def read(self, name: str) -> bytes | None:
        """See ``Storage``."""
        with self._translated("be read", name):
            try:
                return bytes(self._files.cat_file(self._at(name)))
            except FileNotFoundError:
                return None

    def publish(self, name: str, content: bytes) -> None:
        """See ``Storage``: one put where that is all or nothing, else another name, then moved."""
        path = PurePosixPath(self._at(name))
        with self._translated("be written", name):
            self._make_folder(str(path.parent))
            if self._puts_at_once:
                self._files.pipe_file(str(path), content)
                return
            temporary = str(path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}"))
            self._files.pipe_file(temporary, content)
            self._files.mv(temporary, str(path))

    def alone(self, folder: str) -> AbstractContextManager[None]:  # noqa: ARG002 - one for all
        """See ``Storage``: what fsspec knows has no locks, so that nobody waits."""
        return nullcontext()

    def set_aside(self, name: str) -> str | None:
        """See ``Storage``."""
        with self._translated("be moved away, and is damaged", name):
            try:
                place = aside(name, lambda other: bool(self._files.exists(self._at(other))))
                self._make_folder(str(PurePosixPath(self._at(place)).parent))
                self._files.mv(self._at(name), self._at(place))
            except FileNotFoundError:
                return None
        return self.shown(place)

    def _check_bucket(self) -> None:
        """Refuses an object store's bucket that is not there, before anything is asked."""
        bucket = self._root.strip("/").partition("/")[0]
        if not self._puts_at_once or "memory" in self._protocols:
            return
        try:
            self._files.info(bucket)
        except FileNotFoundError as error:
            raise StoreError(
                f"{self.shown()}: there is no bucket {bucket!r}; it is not made: make it, or name "
                "another"
            ) from error
        except Exception:  # noqa: BLE001 - who may not look at a bucket may still write to it
            return

    def _make_folder(self, path: str) -> None:
        """Makes a folder where files need one; an object store would make a misspelt bucket."""
        if not self._puts_at_once:
            self._files.makedirs(path, exist_ok=True)

    @property
    def _protocols(self) -> tuple[str, ...]:
        protocols = self._files.protocol
        return (protocols,) if isinstance(protocols, str) else tuple(protocols)

    @property
    def _puts_at_once(self) -> bool:
        return not _PUT_AT_ONCE.isdisjoint(self._protocols)

    def _at(self, name: str) -> str:
        return f"{self._root}/{name}"

    @contextmanager
    def _translated(self, done: str, name: str) -> Iterator[None]:
        """Translates the errors of file systems, which are of all kinds."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            said = without_password(str(error)) or type(error).__name__
            raise StoreError(f"{self.shown(name)}: cannot {done}: {said}") from error


def without_password(text: str) -> str:
    """A text without the names and passwords of the addresses in it."""
    return _PASSWORD.sub("", text)


def _reached(address: str) -> tuple[Any, str]:
    """The file system of an address, and the path in it."""
    shown = without_password(address)
    protocol = address.partition("://")[0]
    try:
        import fsspec
    except ImportError as error:
        raise RequestError(
            f"{shown}: a store at an address needs fsspec; install it with: pip install fsspec"
        ) from error
    try:
        files, root = fsspec.url_to_fs(address)
    except ImportError as error:
        raise RequestError(
            f"{shown}: {protocol}:// needs a package that is not installed: {error}"
        ) from error
    except Exception as error:
        if protocol not in fsspec.available_protocols():
            raise RequestError(
                f"{shown}: {protocol}:// is no protocol that fsspec knows; a store is a folder, or "
                "an address such as s3://bucket/folder"
            ) from error
        said = without_password(str(error)) or type(error).__name__
        raise StoreError(f"{shown}: cannot be reached: {said}") from error
    return files, root.rstrip("/")
