"""Storage of a score store's files: a folder on this machine, or on what fsspec supports."""

from __future__ import annotations

import posixpath
import re
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path, PurePosixPath
from typing import Any, TypeGuard
from urllib.parse import unquote

from tacit.addresses import check_holds_no_password
from tacit.errors import RequestError, StoreError, WorkError
from tacit.files import publish, unwritable

_DAMAGED = "damaged"
_LOCK = ".lock"

# File systems whose puts are atomic, and which implement a rename as a copy.
_PUT_AT_ONCE = frozenset(
    {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "s3", "s3a"}
)
# A password may itself contain an @.
_PASSWORD = re.compile(r"(?<=://)[^/]*@")
# A single letter is a Windows drive.
_ADDRESS = re.compile(r"[A-Za-z][A-Za-z0-9+.:-]+://")


class Storage:
    """A folder in which each file is written only once; ``folder`` is None if it is remote."""

    def __init__(self, root: Path | str) -> None:
        check_holds_no_password(str(root), "the store's address")
        self.folder = None if _is_remote(root) else _local(root)
        self._address = without_password(str(root).rstrip("/"))
        self._files, self._root = _reached(str(root), self.folder)
        protocols = self._files.protocol
        protocols = {protocols} if isinstance(protocols, str) else set(protocols)
        self._puts_at_once = not _PUT_AT_ONCE.isdisjoint(protocols)
        try:
            is_file = self._files.isfile(self._root)
        except Exception as error:
            raise _failure(self.shown(), "be reached", error) from error
        if is_file:
            raise RequestError(f"{self.shown()} is a file; expected a folder for the store")
        if self._puts_at_once and "memory" not in protocols:
            self._check_bucket()

    def shown(self, name: str = "") -> str:
        """Return the location of a file for use in messages, without passwords."""
        if self.folder is not None:
            return str(self.folder / name)
        return f"{self._address}/{name}" if name else self._address

    def names(self, folder: str) -> list[str]:
        """List the names in a folder, including those that other processes have just written."""
        try:
            self._files.invalidate_cache()
            paths = self._files.ls(f"{self._root}/{folder}", detail=False)
        except FileNotFoundError:
            return []
        except Exception as error:
            raise _failure(self.shown(folder), "be read", error) from error
        return list(map(posixpath.basename, paths))

    def read(self, name: str) -> bytes | None:
        """Return the content of a file, or None if the file does not exist."""
        try:
            return bytes(self._files.cat_file(f"{self._root}/{name}"))
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _failure(self.shown(name), "be read", error) from error

    def publish(self, name: str, content: bytes) -> None:
        """Write a file atomically: at once, or under another name that is changed at the end."""
        if self.folder is not None:
            try:
                publish(self.folder / name, lambda file: _fill(file, content))
            except WorkError as error:
                raise StoreError(f"{error}; the store is unchanged") from error
            return
        path = PurePosixPath(f"{self._root}/{name}")
        try:
            self._make_folder(path.parent)
            if self._puts_at_once:
                self._files.pipe_file(str(path), content)
                return
            temporary = str(path.with_name(f".{path.name}-{uuid.uuid4().hex[:8]}"))
            self._files.pipe_file(temporary, content)
            self._files.mv(temporary, str(path))
        except Exception as error:
            raise _failure(self.shown(name), "be written", error) from error

    @contextmanager
    def alone(self, folder: str) -> Iterator[None]:
        """Lock a folder where the file system has locks: it saves computing requests twice."""
        if self.folder is None:
            yield
            return
        from filelock import FileLock

        path = self.folder / folder / _LOCK
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(unwritable(path, error)) from error
        with ExitStack() as stack:
            with suppress(OSError, NotImplementedError):
                stack.enter_context(FileLock(path, fallback_to_soft=False))
            yield

    def set_aside(self, name: str) -> str | None:
        """Move a damaged file to another folder, and return its new path; None if it is gone."""
        path = PurePosixPath(name)
        target = str(path.parent / _DAMAGED / path.name)
        try:
            if self._files.exists(f"{self._root}/{target}"):
                target = f"{target}-{uuid.uuid4().hex[:8]}"
            self._make_folder(PurePosixPath(f"{self._root}/{target}").parent)
            self._files.mv(f"{self._root}/{name}", f"{self._root}/{target}")
        except FileNotFoundError:
            return None
        except Exception as error:
            what = "be moved, although it is damaged"
            raise _failure(self.shown(name), what, error) from error
        return self.shown(target)

    def _check_bucket(self) -> None:
        bucket = self._root.strip("/").partition("/")[0]
        try:
            self._files.info(bucket)
        except FileNotFoundError as error:
            raise StoreError(
                f"{self.shown()}: the bucket {bucket!r} does not exist: create it, or use another"
            ) from error
        except Exception:  # noqa: BLE001 - a bucket that may not be inspected may still be writable
            return

    def _make_folder(self, path: PurePosixPath) -> None:
        """Create a folder; do nothing in an object store, to avoid the creation of a bucket."""
        if not self._puts_at_once:
            self._files.makedirs(str(path), exist_ok=True)


def _failure(shown: str, what: str, error: Exception) -> StoreError:
    """Return the error that stands for any exception of a file system."""
    message = without_password(str(error)) or type(error).__name__
    return StoreError(f"{shown}: cannot {what}: {message}")


def _fill(file: Path, content: bytes) -> None:
    file.write_bytes(content)


def without_password(text: str) -> str:
    """Remove user names and passwords from the addresses in a text."""
    return _PASSWORD.sub("", text)


def is_address(root: Path | str) -> TypeGuard[str]:
    """Return whether the root of a store is an address rather than a path."""
    return isinstance(root, str) and _ADDRESS.match(root) is not None


def _is_remote(root: Path | str) -> bool:
    return is_address(root) and not root.lower().startswith("file://")


def _local(root: Path | str) -> Path:
    return Path(unquote(root[len("file://") :]) if is_address(root) else root)


def _reached(address: str, folder: Path | None) -> tuple[Any, str]:
    """Return the fsspec file system for an address, and the path in this file system."""
    import fsspec

    if folder is not None:
        return fsspec.filesystem("file"), folder.absolute().as_posix()
    shown = without_password(address)
    protocol = address.partition("://")[0]
    if "::" in protocol:
        raise RequestError(
            f"{shown}: a chain of file systems (::) is not supported; give only the one that "
            "stores the files, such as s3://bucket/folder"
        )
    try:
        files, root = fsspec.url_to_fs(address.rstrip("/"))
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
        raise _failure(shown, "be reached", error) from error
    return files, root.rstrip("/")
