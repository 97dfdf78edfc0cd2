"""A name is looked up on the hub once; what fails is told apart from what is not there."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import ModelError, NetworkError, TacitError
from tacit.models.huggingface import source
from tacit.models.huggingface.source import SETTINGS, Source, loading_error, snapshot

Answer = Callable[[Exception | None], list[str]]


class Response:
    headers: dict[str, str] = {}  # noqa: RUF012 - never changed
    request = None

    def __init__(self, status: int) -> None:
        self.status_code = status


def failing(name: str, status: int) -> Exception:
    from huggingface_hub import errors

    kind: Any = getattr(errors, name)
    error = kind.__new__(kind)
    error.args = (f"status {status}",)
    error.response = Response(status)
    assert isinstance(error, Exception)
    return error


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Answer]:
    """Says how the hub answers; the list has the names that it was asked for."""
    from huggingface_hub import HfApi, constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    asked: list[str] = []

    def answers(error: Exception | None) -> list[str]:
        def model_info(_: object, name: str, **__: object) -> None:
            asked.append(name)
            if error:
                raise error

        monkeypatch.setattr(HfApi, "model_info", model_info)
        return asked

    source._is_online.cache_clear()
    yield answers
    source._is_online.cache_clear()


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[bool]:
    """Whether each snapshot was taken from the cache alone; nothing is downloaded."""
    from_cache: list[bool] = []

    def download(_: str, *, local_files_only: bool, **__: object) -> str:
        from_cache.append(local_files_only)
        return str(tmp_path / "snapshots" / "1234")

    monkeypatch.setattr("huggingface_hub.snapshot_download", download)
    return from_cache


def where(revision: str | None = None) -> Source:
    return snapshot("a/b", revision, SETTINGS)


def test_a_model_is_looked_up_once(answer: Answer, fetched: list[bool]) -> None:
    """However many of its files are fetched then; its folder is named after the commit."""
    asked = answer(None)
    for _ in range(3):
        assert where().commit == "1234"
    assert asked == ["a/b"]
    assert fetched == [False] * 3


ABSENT, DOWN = "the hub has no such model, or the model is private", r"cannot be reached .*: check "


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (failing("RepositoryNotFoundError", 404), ModelError, ABSENT),
        (failing("RevisionNotFoundError", 404), ModelError, "the hub has no revision v2 of this"),
        (failing("HfHubHTTPError", 400), ModelError, "the hub rejects the name: status 400"),
        (ValueError("no name"), ModelError, "the hub rejects the name: no name"),
        (failing("HfHubHTTPError", 503), NetworkError, DOWN),
        (TimeoutError("slow"), NetworkError, DOWN),
    ],
)
def test_a_name_that_is_not_there_is_told_apart_from_a_network_failure(
    answer: Answer, error: Exception, kind: type[TacitError], message: str
) -> None:
    """The user's mistake has exit code 2, and a failure 1."""
    answer(error)
    with pytest.raises(kind, match=message) as raised:
        where("v2")
    assert raised.value.exit_code == (2 if kind is ModelError else 1)


def test_without_the_hub_a_cached_model_is_used(
    answer: Answer,
    fetched: list[bool],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    answer(ConnectionRefusedError("refused"))
    monkeypatch.setattr(source, "cached", lambda *_: True)
    for _ in range(2):
        where()
    (message,) = caplog.messages
    assert "cannot be reached (refused); using the files in the hub's cache" in message
    assert fetched == [True, True]


def test_a_failure_in_the_midst_of_loading_is_told_apart() -> None:
    error = OSError("cannot load 'a/b'\nMore of it")
    assert type(loading_error("a/b", "its weights cannot be loaded", error)) is ModelError
    error.__cause__ = ConnectionResetError("reset")
    assert type(loading_error("a/b", "its weights cannot be loaded", error)) is NetworkError


def test_without_a_network_one_line_is_printed_at_once(tmp_path: Path) -> None:
    """From the command line, with the libraries as they are: no retries, exit code 1."""
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"text": "a", "answers": ["b"]}\n', encoding="utf-8")
    known = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
    environment = {**known, "HF_HUB_OFFLINE": "0", "HF_ENDPOINT": "http://127.0.0.1:9"}
    asked = ("score", str(prompts), "--model", "no/such-model", "--out", "scores.jsonl")
    begun = time.monotonic()
    ran = subprocess.run(
        [sys.executable, "-m", "tacit", *asked],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
        cwd=tmp_path,
    )
    assert time.monotonic() - begun < 20, "the retries alone took 23 s"
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert "http://127.0.0.1:9 cannot be reached" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["prompts.jsonl"]
