import sys
import uuid
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import RequestError, StoreError
from tacit.models.fake import FakeModel
from tacit.requests import AnswerScore, Prompt, Scores
from tests.engine.test_ask import by_length
from tests.engine.test_store import MODEL, PROMPT

SCORE = [Scores((AnswerScore("a", -1.0, 1),))]


class Slow(MemoryFileSystem):  # type: ignore[misc] # fsspec ships no types
    """A file system on which a file grows as it is written, as on another machine."""

    protocol = "slow"
    store: dict[str, Any] = {}  # noqa: RUF012 - fsspec's own way
    pseudo_dirs: list[str] = [""]  # noqa: RUF012
    breaks = False

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.replace("slow://", "memory://")))

    def pipe_file(self, path: str, value: bytes, mode: str = "overwrite", **_: object) -> None:
        super().pipe_file(path, value[: len(value) // 2], mode)
        if Slow.breaks:
            raise OSError(28, "No space left on device")
        super().pipe_file(path, value, mode)


fsspec.register_implementation("slow", Slow)


@pytest.fixture(params=["memory", "slow"])
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A new place on a file system, atomic or not."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return f"{request.param}://{uuid.uuid4().hex}/store"


def files_of(address: str) -> list[str]:
    files, root = fsspec.url_to_fs(address)
    return sorted(name.rsplit("/", 1)[1] for name in files.find(root))


def test_an_engine_asks_nothing_that_is_stored_there(address: str) -> None:
    prompts = [Prompt(f"text {n}", ("a", "b")) for n in range(3)]
    model = FakeModel(by_length)
    first = Engine(model, Store(address), block_tokens=1).ask(prompts)
    again = FakeModel(by_length)
    assert Engine(again, Store(address)).ask(prompts) == first
    assert not again.asked


def test_a_damaged_segment_is_set_aside_there(
    address: str, caplog: pytest.LogCaptureFixture
) -> None:
    store = Store(address)
    name = store.append(MODEL, [PROMPT], SCORE)
    files, root = fsspec.url_to_fs(address)
    files.store[f"{root}/{name}"].seek(30)
    files.store[f"{root}/{name}"].write(b"\0\0\0")
    assert store.read(MODEL["fingerprint"]).is_empty()
    (said,) = caplog.messages
    assert said.startswith(f"{address}/{name} is damaged (its checksum")
    assert f"{address}/{name.parent}/damaged/{name.name}" in said
    assert files.find(f"{root}/{name.parent}/damaged") == [
        f"{root}/{name.parent}/damaged/{name.name}"
    ]
    assert store.read(MODEL["fingerprint"]).is_empty()
    assert len(caplog.messages) == 1


def test_where_writing_breaks_off_no_reader_sees_half_a_segment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The half is under another name; the store stays as it was, and goes on."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    store = Store(f"slow://{uuid.uuid4().hex}")
    store.append(MODEL, [PROMPT], SCORE)
    monkeypatch.setattr(Slow, "breaks", True)
    with pytest.raises(StoreError, match=r"^slow://.*: cannot be written: .*No space left"):
        store.append(MODEL, [Prompt("y", ("a",))], SCORE)
    monkeypatch.setattr(Slow, "breaks", False)
    assert store.read(MODEL["fingerprint"])["text"].to_list() == ["x"]
    store.append(MODEL, [Prompt("y", ("a",))], SCORE)
    assert store.read(MODEL["fingerprint"])["text"].to_list() == ["x", "y"]


def test_a_file_address_is_that_folder(tmp_path: Path) -> None:
    Store(f"file://{tmp_path}/a%20store").append(MODEL, [PROMPT], SCORE)
    assert Store(tmp_path / "a store").read(MODEL["fingerprint"]).height == 1


def test_a_protocol_that_nobody_knows_is_refused() -> None:
    with pytest.raises(RequestError, match="fsspec does not know the protocol nowhere://"):
        Store("nowhere://bucket")


def test_a_protocol_whose_package_is_missing_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The package that it needs is named; here it is hidden where it is installed."""
    monkeypatch.setitem(sys.modules, "s3fs", None)
    monkeypatch.delitem(sys.modules["fsspec.registry"]._registry, "s3", raising=False)
    missing = "s3:// needs a package that is not installed: .*s3fs"
    with pytest.raises(RequestError, match=missing):
        Store("s3://bucket/folder")


def test_a_user_in_an_address_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    address = "slow://me@host/store"

    def refuse(*_: object, **__: object) -> None:
        raise OSError(f"cannot log in at {address}")

    monkeypatch.setattr(Slow, "isfile", refuse)
    with pytest.raises(StoreError) as refused:
        Store(address)
    assert str(refused.value) == (
        "slow://host/store: cannot be reached: cannot log in at slow://host/store"
    )


def test_a_chain_of_file_systems_is_no_store() -> None:
    """Nor does it become a folder of this machine."""
    with pytest.raises(RequestError, match=r"^simplecache::memory://b: a chain of file systems"):
        Store("simplecache::memory://me@b")


@pytest.mark.parametrize("address", ["s3://ID:HU/SH@bucket", "filecache::s3://HUSH@bucket"])
def test_a_password_in_an_address_is_refused_before_fsspec_sees_it(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Libraries repeat it in their own messages; ours repeats nothing of it."""
    monkeypatch.setattr(fsspec, "url_to_fs", lambda _: pytest.fail("fsspec was given it"))
    with pytest.raises(RequestError, match="contains a user, a password or a key") as refused:
        Store(address)
    assert not any(part in str(refused.value) for part in ("HU", "SH@", "ID:"))


def test_the_hashes_of_this_machine_s_files_are_kept_on_this_machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    """Weights are not hashed anew at each start, and their paths are nobody else's matter."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    weights = tmp_path / "weights"
    weights.write_bytes(b"weights")
    store = Store(address)
    digest = store.hashes.sha256(weights)
    store.append(MODEL, [PROMPT], SCORE)
    assert "hashes.json" not in files_of(address)
    assert digest in (next((tmp_path / "cache").rglob("hashes.json"))).read_text(encoding="utf-8")
