from __future__ import annotations

from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.errors import StoreError
from tacit.models.fake import FakeModel
from tacit.requests import Prompt, RankingPrompt, Vocabulary
from tests.engine.test_store import DAMAGES, flipped
from tests.faults.running import PEACH, SMALL_BLOCKS, Warm, findings_of

pytestmark = pytest.mark.slow

PROMPTS = [Prompt(f"text {'x' * n}", ("a", "b")) for n in range(6)]


def by_length(prompt: Prompt, answer: str) -> float:
    """A score that is another for each prompt."""
    return -float(len(prompt.text)) - len(answer) / 8


def test_what_a_damaged_segment_held_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    """The scores are what they were."""
    whole = Engine(FakeModel(by_length), Store(tmp_path), block_tokens=1, seconds=0).ask(PROMPTS)
    segment = sorted(tmp_path.glob("scores/*/*.parquet"))[2]
    segment.write_bytes(flipped(segment.read_bytes()))
    model = FakeModel(by_length)
    assert Engine(model, Store(tmp_path), block_tokens=1, seconds=0).ask(PROMPTS) == whole
    assert len(model.asked) == 1
    again = FakeModel(by_length)
    assert Engine(again, Store(tmp_path)).ask(PROMPTS) == whole
    assert not again.asked


def test_a_segment_damaged_while_the_rest_is_asked_is_asked_again(tmp_path: Path) -> None:
    """The plan took it for whole."""
    Engine(FakeModel(by_length), Store(tmp_path)).ask(PROMPTS[:3])
    model = FakeModel(by_length)
    engine = Engine(model, Store(tmp_path))
    plan = engine.plan(PROMPTS)
    next(tmp_path.glob("scores/*/*.parquet")).write_bytes(b"garbled")
    scores = engine.ask(PROMPTS, plan)
    assert scores == FakeModel(by_length).answer(PROMPTS)
    assert sorted(prompt.text for prompt in model.asked) == sorted(p.text for p in PROMPTS)


def test_a_ranking_damaged_while_the_rest_is_ranked_is_ranked_again(tmp_path: Path) -> None:
    """As scores are."""
    words = Vocabulary(["bear", "seal", "otter"])
    prompts = [RankingPrompt(f"text {n}", words, ("bear",)) for n in range(4)]
    Engine(FakeModel(by_length), Store(tmp_path)).ask(prompts[:2])
    engine = Engine(FakeModel(by_length), Store(tmp_path))
    plan = engine.plan(prompts)
    next(tmp_path.glob("rankings/*/*.parquet")).write_bytes(b"garbled")
    assert engine.ask(prompts, plan) == FakeModel(by_length).answer(prompts)


def test_a_store_that_loses_what_is_written_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not asked for ever."""
    monkeypatch.setattr("tacit.engine.storage._fill", lambda file, _: file.write_bytes(b"garbled"))
    with pytest.raises(StoreError, match="no longer contains answers that were just written"):
        Engine(FakeModel(by_length), Store(tmp_path)).ask(PROMPTS)


def test_a_run_with_damaged_segments_says_so_and_finds_the_same(
    tmp_path: Path, warm: Warm, whole: dict[str, bytes]
) -> None:
    """On standard error, with each file and the reason; made again, it says nothing."""
    command = (*PEACH, "--out", "run")
    warm.run(tmp_path, *command)
    segments = sorted(tmp_path.glob(".tacit/scores/*/*.parquet"))[1:]
    damages = [DAMAGES[name] for name in ("flipped", "truncated", "empty")]
    for segment, damage in zip(segments, damages, strict=False):
        segment.write_bytes(damage(segment.read_bytes()))
    ended = warm.run(tmp_path, *command)
    assert ended.status == 0
    said = [line for line in ended.said.splitlines() if "damaged" in line]
    assert len(said) == len(damages)
    for line, segment in zip(said, segments, strict=False):
        assert segment.name in line
        assert "its checksum" in line
    assert findings_of(tmp_path / "run") == whole
    assert "damaged" not in warm.run(tmp_path, *command).said


FULL = """
import resource
from tacit.engine import store

append, appended = store.Store.append, 0

def fill(most):
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, resource.RLIM_INFINITY))

def full(*arguments):
    global appended
    appended += 1
    if appended == 3:
        fill(500)
    return append(*arguments)

store.Store.append = full
"""


@pytest.mark.parametrize(("setup", "what"), [("fill(2000)", "blocks.parquet"), ("", "scores")])
def test_a_run_on_a_full_disk_says_so_and_the_same_command_goes_on(
    tmp_path: Path, warm: Warm, whole: dict[str, bytes], setup: str, what: str
) -> None:
    """Here no file can grow beyond some bytes; nothing half written is left."""
    command = (*PEACH, "--out", "run")
    ended = warm.run(tmp_path, *command, setup=SMALL_BLOCKS + FULL + setup)
    assert ended.status == 1
    said = ended.said.splitlines()[-1]
    assert what in said
    assert "cannot be written: [Errno 27]" in said
    assert "Traceback" not in ended.said
    assert not list(tmp_path.rglob(".*-*")), "no half file is left"
    assert warm.run(tmp_path, *command).status == 0
    assert findings_of(tmp_path / "run") == whole
