"""A store's files in a folder of this machine, or one that the system shows as such."""

from __future__ import annotations

import uuid
from contextlib import contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING

from tacit.errors import StoreError, WorkError
from tacit.publishing import publish, unwritable

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DAMAGED = "damaged"
"""The folder beside a file into which it is moved when it is damaged."""

LOCK = ".lock"
"""The empty file by which who publishes in a folder has others wait."""


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
