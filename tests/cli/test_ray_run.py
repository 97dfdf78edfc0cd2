"""A run on a Ray cluster of three nodes, and what may happen to it; it ends as the local one."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.plan import Plan
from tacit.engine.ray.executor import RayExecutor
from tacit.requests.block import Part
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Ran, Tacit
from tests.engine.three_nodes import three_nodes

Disturb = Callable[[RayExecutor, int], None]

pytestmark = pytest.mark.slow

ray = pytest.importorskip("ray", reason="the extra ray is not installed")

PARTS = (
    *("run", "parts", "--model", "demo", "--drawings", demo_drawings()),
    *("--things", "peach,lantern", "--threads", 1),
)
BLOCK = 150
LONG = 120.0
"""Seconds for what a busy machine may take its time over."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Three nodes of one core each, on this machine; the driver is connected to the first."""
    with three_nodes(tmp_path_factory.mktemp("cache")) as made:
        yield made


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Some thirty of them in a run; and as many threads as before."""
    import torch

    from tacit.engine import ask
    from tacit.engine.ray import engine as by_workers

    before = torch.get_num_threads()
    monkeypatch.setattr(ask, "Engine", partial(ask.Engine, block_tokens=BLOCK, seconds=0))
    monkeypatch.setattr(
        by_workers, "ray_engine", partial(by_workers.ray_engine, block_tokens=BLOCK)
    )
    yield
    torch.set_num_threads(before)


@pytest.fixture
def on_ray(tacit: Tacit, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Runs the probe by workers, with something done whenever a block is stored."""
    from tacit.engine.ray.executor import RayExecutor, _disband

    execute = RayExecutor.execute
    executors: list[RayExecutor] = []

    def run(name: str, workers: int, disturb: Disturb = lambda _, __: None) -> Ran:
        def disturbed(executor: RayExecutor, plan: Plan) -> Generator[Part]:
            executors.append(executor)
            with closing(execute(executor, plan)) as done:
                for number, block in enumerate(done, 1):
                    disturb(executor, number)
                    yield block

        monkeypatch.setattr(RayExecutor, "execute", disturbed)
        to = ("--store", f"{name}.store", "--out", name)
        ran = tacit(*PARTS, *to, "--engine", "ray", "--workers", workers)
        while executors:
            _disband(executors.pop()._workers)  # as when a process ends
        return ran

    return run


def findings_of(folder: Path) -> dict[str, bytes]:
    """The bytes of all that a run leaves in its folder, but for its manifest."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes() for name, path in files.items() if path.name != "manifest.json"
    }


def waited(until: Callable[[], bool]) -> None:
    """Comes back when it is so."""
    end = time.monotonic() + LONG
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_gone(actor: Any) -> bool:  # noqa: ANN401 - Ray's handles
    """Whether Ray knows that an actor's process has ended."""
    try:
        ray.get(actor.ping.remote(), timeout=1)
    except ray.exceptions.RayActorError:
        return True
    except ray.exceptions.GetTimeoutError:
        return False
    return False


def all_loaded(executor: RayExecutor) -> None:
    """Comes back when each worker has done what it is at, which for most is to load the model."""
    pending = [worker.pending for worker in executor._workers if worker.pending is not None]
    assert len(ray.wait(pending, num_returns=len(pending), timeout=LONG)[0]) == len(pending)


def by_folder(executor: RayExecutor, node: str) -> tuple[list[Any], list[Any]]:
    """The workers on a node, and those on others."""
    actors = [worker.actor for worker in executor._workers]
    nodes = dict(zip(actors, ray.get([actor.ping.remote() for actor in actors]), strict=True))
    here = [actor for actor in actors if nodes[actor] == node]
    return here, [actor for actor in actors if actor not in here]


def process_of(actor: Any) -> int:  # noqa: ANN401 - Ray's handles
    """The number of an actor's process."""
    return int(ray.get(actor.__ray_call__.remote(lambda _: os.getpid())))


@pytest.fixture
def local(tacit: Tacit, workplace: Path) -> dict[str, bytes]:
    """What the run leaves that no worker had a part in."""
    ran = tacit(*PARTS, "--store", "local.store", "--out", "local")
    assert ran.code == 0, ran.err
    return findings_of(workplace / "local")


def segments(store: Path) -> int:
    """How many blocks are stored."""
    return len(list(store.glob("scores/*/*.parquet")))


@pytest.mark.usefixtures("cluster")
def test_a_run_that_two_workers_began_is_ended_by_one(
    local: dict[str, bytes], on_ray: Callable[..., Ran], workplace: Path
) -> None:
    """Interrupted when some blocks were stored, which are not asked again: the same bytes."""

    def stop(_: RayExecutor, number: int) -> None:
        if number == 6:
            raise KeyboardInterrupt

    ran = on_ray("run", 2, stop)
    assert ran.code == 130, ran.err
    assert "run the same command again to resume" in ran.err
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "unfinished"
    stored, whole = segments(workplace / "run.store"), segments(workplace / "local.store")
    assert 6 <= stored < whole
    asked: list[int] = []
    ran = on_ray("run", 1, lambda _, number: asked.append(number))
    assert ran.code == 0, ran.err
    assert len(asked) <= whole - stored
    assert findings_of(workplace / "run") == local
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["engine"]["kind"], manifest["engine"]["workers"]) == ("ray", 1)


def test_a_run_that_loses_a_worker_and_a_node_ends_as_the_local_one(
    cluster: Any,  # noqa: ANN401 - Ray's own
    local: dict[str, bytes],
    on_ray: Callable[..., Ran],
    workplace: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The process of one of three is killed, then another one's node goes: the same bytes."""
    lost = cluster.list_all_nodes()[-1]
    on_lost: list[Any] = []
    removed: list[int] = []

    def elsewhere() -> int:
        return sum("is sent to another worker" in message for message in caplog.messages)

    def disturb(executor: RayExecutor, number: int) -> None:
        if number == 1:
            all_loaded(executor)
        elif number == 4:
            here, others = by_folder(executor, lost.node_id)
            on_lost.extend(here)
            os.kill(process_of(others[0]), signal.SIGKILL)
            waited(lambda: is_gone(others[0]))
        elif elsewhere() and not removed:
            removed.append(number)
            cluster.remove_node(lost, allow_graceful=False)
            waited(lambda: is_gone(on_lost[0]))

    ran = on_ray("run", 3, disturb)
    assert ran.code == 0, ran.err
    assert len(on_lost) == 1
    assert 4 < removed[0] < segments(workplace / "local.store")
    assert elsewhere() == 2
    assert findings_of(workplace / "run") == local
