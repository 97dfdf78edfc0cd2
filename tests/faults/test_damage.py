from __future__ import annotations

from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.requests import Prompt
from tests.engine.test_ask import by_length
from tests.engine.test_store import DAMAGES, flipped
from tests.faults.running import PEACH, Warm, findings_of

pytestmark = pytest.mark.slow

PROMPTS = [Prompt(f"text {'x' * n}", ("a", "b")) for n in range(6)]


def test_what_a_damaged_segment_held_is_asked_again_and_nothing_else(tmp_path: Path) -> None:
    whole = Engine(FakeModel(by_length), Store(tmp_path), block_tokens=1, seconds=0).ask(PROMPTS)
    segment = sorted(tmp_path.glob("scores/*/*.parquet"))[2]
    segment.write_bytes(flipped(segment.read_bytes()))
    model = FakeModel(by_length)
    assert Engine(model, Store(tmp_path), block_tokens=1, seconds=0).ask(PROMPTS) == whole
    assert len(model.asked) == 1
    again = FakeModel(by_length)
    assert Engine(again, Store(tmp_path)).ask(PROMPTS) == whole
    assert not again.asked


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
