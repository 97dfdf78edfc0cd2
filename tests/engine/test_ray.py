import os
import signal
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tacit.engine.ask import Engine
from tacit.engine.options import EngineOptions
from tacit.engine.ray.engine import ray_engine
from tacit.engine.store import Store
from tacit.errors import ModelError, ScoringError, TooLongError
from tacit.models.fake import FakeModel
from tacit.requests import TOO_LONG, Prompt, RankingPrompt, ScoringKind, Vocabulary
from tacit.requests.kind import Part
from tests.engine.ray_models import Telling, by_letters
from tests.engine.three_nodes import three_nodes

pytestmark = pytest.mark.slow

pytest.importorskip("ray", reason="the extra ray is not installed")

PROMPTS = [Prompt(f"text {n}" + " w" * (n % 9), ("a", "bc")) for n in range(60)]
BLOCK = 30


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with three_nodes(tmp_path_factory.mktemp("cache")) as made:
        yield made


@pytest.fixture
def telling(tmp_path: Path) -> Telling:
    return Telling(tmp_path / "asked.txt")


def on_ray(load: Telling, store: Store, workers: int = 2) -> Engine:
    return ray_engine(load, store, EngineOptions(workers=workers, threads=1), BLOCK)


@pytest.mark.usefixtures("cluster")
def test_workers_give_what_the_local_engine_gives_and_record_the_same(
    tmp_path: Path, telling: Telling
) -> None:
    """Scores and rankings to the last bit, in the same blocks; other workers ask nothing again."""
    words = Vocabulary(("bear", "cat", "seal"))
    ranked = [RankingPrompt(f"text {n}", words, ("cat", "bear")) for n in range(20)]
    local = Engine(FakeModel(by_letters, "telling"), Store(tmp_path / "local"), BLOCK)
    engine = on_ray(telling, Store(tmp_path / "store"))
    paths = {"one": local, "other": engine}
    for name, each in paths.items():
        each.plan(PROMPTS).record(tmp_path / name)
        each.plan(ranked).record(tmp_path / f"{name} ranked")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    assert (tmp_path / "one ranked").read_bytes() == (tmp_path / "other ranked").read_bytes()
    assert engine.ask(PROMPTS) == local.ask(PROMPTS)
    assert engine.ask(ranked) == local.ask(ranked)
    assert sorted(telling.texts()) == sorted(prompt.text for prompt in PROMPTS)
    del engine, paths, each
    again = on_ray(telling, Store(tmp_path / "store"), workers=1)
    assert again.ask(PROMPTS) == local.ask(PROMPTS)
    assert len(telling.reports()) == len(PROMPTS)


@pytest.mark.usefixtures("cluster")
def test_what_a_worker_calls_too_long_is_skipped(tmp_path: Path) -> None:
    long = Prompt(" ".join("w" * 50), ("a", "bc"))
    prompts = [*PROMPTS[:5], long, *PROMPTS[5:]]
    telling = Telling(tmp_path / "asked.txt", window=40)
    scores = on_ray(telling, Store(tmp_path / "store")).ask(prompts)
    assert scores[5] == ScoringKind().missing(long, TOO_LONG)
    local = Engine(FakeModel(by_letters, "telling"), Store(tmp_path / "local"), BLOCK)
    assert [*scores[:5], *scores[6:]] == local.ask(PROMPTS)
    with pytest.raises(TooLongError):
        replace(on_ray(telling, Store(tmp_path / "other")), strict=True).ask(prompts)


def test_a_killed_worker_and_a_lost_node_change_nothing(
    tmp_path: Path,
    cluster: Any,  # noqa: ANN401 - Ray's own
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Their blocks in flight are asked again, and no other prompt is asked twice."""
    telling = Telling(tmp_path / "asked.txt", seconds=0.2)
    engine = on_ray(telling, Store(tmp_path / "store"), workers=3)
    lost = cluster.list_all_nodes()[-1]
    done: list[set[str]] = []

    def disturb(block: Part) -> None:
        done.append({prompt.text for prompt in block.requests})
        if len(done) == 4:
            others = [pid for node, pid, _ in telling.reports() if node != lost.node_id]
            os.kill(others[-1], signal.SIGKILL)
        if len(done) == 8:
            cluster.remove_node(lost, allow_graceful=False)

    scores = engine.ask(PROMPTS, engine.plan(PROMPTS), disturb)
    local = Engine(FakeModel(by_letters, "telling"), Store(tmp_path / "local"), BLOCK)
    assert scores == local.ask(PROMPTS)
    # A worker that is killed between two blocks leaves no block that another one has to take over.
    assert sum("is sent to another worker" in message for message in caplog.messages) in {1, 2}
    times = Counter(telling.texts())
    assert set(times.values()) <= {1, 2, 3}  # a block may be in flight at both faults
    twice = {text for text, asked in times.items() if asked > 1}
    assert sum(not twice.isdisjoint(block) for block in done) <= 2


@pytest.mark.usefixtures("cluster")
def test_what_an_interruption_left_is_kept(tmp_path: Path, telling: Telling) -> None:
    """And the rest is asked by whoever comes next, on another number of workers."""
    store, path = Store(tmp_path / "store"), tmp_path / "blocks.parquet"
    engine = on_ray(telling, store)
    plan = engine.plan(PROMPTS, path)
    plan.record(path)
    done: list[str] = []

    def stop(block: Part) -> None:
        done.extend(prompt.text for prompt in block.requests)
        if len(done) > 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        engine.ask(PROMPTS, plan, stop)
    again = on_ray(telling, store, workers=1)
    rest = again.plan(PROMPTS, path)
    assert set(rest.blocks) < set(plan.blocks)
    again.ask(PROMPTS, rest)
    times = Counter(telling.texts())
    assert set(times) == {prompt.text for prompt in PROMPTS}
    assert {times[text] for text in done} == {1}


@pytest.mark.usefixtures("cluster")
def test_workers_write_to_a_store_at_an_address(tmp_path: Path, telling: Telling) -> None:
    local = Engine(FakeModel(by_letters, "telling"), Store(tmp_path / "local"), BLOCK)
    shared = Store(f"local://{tmp_path}/shared")
    assert on_ray(telling, shared, workers=1).ask(PROMPTS) == local.ask(PROMPTS)


@pytest.mark.usefixtures("cluster")
@pytest.mark.parametrize(
    ("text", "asked", "said"),
    [
        ("unscorable", 1, r"^the model failed$"),
        ("flaky", 3, "'flaky' failed 3 times: OSError: the cable is loose"),
        ("deadly", 3, "'deadly' failed 3 times: its worker was lost"),
    ],
)
def test_a_block_that_fails_ends_the_run_with_its_error(
    tmp_path: Path, telling: Telling, text: str, asked: int, said: str
) -> None:
    """At once where the model refuses it, after three times where it might have been the worker."""
    prompts = [Prompt(each, ("a",)) for each in ("a fine one", text)]
    engine = replace(on_ray(telling, Store(tmp_path / "store"), workers=1), block_tokens=1)
    with pytest.raises(ScoringError, match=said):
        engine.ask(prompts)
    assert telling.texts().count(text) == asked
    assert engine.plan(prompts).stored == 1


@pytest.mark.usefixtures("cluster")
def test_a_model_that_is_not_there_is_refused_in_its_own_words(
    tmp_path: Path, telling: Telling
) -> None:
    with pytest.raises(ModelError, match=r"^missing: there is no such model folder$"):
        on_ray(replace(telling, name="missing"), Store(tmp_path / "store"))
