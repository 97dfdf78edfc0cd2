"""The executor as it looks after its workers, with a stand-in for Ray."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tacit.engine.ray.cluster import Share
from tacit.engine.ray.executor import RayExecutor
from tacit.engine.ray.handles import Job, Patience, WorkerHandle
from tacit.engine.ray.worker import Loaded, Order, Stored
from tacit.errors import ModelError, StoreError
from tacit.models.fake import FakeModel
from tacit.models.huggingface.fingerprint import FileHashes
from tests.engine.ray_models import by_letters


class RayError(Exception):
    """As Ray's own."""


@dataclass
class StandIn:
    """Ray, whose references are functions that give what comes back.

    Args:
        nodes_there: The nodes that are there.
        works: What comes back when an actor is asked for a thing; None while it is under way.
        clock: The time.
    """

    nodes_there: set[str]
    works: Callable[[str, str], object]
    clock: float = 0.0
    hired: list[str] = field(default_factory=list)
    ended: list[str] = field(default_factory=list)
    exceptions: Any = field(default_factory=lambda: SimpleNamespace(RayError=RayError))

    def actor(self, node: str) -> SimpleNamespace:
        """A handle of a worker on a node."""
        each = {
            name: SimpleNamespace(remote=lambda *_, name=name: (node, name))
            for name in ("load", "ping", "work")
        }
        return SimpleNamespace(node=node, **each)

    def remote(self, _: object) -> SimpleNamespace:
        """Makes workers, each on a node of its own name."""

        def made(_: object) -> SimpleNamespace:
            self.hired.append(f"node {len(self.hired)}")
            return self.actor(self.hired[-1])

        options = SimpleNamespace(remote=made)
        return SimpleNamespace(options=lambda **_: options)

    def wait(
        self, references: Sequence[tuple[str, str]], timeout: float
    ) -> tuple[list[tuple[str, str]], list[object]]:
        """Those that have come back; time passes where a wait has a length."""
        self.clock += timeout
        ready = [each for each in references if self.works(*each) is not None]
        return ready[-1:], []

    def get(self, reference: tuple[str, str]) -> object:
        """What came back."""
        found = self.works(*reference)
        if isinstance(found, Exception):
            raise found
        return found

    def nodes(self) -> list[dict[str, Any]]:
        """As Ray tells of them."""
        return [{"NodeID": node, "Alive": True} for node in self.nodes_there]

    def is_initialized(self) -> bool:
        """It is."""
        return True

    def kill(self, actor: SimpleNamespace, **_: object) -> None:
        """Writes down whose process ended."""
        self.ended.append(actor.node)


@pytest.fixture
def put_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[StandIn], StandIn]:
    """Puts a stand-in in the place of Ray and of the clock."""

    def put(ray: StandIn) -> StandIn:
        monkeypatch.setitem(sys.modules, "ray", ray)
        monkeypatch.setattr("time.monotonic", lambda: ray.clock)
        return ray

    return put


def load(_: FileHashes) -> FakeModel:
    """Any model."""
    return FakeModel(by_letters)


def loaded(host: str) -> Loaded:
    """What a worker tells when it has loaded its model."""
    return Loaded("fake", "f", {}, cuts_blocks=False, supports=frozenset(), warnings=(), host=host)


def answering(node: str, what: str) -> object:
    """What a worker answers that is there."""
    return {"load": loaded(node), "ping": node}.get(what, what)


def executor_of(workers: int) -> RayExecutor:
    """A executor of some workers on one core each."""
    order = Order(load, "store", threads=1, gpus=0)
    return RayExecutor(order, Share(workers, 1, 0), Patience())


def test_a_executor_of_short_jobs_is_there(put_in: Callable[[StandIn], StandIn]) -> None:
    """Where each job ends before the next look, the run goes on beyond the time for starting."""
    ray = put_in(StandIn({"node 0"}, answering))
    executor = executor_of(1)
    executor.first()
    for _ in range(3):
        ray.clock += 400.0
        jobs = [Job(lambda actor: actor.work.remote(), "a job")]
        assert [done for _, done in executor._done(jobs)] == ["work"]
    assert ray.hired == ["node 0"]


def test_a_worker_tells_where_it_is_though_it_is_given_jobs(
    put_in: Callable[[StandIn], StandIn],
) -> None:
    """The answer to a ping is kept when the next job is given."""
    ray = put_in(StandIn({"node 0"}, lambda node, what: node if what == "ping" else None))
    worker = WorkerHandle(ray.actor("node 0"), None, loaded("host"))
    for _ in range(2):
        worker.give(Job(lambda actor: actor.work.remote(), "a job"))
        assert worker.missing({"node 0"}, Patience()) is None
    assert worker.node == "node 0"


def test_idle_workers_of_a_lost_node_are_given_no_job(
    put_in: Callable[[StandIn], StandIn],
) -> None:
    """Else one block goes to each of them in turn, and is given up though it is a good one."""
    there = {"lost", "node 0"}

    def works(node: str, what: str) -> object:
        if what == "ping":
            return node
        if node not in there:
            return RayError("the actor died")
        return loaded(node) if what == "load" else what

    ray = put_in(StandIn(there, works))
    executor = executor_of(4)
    executor._workers += [WorkerHandle(ray.actor("lost"), None, loaded("host")) for _ in range(4)]
    for worker in executor._workers:
        assert not worker.is_nowhere(there)
        ray.clock += 1
    there.remove("lost")
    there |= {f"node {n}" for n in range(4)}
    jobs = [Job(lambda actor: actor.work.remote(), "a job")]
    assert [done for _, done in executor._done(jobs)] == ["work"]
    assert jobs[0].failures == {"lost": 1}
    assert ray.ended == ["lost"] * 4


@pytest.mark.parametrize("stored", [False, True])
def test_a_node_with_another_model_ends_a_run_only_at_its_beginning(
    put_in: Callable[[StandIn], StandIn], *, stored: bool
) -> None:
    """Once a block is stored, those who hold the right one go on without it."""

    def works(node: str, what: str) -> object:
        if what == "load":
            return replace(loaded(node), fingerprint="f" if node == "node 0" else "g")
        return answering(node, what)

    ray = put_in(StandIn({f"node {n}" for n in range(9)}, works))
    executor = executor_of(1)
    executor.first()
    executor._wanted = 2
    jobs = [Job(lambda actor: actor.work.remote(), "a job") for _ in range(9)]
    if stored:
        executor._seen_from.add("node 0")
        assert [done for _, done in executor._done(jobs)] == ["work"] * 9
        assert executor.size == 1
        assert ray.ended == ["node 1", "node 2", "node 3"]
    else:
        with pytest.raises(ModelError, match="on node 1 differs from the model on node 0"):
            list(executor._done(jobs))


def test_a_worker_that_loads_for_long_is_told_of(
    put_in: Callable[[StandIn], StandIn], caplog: pytest.LogCaptureFixture
) -> None:
    """Each time that it has taken so long again; it is not given up."""
    ray = put_in(StandIn({"node 0"}, lambda node, what: node if what == "ping" else None))

    def works(node: str, what: str) -> object:
        return None if what == "load" and ray.clock < 1500 else answering(node, what)

    ray.works = works
    executor_of(1).first()
    said = [record.getMessage().partition(";")[0] for record in caplog.records]
    assert said == [f"a worker has been loading its model for {n} min" for n in (10, 20)]


def test_a_run_ends_when_what_was_written_is_listed(
    put_in: Callable[[StandIn], StandIn], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shared folder may take its time; what is never listed is waited for no longer than that."""
    ray = put_in(StandIn({"node 0"}, answering))
    order = Order(load, str(tmp_path), threads=1, gpus=0)
    executor = RayExecutor(order, Share(1, 1, 0), Patience(seen=9.0))
    (tmp_path / "scores").mkdir()

    def sleep(seconds: float) -> None:
        ray.clock += seconds
        if ray.clock == 5:
            (tmp_path / "scores" / "late").touch()

    monkeypatch.setattr("time.sleep", sleep)
    executor._await_listed({"scores/late"})
    assert ray.clock == 5
    executor._await_listed({"scores/late", "scores/never"})
    assert ray.clock == 14


def test_a_store_that_is_another_one_there_is_named_without_its_user() -> None:
    """As every other message names it."""
    pytest.importorskip("fsspec")
    order = Order(load, "memory://me@host/elsewhere", threads=1, gpus=0)
    executor = RayExecutor(order, Share(1, 1, 0), Patience(seen=0.0))
    with pytest.raises(
        StoreError, match=r"^memory://host/elsewhere: a file that the worker on node 2"
    ):
        executor._check_seen(Stored("scores/x/1.parquet", "node 2"))
