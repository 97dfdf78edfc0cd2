"""Where a store's files lie: in a folder of this machine, or wherever fsspec can put them.

A file is there whole or not at all, is never written twice, and is never deleted. What is damaged
is moved into a folder beside it.
"""

from __future__ import annotations

import re
import uuid
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Protocol, TypeGuard
from urllib.parse import unquote

from tacit.addresses import check_holds_no_password
from tacit.errors import RequestError, StoreError, WorkError
from tacit.publishing import publish, unwritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

DAMAGED = "damaged"
"""The folder beside a file into which it is moved when it is damaged."""

LOCK = ".lock"
"""The empty file by which who publishes in a folder has others wait."""

# One letter is a drive of Windows.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")


class Storage(Protocol):
    """A folder for files that are written once; names are relative to it, with ``/`` between.

    Each method raises ``StoreError`` when the place cannot be read or written.
    """

    @property
    def folder(self) -> Path | None:
        """The folder of this machine; None where it is none."""
        ...

    def shown(self, name: str = "") -> str:
        """The place of a file as a message names it, without passwords."""
        ...

    def names(self, folder: str) -> list[str]:
        """The names of a folder's files, without the folder; none where there is no such folder."""
        ...

    def read(self, name: str) -> bytes | None:
        """A file's content; None where there is no such file."""
        ...

    def publish(self, name: str, content: bytes) -> None:
        """Writes a file whole or not at all."""
        ...

    def alone(self, folder: str) -> AbstractContextManager[None]:
        """Has all others who want to be alone in a folder wait, where the place can.

        It ends with the process at the latest, however that ends.
        """
        ...

    def set_aside(self, name: str) -> str | None:
        """Moves a file into the folder for damaged ones; where it is now, None if it was gone."""
        ...


def is_address(root: Path | str) -> TypeGuard[str]:
    """Whether this is an address, and no path."""
    return isinstance(root, str) and _ADDRESS.match(root) is not None


def storage_of(root: Path | str) -> Storage:
    """The place of that path or address; a path needs no fsspec.

    Raises:
        RequestError: The address names a protocol that is unknown, or whose package is missing, or
            a chain of protocols, or it holds a password.
        StoreError: It is a file, or cannot be reached.
    """
    if is_address(root):
        check_holds_no_password(root, "the store's address")
        if root.lower().startswith("file://"):
            return LocalStorage(Path(unquote(root[len("file://") :])))
        from tacit.engine.remote_storage import RemoteStorage, without_password

        if "::" in root.partition("://")[0]:
            raise RequestError(
                f"{without_password(root)}: a chain of file systems (::) is no place for a store; "
                "name the one that keeps the files, such as s3://bucket/folder"
            )
        return RemoteStorage(root)
    return LocalStorage(Path(root))


class LocalStorage:
    """A folder of this machine, or one that the system shows as such.

    Args:
        folder: The folder; it is made with the first file.

    Raises:
        StoreError: It is a file.
    """

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise StoreError(f"{folder}: the store is a folder, and this is a file")
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
            raise StoreError(f"{error}; what the store holds stays as it was") from error

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        """See ``Storage``: by a lock, which the system takes off whoever is gone.

        On file systems without locks, and on Windows, nobody waits.
        """
        lock = self.folder / folder / LOCK
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            file = _opened(lock)
        except OSError as error:
            raise StoreError(unwritable(lock, error)) from error
        with file:
            if fcntl is not None:
                with suppress(OSError):
                    fcntl.flock(file, fcntl.LOCK_EX)
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
            raise StoreError(f"{path}: is damaged, and cannot be moved away: {error}") from error
        return str(place)


def aside(name: str, taken: Callable[[str], bool]) -> str:
    """The name of a damaged file in the folder for such, which no other file has."""
    path = PurePosixPath(name)
    place = str(path.parent / DAMAGED / path.name)
    return f"{place}-{uuid.uuid4().hex[:8]}" if taken(place) else place


def _opened(lock: Path) -> IO[bytes]:
    try:
        return lock.open("ab")
    except PermissionError:
        return lock.open("rb")  # another user's, which can be locked all the same


def _fill(file: Path, content: bytes) -> None:
    file.write_bytes(content)
