from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tacit.engine.store import Store
from tacit.errors import StoreError
from tacit.prompts import AnswerScore, LogProbs, Prompt

if TYPE_CHECKING:
    from pathlib import Path

MODEL = {"fingerprint": "f" * 64, "name": "made up"}
PROMPT = Prompt("x", ("a",))


def scored(value: float) -> list[LogProbs]:
    """One prompt's score."""
    return [LogProbs((AnswerScore("a", value, 1),))]


def test_of_two_scores_for_one_answer_the_earlier_published_counts(tmp_path: Path) -> None:
    """What was once read is always read again."""
    store = Store(tmp_path)
    store.append(MODEL, [PROMPT], scored(-1.0))
    store.append(MODEL, [PROMPT], scored(-2.0))
    assert store.read(MODEL["fingerprint"])["logprob"].to_list() == [-1.0]


def test_segments_are_numbered_in_the_order_they_were_published(tmp_path: Path) -> None:
    """Whatever clock and process they come from."""
    names = [Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0)).name[:8] for _ in range(3)]
    assert names == ["00000001", "00000002", "00000003"]


@pytest.mark.parametrize("damage", ["flip", "cut", "empty"])
def test_a_damaged_segment_is_an_error_that_names_it(tmp_path: Path, damage: str) -> None:
    """A wrong number never comes out of it."""
    store = Store(tmp_path)
    prompts = [Prompt(f"text {n}", ("a",)) for n in range(50)]
    scores = [LogProbs((AnswerScore("a", -n / 3, 1),)) for n in range(50)]
    segment = store.append(MODEL, prompts, scores)
    content = bytearray(segment.read_bytes())
    content[len(content) // 4] ^= 0x10
    damaged = {"flip": content, "cut": content[:-40], "empty": b""}[damage]
    segment.write_bytes(bytes(damaged))
    with pytest.raises(StoreError, match=segment.name):
        store.read(MODEL["fingerprint"])


def test_a_person_s_own_files_are_left_alone(tmp_path: Path) -> None:
    """A store in a folder that is somebody's keeps their .gitignore."""
    (tmp_path / ".gitignore").write_text("secret\n", encoding="utf-8")
    Store(tmp_path).append(MODEL, [PROMPT], scored(-1.0))
    assert (tmp_path / ".gitignore").read_text(encoding="utf-8") == "secret\n"


def test_a_file_is_no_store(tmp_path: Path) -> None:
    """And is left as it is."""
    path = tmp_path / "file"
    path.write_text("mine", encoding="utf-8")
    with pytest.raises(StoreError, match="a folder"):
        Store(path)
    assert path.read_text(encoding="utf-8") == "mine"


KILLED_WHILE_WRITING = """
import os, signal, sys
from tacit.engine.store import Store
from tacit.prompts import AnswerScore, LogProbs, Prompt

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

store = Store(sys.argv[1])
model = {"fingerprint": "f" * 64}
store.append(model, [Prompt("x", ("a",))], [LogProbs((AnswerScore("a", -1.0, 1),))])
os.fsync = die
store.append(model, [Prompt("y", ("a",))], [LogProbs((AnswerScore("a", -2.0, 1),))])
"""


def test_a_process_killed_while_a_segment_is_written_leaves_the_store_whole(tmp_path: Path) -> None:
    """The half-written file is no segment."""
    killed = subprocess.run(
        [sys.executable, "-c", KILLED_WHILE_WRITING, str(tmp_path)], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    folder = tmp_path / "scores" / ("f" * 32)
    assert list(folder.glob(".0000*"))
    assert Store(tmp_path).read("f" * 64)["text"].to_list() == ["x"]
