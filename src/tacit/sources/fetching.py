"""Fetch the files of a data set from their addresses, and check their sizes and SHA-256 hashes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import MissingPackage, NetworkError, RequestError, WorkError
from tacit.files import data_folder, file_hash, move_into, unwritable
from tacit.sources.registry import Source, SourceFile, registry
from tacit.version import __version__

if TYPE_CHECKING:
    import httpx2

_SECONDS = 60.0
_OK, _PARTIAL, _OUT_OF_RANGE = 200, 206, 416


def folder_of(source: Source) -> Path:
    """Return the folder in which the probes search the files of a data set."""
    return data_folder() / source.name


def is_fetched(source: Source) -> bool:
    """Return whether all files of a data set that can be fetched are in its folder."""
    folder = folder_of(source)
    return bool(source.fetched) and all((folder / one.saved).is_file() for one in source.fetched)


def fetched(name: str, file: str = "") -> Callable[[], Path]:
    """Return a function that returns the path of a fetched data set, or of one of its files."""

    def path() -> Path:
        source = registry().source(name)
        if not is_fetched(source):
            raise ValueError(
                f"is missing: fetch the published data with tacit get {name}, or give your own"
            )
        return folder_of(source) / file

    return path


def fetch(source: Source, folder: Path, advance: Callable[[int], None]) -> Sequence[Path]:
    """Fetch the files that are not in a folder yet, and return the paths of all of them.

    What an interruption left is resumed. ``advance`` receives the number of bytes that are there.

    Raises:
        RequestError: If a file has the name of one of the data set's, but another content.
        NetworkError: If an address cannot be reached or does not send the whole file.
        WorkError: If the disk is full, or a file has another size or hash than in the registry.
    """
    targets = {folder / one.saved: one for one in source.fetched}
    done = 0
    with _writing(folder), _client() as client:
        _check_space(folder, targets)
        folder.mkdir(parents=True, exist_ok=True)
        for target, one in targets.items():
            if not target.is_file():
                part = target.with_name(f"{target.name}.part")
                _download(client, one, part, partial(_ahead, advance, done))
                move_into(part, target)
            elif file_hash(target) != one.sha256:
                raise RequestError(
                    f"{target} is another file than that of {source.name}: move it away, or choose "
                    "another folder"
                )
            done += target.stat().st_size
            advance(done)
    return list(targets)


def _ahead(advance: Callable[[int], None], before: int, done: int) -> None:
    advance(before + done)


@contextmanager
def _writing(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise WorkError(unwritable(error.filename or folder, error)) from error


def _check_space(folder: Path, targets: dict[Path, SourceFile]) -> None:
    missing = sum(one.bytes or 0 for target, one in targets.items() if not target.is_file())
    existing = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(existing).free
    if missing > free:
        raise WorkError(f"{folder}: needs {missing:,} bytes, and {free:,} bytes are free")


@contextmanager
def _client() -> Iterator[httpx2.Client]:
    """Yield a client that uses the proxy of the environment."""
    import httpx2

    headers = {"User-Agent": f"tacit/{__version__}", "Accept-Encoding": "identity"}
    try:
        client = httpx2.Client(headers=headers, timeout=_SECONDS, follow_redirects=True)
    except ImportError as error:
        raise MissingPackage("socksio", "server") from error
    except (ValueError, httpx2.InvalidURL):
        raise RequestError(
            "the proxy in the environment (HTTP_PROXY, HTTPS_PROXY or ALL_PROXY) is invalid"
        ) from None  # the error may show a password
    with client:
        yield client


def _download(
    client: httpx2.Client, file: SourceFile, part: Path, advance: Callable[[int], None]
) -> None:
    """Write a file to ``part``, of which an earlier attempt may have left the beginning."""
    import httpx2

    have = part.stat().st_size if part.is_file() else 0
    try:
        if have != file.bytes:
            _receive(client, file, part, advance)
    except httpx2.HTTPError as error:
        reason = str(error) or type(error).__name__
        raise NetworkError(
            f"{file.url}: the connection failed ({reason}): run the same command again to resume"
        ) from error
    if file.bytes and part.stat().st_size < file.bytes:
        raise NetworkError(
            f"{file.url}: the connection ended too early: run the same command again to resume"
        )
    found = file_hash(part)
    if found != file.sha256:
        part.unlink()
        raise WorkError(
            f"{file.url} sends another file than expected (SHA-256 {found}, expected "
            f"{file.sha256}): it was removed; if this happens again, the data set has changed"
        )


def _receive(
    client: httpx2.Client, file: SourceFile, part: Path, advance: Callable[[int], None]
) -> None:
    have = part.stat().st_size if part.is_file() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    with client.stream("GET", str(file.url), headers=headers) as response:
        if response.status_code == _OUT_OF_RANGE and have:
            part.unlink()
        elif response.status_code not in {_OK, _PARTIAL}:
            raise NetworkError(
                f"{file.url}: the server answers {response.status_code} {response.reason_phrase}"
            )
        else:
            begins = f"bytes {have}-"
            resumed = response.headers.get("Content-Range", "").startswith(begins) and have
            _store(response, file, part, have if resumed else 0, advance)
            return
    _receive(client, file, part, advance)


def _store(
    response: httpx2.Response,
    file: SourceFile,
    part: Path,
    done: int,
    advance: Callable[[int], None],
) -> None:
    """Write a response to ``part``, behind the bytes that are done."""
    announced = done + int(response.headers.get("Content-Length", (file.bytes or 0) - done))
    if file.bytes not in {None, announced}:
        raise WorkError(
            f"{file.url} sends a file of {announced:,} bytes; expected {file.bytes:,}: the data "
            "set has changed"
        )
    with part.open("ab" if done else "wb") as out:
        for chunk in response.iter_raw():  # as they arrive, so that a cut loses none
            out.write(chunk)
            done += len(chunk)
            advance(done)
