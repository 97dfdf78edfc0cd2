"""The executor as it looks after its workers, with a stand-in for Ray."""

import gc
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.engine.ray import executor
from tacit.engine.ray.cluster import Share
from tacit.engine.ray.executor import RayExecutor
from tacit.engine.ray.worker import Failed, Loaded, Order, Stored
from tacit.errors import ModelError, ScoringError, StoreError
from tacit.models.fake import FakeModel
from tacit.models.huggingface.fingerprint import FileHashes
from tacit.requests import Prompt
from tacit.requests.kind import Block
from tests.engine.ray_models import by_letters

Works = Callable[[int, str], Any]


class RayError(Exception):
    """As Ray's own."""


@dataclass
class StandIn:
    """Ray, whose references are tuples of a worker, a method, and a number of their own."""

    works: Works
    clock: float = 0.0
    called: list[tuple[int, str]] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    exceptions: Any = field(default_factory=lambda: SimpleNamespace(RayError=RayError))
    _numbers: Any = field(default_factory=itertools.count)
    _workers: Any = field(default_factory=itertools.count)

    def remote(self, _: object) -> SimpleNamespace:
        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=self._actor))

    def _actor(self, _: object) -> SimpleNamespace:
        worker = next(self._workers)

        def method(name: str) -> SimpleNamespace:
            def call(*_: object) -> tuple[int, str, int]:
                self.called.append((worker, name))
                return worker, name, next(self._numbers)

            return SimpleNamespace(remote=call, options=lambda **_: SimpleNamespace(remote=call))

        names = ("ready", "load", "work", "end")
        return SimpleNamespace(worker=worker, **{name: method(name) for name in names})

    def wait(
        self, references: Sequence[tuple[int, str, int]], timeout: float
    ) -> tuple[list[tuple[int, str, int]], list[object]]:
        """Return one reference whose result is there; otherwise, time passes."""
        ready = [one for one in references if one[1] == "ready" or self.works(*one[:2]) is not None]
        self.clock += 0 if ready else timeout
        return ready[:1], []

    def get(self, reference: tuple[int, str, int]) -> object:
        found = self.works(*reference[:2])
        if isinstance(found, Exception):
            raise found
        return found

    def is_initialized(self) -> bool:
        return True

    def kill(self, actor: SimpleNamespace, **_: object) -> None:
        self.ended.append(actor.worker)


def load(_: FileHashes) -> FakeModel:
    return FakeModel(by_letters)


def loaded(host: int) -> Loaded:
    return Loaded(
        "fake",
        "f",
        {},
        cuts_blocks=False,
        supports=frozenset(),
        warnings=("it is slow",),
        host=f"host {host}",
    )


def answering(worker: int, method: str) -> object:
    return loaded(worker) if method == "load" else Stored("scores/f/1", f"host {worker}")


Made = Callable[[Works, int], tuple[StandIn, RayExecutor]]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Made:
    """Make a stand-in and an executor of some workers, whose store has one segment."""
    (tmp_path / "scores" / "f").mkdir(parents=True)
    (tmp_path / "scores" / "f" / "1").touch()
    gc.collect()  # earlier executors end their workers before this test's are counted

    def made(works: Works, workers: int) -> tuple[StandIn, RayExecutor]:
        ray = StandIn(works)
        monkeypatch.setitem(sys.modules, "ray", ray)
        order = Order(load, str(tmp_path), threads=1, gpus=0)
        return ray, RayExecutor(order, Share(workers, 1, 0))

    return made


def made_of(number: int) -> list[Block]:
    return [Block((Prompt(f"text {at}", ("a",)),), 1) for at in range(number)]


def test_idle_workers_of_a_lost_node_receive_no_block(make: Made) -> None:
    """Otherwise each of them would lose the same block, which would then count as failed."""
    lost: set[int] = set()

    def works(worker: int, method: str) -> object:
        if worker in lost:
            return RayError("the actor died") if method == "work" else None
        return answering(worker, method)

    ray, ours = make(works, 5)
    list(ours.execute(made_of(10)))
    lost.update(one.actor.worker for one in ours._idle[1:])
    ray.called.clear()
    assert len(list(ours.execute(made_of(1)))) == 1
    assert sum(method == "work" for _, method in ray.called) == 2


def test_a_library_s_error_restarts_the_worker_and_an_own_one_does_not(make: Made) -> None:
    """The process, or its GPU, may be in a bad state."""
    failed = {1: Failed(ScoringError("x"), worker="broken"), 2: Failed(StoreError("y"))}

    def works(worker: int, method: str) -> object:
        times = ray.called.count((worker, "work"))
        return (
            failed.get(times) if method == "work" and times in failed else answering(worker, method)
        )

    ray, ours = make(works, 1)
    assert len(list(ours.execute(made_of(1)))) == 1
    assert [method for _, method in ray.called] == [
        *("ready", "load"),
        *("work", "end", "load"),
        *("work", "work"),
    ]


def test_an_interruption_ends_the_workers_also_between_two_blocks(make: Made) -> None:
    """Otherwise they would occupy their cores for as long as the executor exists."""
    ray, ours = make(answering, 1)
    blocks = ours.execute(made_of(2))
    next(blocks)
    assert not ray.ended
    blocks.close()
    assert ray.ended == [0]


@pytest.mark.parametrize("stored", [False, True])
def test_a_node_with_another_model_ends_a_run_only_at_its_beginning(
    make: Made, caplog: pytest.LogCaptureFixture, *, stored: bool
) -> None:
    """As soon as a block is stored, the others continue without it."""
    late = not stored

    def works(worker: int, method: str) -> object:
        if method == "load" and worker == 1:
            return replace(loaded(worker), fingerprint="g") if late else None
        return answering(worker, method)

    ray, ours = make(works, 2)
    if stored:
        list(ours.execute(made_of(1)))
        late = True
        list(ours.execute(made_of(9)))
        assert (ours.size, ray.ended) == (1, [1])
        assert "1 of 2 workers remain" in caplog.text
    else:
        with pytest.raises(ModelError, match="on host 1 differs from the model on host 0"):
            list(ours.execute(made_of(9)))


def test_a_model_that_no_worker_can_load_ends_the_run(make: Made) -> None:
    failed = Failed(ScoringError("out of memory"), worker="broken")
    ray, ours = make(lambda _, method: failed if method == "load" else None, 2)
    with pytest.raises(ScoringError, match="no worker could be started: out of memory"):
        ours.first()
    assert ray.called.count((0, "load")) == ray.called.count((1, "load")) == 3


def test_workers_that_load_for_long_are_reported(
    make: Made, caplog: pytest.LogCaptureFixture
) -> None:
    """Every ten minutes; the run waits. What the first worker was warned of is passed on."""
    ray, ours = make(answering, 1)
    ray.works = lambda worker, method: answering(worker, method) if ray.clock > 1000 else None
    ours.first()
    assert [message.partition(",")[0] for message in caplog.messages] == [
        *["all workers have been loading the model"] * 2,
        "it is slow",
    ]


def test_segments_that_are_listed_late_are_awaited(
    make: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared file system may show a file late; one that never appears is an error."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        (tmp_path / "scores" / "f" / "late").touch()

    _, ours = make(answering, 1)
    monkeypatch.setattr("time.sleep", sleep)
    ours._await({"scores/f/1": "host", "scores/f/late": "host"})
    assert len(slept) == 1
    monkeypatch.setattr(executor, "SEEN", -1.0)
    with pytest.raises(StoreError, match="a file that the worker on host wrote is not visible"):
        ours._await({"scores/f/never": "host"})
