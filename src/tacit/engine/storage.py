"""Where a store's files lie: in a folder of this machine, or wherever fsspec can put them.

A file is there whole or not at all, is never written twice, and is never deleted. What is damaged
is moved into a folder beside it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeGuard
from urllib.parse import unquote

from tacit.addresses import check_holds_no_password
from tacit.engine.local_storage import LocalStorage
from tacit.errors import RequestError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

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
