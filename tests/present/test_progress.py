"""What standard error says of long work, by a clock that is put forward by hand."""

import functools
import logging
from dataclasses import dataclass
from pathlib import Path

import pytest

from tacit.engine.ask import Engine
from tacit.engine.store import Store
from tacit.models.fake import FakeModel
from tacit.present import progress
from tacit.present.progress import show_warnings, silence_libraries
from tacit.requests import Prompt
from tacit.requests.kind import Part

PROMPTS = [Prompt(f"text {n}", ("a",)) for n in range(1200)]


@dataclass
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    lines = functools.partial(progress.Lines, clock=found)
    monkeypatch.setattr(progress, "Lines", lines)
    return found


def asked(folder: Path, clock: Clock, seconds: float) -> None:
    """Asks all prompts in twelve blocks, each of which takes some seconds."""
    model = FakeModel(lambda _, __: -1.0)
    engine = Engine(model, Store(folder), block_tokens=sum(model.cost(PROMPTS)) // 12 + 1)
    plan = engine.plan(PROMPTS)
    with progress.asking(plan) as advance:

        def stored(part: Part) -> None:
            clock.now += seconds
            advance(part)

        engine.ask(PROMPTS, plan, stored)


def test_a_line_a_minute_off_a_terminal(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    """With what is done, of how much, the rate and the time left; and no control character."""
    asked(tmp_path / "short", clock, 4)
    assert capsys.readouterr().err == ""
    asked(tmp_path, clock, 25)
    told = capsys.readouterr()
    lines = told.err.splitlines()
    # Blocks end every 25 seconds: at the end of the third, sixth, ninth and last a minute is over.
    assert len(lines) == 4
    assert all(line.startswith("tacit: answered ") for line in lines)
    done = [int(line.split()[2].replace(",", "")) for line in lines]
    assert done == sorted(done)
    assert done[-1] == len(PROMPTS)
    assert f"of 1,200 prompts, {done[0] / 75:,.1f} prompts/s, about 4 min left" in lines[0]
    assert "about 0 s left" in lines[-1]
    assert all(line.isprintable() for line in lines)
    assert not told.out


def test_reading_tells_bytes(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress.reading(9_000_000_000) as advance:
        for read in range(0, 9_000_000_001, 1_500_000_000):
            advance(read)
            clock.now += 40
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "tacit: read 3.0 GB of 9.0 GB, about 3 min left"
    assert len(lines) == 3


def test_times_are_told_in_the_unit_that_fits() -> None:
    told = [progress.duration(seconds) for seconds in (0, 59.4, 90, 5400)]
    assert told == ["0 s", "59 s", "2 min", "1.5 h"]


def test_a_warning_starts_with_the_package_that_logs_it(capsys: pytest.CaptureFixture[str]) -> None:
    """What torchao logs because transformers imports it is not shown."""
    root = logging.getLogger()
    before, root.handlers = root.handlers, []
    try:
        show_warnings()
        logging.getLogger("tacit.models").warning("a %s", "file")
        logging.getLogger("peft.tuners").warning("not loaded")
        silence_libraries()
        logging.getLogger("torchao").warning("Failed to load %s", "a kernel")
    finally:
        root.handlers = before
    assert capsys.readouterr().err == "tacit: a file\npeft: not loaded\n"
