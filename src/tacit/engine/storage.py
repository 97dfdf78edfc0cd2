"""Storage for a score store's files: a local folder, or remote storage that fsspec supports."""

from __future__ import annotations

import re
import uuid
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, Protocol, TypeGuard
from urllib.parse import unquote

from tacit.addresses import check_holds_no_password
from tacit.errors import RequestError, StoreError, WorkError
from tacit.files import publish, unwritable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager


DAMAGED = "damaged"
"""Name of the subfolder to which damaged files are moved."""

LOCK = ".lock"
"""Name of the lock file that makes access to a folder exclusive."""


class LocalStorage:
    """Storage in a local folder or in a mounted folder."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder}: the store must be a folder, but this is a file")
        self.folder = folder

    def shown(self, name: str = "") -> str:
        """See ``Storage``."""
        return str(self.folder / name)

    def names(self, folder: str) -> list[str]:
        """See ``Storage``."""
        place = self.folder / folder
        try:
            return [path.name for path in place.iterdir() if path.is_file()]
        except FileNotFoundError:
            return []
        except OSError as error:
            raise StoreError(f"{place}: cannot be read: {error}") from error

    def read(self, name: str) -> bytes | None:
        """See ``Storage``."""
        path = self.folder / name
        try:
            return path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path}: cannot be read: {error}") from error

    def publish(self, name: str, content: bytes) -> None:
        """See ``Storage``."""
        try:
            publish(self.folder / name, lambda file: _fill(file, content))
        except WorkError as error:
            raise StoreError(f"{error}; the store is unchanged") from error

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        """See ``Storage``; a file lock makes access exclusive and ends with the process."""
        from filelock import FileLock

        path = self.folder / folder / LOCK
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(unwritable(path, error)) from error
        with ExitStack() as stack:
            # The lock is optional: it only avoids computing the same requests twice.
            with suppress(OSError, NotImplementedError):
                stack.enter_context(FileLock(path, fallback_to_soft=False))
            yield

    def set_aside(self, name: str) -> str | None:
        """See ``Storage``."""
        path = self.folder / name
        place = self.folder / aside(name, lambda other: (self.folder / other).exists())
        try:
            place.parent.mkdir(exist_ok=True)
            path.rename(place)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise StoreError(f"{path}: the file is damaged and cannot be moved: {error}") from error
        return str(place)


def aside(name: str, taken: Callable[[str], bool]) -> str:
    """Return an unused path in the folder for damaged files, to which a file can be moved."""
    path = PurePosixPath(name)
    place = str(path.parent / DAMAGED / path.name)
    return f"{place}-{uuid.uuid4().hex[:8]}" if taken(place) else place


def _fill(file: Path, content: bytes) -> None:
    file.write_bytes(content)


# File systems whose puts are atomic, and which implement a rename as a copy.
_PUT_AT_ONCE = frozenset(
    {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"}
)
# A password may itself contain an @.
_PASSWORD = re.compile(r"(?<=://)[^/]*@")


class RemoteStorage:
    """Storage in a folder of a remote file system that fsspec supports."""

    folder = None

    def __init__(self, address: str) -> None:
        self._address = address.rstrip("/")
        self._files, self._root = _reached(self._address)
        with self._translated("be reached", ""):
            if self._files.isfile(self._root):
                raise StoreError(f"{self.shown()}: the store must be a folder, but this is a file")
            self._check_bucket()

    def shown(self, name: str = "") -> str:
        """See ``Storage``."""
        place = without_password(self._address)
        return f"{place}/{name}" if name else place

    def names(self, folder: str) -> list[str]:
        """See ``Storage``. The list includes files that other processes have just written."""
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
        """See ``Storage``. If writes are not atomic, a temporary file is written and renamed."""
        path = PurePosixPath(self._at(name))
        with self._translated("be written", name):
            self._make_folder(str(path.parent))
            if self._puts_at_once:
                self._files.pipe_file(str(path), content)
                return
            temporary = str(path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}"))
            self._files.pipe_file(temporary, content)
            self._files.mv(temporary, str(path))

    def alone(self, folder: str) -> AbstractContextManager[None]:  # noqa: ARG002 - in the protocol
        """See ``Storage``. fsspec has no locks, so access is not exclusive."""
        return nullcontext()

    def set_aside(self, name: str) -> str | None:
        """See ``Storage``."""
        with self._translated("be moved, although it is damaged", name):
            try:
                place = aside(name, lambda other: bool(self._files.exists(self._at(other))))
                self._make_folder(str(PurePosixPath(self._at(place)).parent))
                self._files.mv(self._at(name), self._at(place))
            except FileNotFoundError:
                return None
        return self.shown(place)

    def _check_bucket(self) -> None:
        """Raise an error if the bucket of an object store does not exist."""
        bucket = self._root.strip("/").partition("/")[0]
        if not self._puts_at_once or "memory" in self._protocols:
            return
        try:
            self._files.info(bucket)
        except FileNotFoundError as error:
            raise StoreError(
                f"{self.shown()}: the bucket {bucket!r} does not exist: create it, or use another"
            ) from error
        except Exception:  # noqa: BLE001 - a bucket that may not be inspected may still be writable
            return

    def _make_folder(self, path: str) -> None:
        """Create a folder; do nothing in an object store, to avoid the creation of a bucket."""
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
        """Convert any exception of a file system to ``StoreError``."""
        try:
            yield
        except StoreError:
            raise
        except Exception as error:
            said = without_password(str(error)) or type(error).__name__
            raise StoreError(f"{self.shown(name)}: cannot {done}: {said}") from error


def without_password(text: str) -> str:
    """Remove user names and passwords from the addresses in a text."""
    return _PASSWORD.sub("", text)


def _reached(address: str) -> tuple[Any, str]:
    """Return the fsspec file system for an address, and the path in this file system."""
    shown = without_password(address)
    protocol = address.partition("://")[0]
    try:
        import fsspec
    except ImportError as error:
        raise RequestError(
            f"{shown}: a remote store needs fsspec; install it with: pip install fsspec"
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
                f"{shown}: fsspec does not know the protocol {protocol}://; use a folder, or an "
                "address such as s3://bucket/folder"
            ) from error
        said = without_password(str(error)) or type(error).__name__
        raise StoreError(f"{shown}: cannot be reached: {said}") from error
    return files, root.rstrip("/")


# A single letter is a Windows drive.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")


class Storage(Protocol):
    """A local or remote folder in which each file is written only once."""

    @property
    def folder(self) -> Path | None:
        """The local folder, or None for remote storage."""
        ...

    def shown(self, name: str = "") -> str:
        """Return the location of a file for use in messages, without passwords."""
        ...

    def names(self, folder: str) -> list[str]:
        """List the names of the files in a folder; return [] if the folder does not exist."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if the file does not exist."""
        ...

    def publish(self, name: str, content: bytes) -> None:
        """Write a file atomically."""
        ...

    def alone(self, folder: str) -> AbstractContextManager[None]:
        """Return a context manager that locks a folder for exclusive access."""
        ...

    def set_aside(self, name: str) -> str | None:
        """Move a damaged file to another folder and return its new path."""
        ...


def is_address(root: Path | str) -> TypeGuard[str]:
    """Return whether the root of a store is an address rather than a path."""
    return isinstance(root, str) and _ADDRESS.match(root) is not None


def storage_of(root: Path | str) -> Storage:
    """Open the storage at a path or an address; fsspec is needed only for addresses."""
    check_holds_no_password(str(root), "the store's address")
    if is_address(root):
        if root.lower().startswith("file://"):
            return LocalStorage(Path(unquote(root[len("file://") :])))
        if "::" in root.partition("://")[0]:
            raise RequestError(
                f"{without_password(root)}: a chain of file systems (::) is not supported; give "
                "only the one that stores the files, such as s3://bucket/folder"
            )
        return RemoteStorage(root)
    return LocalStorage(Path(root))
