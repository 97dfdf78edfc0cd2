"""A run on a Ray cluster of three nodes that is interrupted; it ends as the local one."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ray.executor import RayExecutor, dismiss
from tacit.requests.kind import Block, Part
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.engine.three_nodes import three_nodes

pytestmark = pytest.mark.slow

pytest.importorskip("ray", reason="the extra ray is not installed")

PARTS = (
    *("run", "parts", "--model", "demo", "--drawings", demo_drawings()),
    *("--things", "peach,lantern", "--threads", 1),
)
BLOCK = 150


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


def findings_of(folder: Path) -> dict[str, bytes]:
    """The bytes of all that a run leaves in its folder, but for its manifest."""
    files = {path.relative_to(folder): path for path in folder.rglob("*") if path.is_file()}
    return {
        str(name): path.read_bytes() for name, path in files.items() if path.name != "manifest.json"
    }


def segments(store: Path) -> int:
    """How many blocks are stored."""
    return len(list(store.glob("scores/*/*.parquet")))


@pytest.mark.usefixtures("cluster")
def test_a_run_that_two_workers_began_is_ended_by_one(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Interrupted when some blocks were stored, which are not asked again: the same bytes."""
    execute = RayExecutor.execute
    stored: list[int] = []

    def counting(executor: RayExecutor, blocks: Sequence[Block]) -> Generator[Part]:
        with closing(execute(executor, blocks)) as done:
            for number, block in enumerate(done, 1):
                stored.append(number)
                if executor.size == 2 and number == 6:
                    raise KeyboardInterrupt
                yield block
        dismiss(executor._workers)

    monkeypatch.setattr(RayExecutor, "execute", counting)
    ran = tacit(*PARTS, "--store", "local.store", "--out", "local")
    assert ran.code == 0, ran.err
    resumed = (*PARTS, "--store", "run.store", "--out", "run", "--engine", "ray", "--workers")
    ran = tacit(*resumed, 2)
    assert ran.code == 130, ran.err
    assert "run the same command again to resume" in ran.err
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "unfinished"
    before, whole = segments(workplace / "run.store"), segments(workplace / "local.store")
    assert 6 <= before < whole
    stored.clear()
    ran = tacit(*resumed, 1)
    assert ran.code == 0, ran.err
    assert 0 < len(stored) <= whole - before
    assert findings_of(workplace / "run") == findings_of(workplace / "local")
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert (manifest["engine"]["kind"], manifest["engine"]["workers"]) == ("ray", 1)
