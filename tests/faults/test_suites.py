import json
import signal
from pathlib import Path

import pytest

from tests.faults.running import SMALL_BLOCKS, Warm, findings_of
from tests.runs.suite.suites import PARTS, states, written

pytestmark = pytest.mark.slow

SUITE = ("suite", "suite.yaml", "--no-report")
RUNS = [PARTS, {**PARTS, "name": "macaw", "preset": "macaw"}]
MODELS = ("first", "second")

# Models that answer at once: what is killed is the suite.
FAKES = """
from tacit import FakeModel
from tacit.models import loading

def load(name, *_):
    return FakeModel(lambda prompt, answer: -1.0 - len(prompt.text + answer) % 7, name)

loading.find, loading.load_model = lambda *_: None, load
"""
# In the second run of the second model, before its last blocks are stored.
STOPPED = """
import os, signal, time
from tacit.engine import store

append, appended = store.Store.append, [0]

def stopped(self, about, *rest):
    name = about["name"]
    appended[0] += name == "second"
    if appended[0] == {after}:
        os.kill(os.getpid(), signal.{signal})
        time.sleep(2)
    return append(self, about, *rest)

store.Store.append = stopped
"""
COUNTED = """
import json
from tacit.engine.local import LocalExecutor

check = LocalExecutor._check

def counted(self, requests, answers):
    with open("asked.jsonl", "a") as file:
        for at, one in enumerate(requests):
            file.write(json.dumps([self.model.name, one.text, at]) + "\\n")
    check(self, requests, answers)

LocalExecutor._check = counted
"""


@pytest.fixture(scope="module")
def whole(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole-suite")
    written(folder, models=MODELS, runs=RUNS)
    ended = warm.run(folder, *SUITE, setup=FAKES + COUNTED + SMALL_BLOCKS)
    assert ended.status == 0, ended.said
    return folder


def asked(folder: Path) -> list[tuple[str, str, int]]:
    lines = (folder / "asked.jsonl").read_text(encoding="utf-8").splitlines()
    return [tuple(json.loads(line)) for line in lines]


def segments(folder: Path) -> int:
    return len([*folder.glob(".tacit/scores/*/[0-9]*.parquet")])


@pytest.mark.parametrize("name", ["SIGINT", "SIGKILL"])
def test_a_suite_that_is_stopped_resumes(
    tmp_path: Path, warm: Warm, whole: Path, name: str
) -> None:
    written(tmp_path, models=MODELS, runs=RUNS)
    first = [(text, at) for model, text, at in asked(whole) if model == "second"]
    blocks = sum(at == 0 for _, at in first)
    assert blocks > 8, "the runs have several blocks"
    setup = FAKES + SMALL_BLOCKS + STOPPED.format(after=blocks - 2, signal=name)
    ended = warm.run(tmp_path, *SUITE, setup=setup)
    assert ended.status == (130 if name == "SIGINT" else -signal.SIGKILL), ended.said
    assert "Traceback" not in ended.said
    assert states(tmp_path / "runs") == {
        ("parts", "first"): "done",
        ("macaw", "first"): "done",
        ("parts", "second"): "done",
        ("macaw", "second"): "waiting",
    }
    stored = segments(tmp_path)
    ended = warm.run(tmp_path, *SUITE, setup=FAKES + COUNTED + SMALL_BLOCKS)
    assert ended.status == 0, ended.said
    assert ended.said.count("already finished") == 3
    rest = asked(tmp_path)
    assert {model for model, _, _ in rest} == {"second"}
    assert 0 < len(rest) < len(first) / 2
    assert stored < segments(tmp_path) == segments(whole)
    for run in ("parts", "macaw"):
        for model in MODELS:
            place = f"runs/{run}/{model}"
            assert findings_of(tmp_path / place) == findings_of(whole / place)
