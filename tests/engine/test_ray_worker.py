"""A worker by itself, in this process: what it refuses, and how it tells of it."""

import logging
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ray.worker import Failed, Loaded, Order, Stored, Worker
from tacit.engine.store import Store
from tacit.errors import (
    DataError,
    MissingPackage,
    ModelError,
    PromptError,
    RequestError,
    ScoringError,
    StoreError,
    TooLongError,
    WorkError,
)
from tacit.models.fake import FakeModel
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.requests import Prompt, RankingPrompt
from tests.engine.ray_models import by_letters


class OnProcessor(FakeModel):
    @property
    def description(self) -> dict[str, Any]:
        return {**super().description, "device": "cpu"}


def load(_: FileHashes) -> FakeModel:
    """A model that warns when it is loaded."""
    logging.getLogger("tacit.models.fake").warning("it is slow")
    return OnProcessor(by_letters)


@pytest.fixture(autouse=True)
def threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever a worker sets for its process is as before after each test."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS", "CUDA_VISIBLE_DEVICES")
    for name in names:
        monkeypatch.setenv(name, "1")
    torch = sys.modules.get("torch")
    before = torch.get_num_threads() if torch else 1
    yield
    if torch:
        torch.set_num_threads(before)


def test_a_worker_stores_what_it_is_asked_and_tells_what_was_warned_of(tmp_path: Path) -> None:
    worker = Worker(Order(load, str(tmp_path), threads=1, gpus=0))
    loaded = worker.load()
    assert isinstance(loaded, Loaded)
    assert (loaded.warnings, loaded.cuts_blocks) == (("it is slow",), False)
    assert loaded.supports == {Prompt, RankingPrompt}
    prompt = Prompt("x", ("a", "bc"))
    stored = worker.work([prompt])
    assert isinstance(stored, Stored)
    assert (tmp_path / stored.segment).is_file()
    rows = Store(tmp_path).read(loaded.fingerprint)
    assert rows["logprob"].to_list() == [by_letters(prompt, "a"), by_letters(prompt, "bc")]
    assert worker.call("cost", [[prompt]]) == [3]


@pytest.mark.parametrize(
    ("order", "said"),
    [
        (Order(load, "store", threads=1, gpus=0.5), "torch finds none"),
        (
            Order(load, "store", threads=1, gpus=0, version="0.0"),
            "install the same version on every node",
        ),
    ],
)
def test_a_worker_that_would_compute_something_else_is_refused(order: Order, said: str) -> None:
    """Without its GPU, or by another version of the code."""
    failed = Worker(order).load()
    assert isinstance(failed, Failed)
    assert said in str(failed.error)
    assert failed.is_final


@pytest.mark.parametrize(
    ("error", "raised", "is_final"),
    [
        (ScoringError("a"), ScoringError, True),
        (PromptError("b"), PromptError, True),
        (TooLongError("b"), TooLongError, True),
        (ModelError("c"), ModelError, True),
        (MissingPackage("torch", "local"), RequestError, True),
        (DataError("d", "file", 3), RequestError, True),
        (StoreError("e"), StoreError, False),
        (WorkError("f"), WorkError, False),
    ],
)
def test_an_error_is_the_same_at_the_other_end(
    error: Exception, raised: type[Exception], *, is_final: bool
) -> None:
    """In its words and its kind, when it has been sent from one process to another."""
    failed = pickle.loads(pickle.dumps(Failed.of(error)))  # noqa: S301 - made here
    assert type(failed.error) is raised
    assert str(failed.error) == str(error)
    assert (failed.is_final, failed.worker) == (is_final, "fine")


@pytest.mark.parametrize(
    ("error", "cause", "message"),
    [
        (OSError("the cable is loose"), None, "OSError: the cable is loose (on "),
        (ScoringError("the model failed"), RuntimeError("assert"), "the model failed (on "),
    ],
)
def test_an_error_of_a_library_names_its_machine(
    error: Exception, cause: Exception | None, message: str
) -> None:
    """It may have broken the worker or its GPU, so that another one is tried."""
    error.__cause__ = cause
    failed = Failed.of(error)
    assert type(failed.error) is ScoringError
    assert str(failed.error).startswith(message)
    assert (failed.is_final, failed.worker) == (False, "broken")


def test_a_worker_that_was_restarted_says_so_until_it_has_loaded_its_model(tmp_path: Path) -> None:
    failed = Worker(Order(load, str(tmp_path), threads=1, gpus=0)).work([Prompt("x", ("a",))])
    assert isinstance(failed, Failed)
    assert (failed.is_final, failed.worker) == (False, "lost")
