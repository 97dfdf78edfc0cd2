"""A disk that is full when a result is written."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tacit.errors import WorkError
from tacit.knowledge.build import KnowledgeSource, build
from tacit.sources.dumps import Dump
from tests.faults.running import PEACH, SMALL_BLOCKS, Warm, findings_of

pytestmark = pytest.mark.slow

FULL = """
import errno, os
from pathlib import Path

write = Path.write_bytes

def full(path, content):
    if path.name.startswith(".{name}-"):
        write(path, content[: len(content) // 2])
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    return write(path, content)

Path.write_bytes = full
"""
"""Makes the disk full when half of a file of that name is written."""


@pytest.mark.parametrize("file", ["run.yaml", "figures/accuracy_at.svg"])
def test_a_run_that_finds_the_disk_full_says_which_file_and_what_to_do(
    tmp_path: Path, warm: Warm, whole: dict[str, bytes], file: str
) -> None:
    """In one line, with half a file nowhere; the same command ends as if nothing had happened."""
    command = (*PEACH, "--out", "run", "--figures", "svg")
    setup = SMALL_BLOCKS + FULL.format(name=Path(file).name)
    ended = warm.run(tmp_path, *command, setup=setup)
    assert ended.status == 1
    said = [line for line in ended.said.splitlines() if line.startswith("tacit: ")]
    assert len(said) == 1
    assert said[0].startswith(f"tacit: run/{file}: cannot be written: [Errno 28] No space left")
    assert said[0].endswith(
        "; free some space or choose another location, and run the same command again"
    )
    assert "Traceback" not in ended.said
    assert not (tmp_path / "run" / file).exists()
    assert not list(tmp_path.rglob(".*-*")), "no half file is left"
    assert warm.run(tmp_path, *command).status == 0
    assert findings_of(tmp_path / "run") == whole
    assert (tmp_path / "run" / file).exists()


def test_a_knowledge_base_that_has_no_room_is_not_made(tmp_path: Path) -> None:
    """DuckDB's error is one line that says what to do."""
    facts = tmp_path / "facts.tsv"
    facts.write_text("IsA\tbear\tanimal\n", encoding="utf-8")

    def full(_: int) -> None:
        import duckdb

        text = f'Could not write file "made.duckdb":\n{os.strerror(errno.ENOSPC)}'
        raise duckdb.IOException(text)

    with pytest.raises(WorkError) as refused:
        build(KnowledgeSource([Dump(facts)]), tmp_path / "base.kb", full)
    assert "base.kb: cannot be written: [Errno 28]" in str(refused.value)
    assert "free some space" in str(refused.value)
    assert "\n" not in str(refused.value)
    assert [each.name for each in tmp_path.iterdir()] == ["facts.tsv"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_standard_output_that_is_full_is_one_line(tmp_path: Path) -> None:
    beliefs = tmp_path / "beliefs.tsv"
    beliefs.write_text("subject\trelation\tobject\tp_true\na\tinside\tb\t0.9\n", encoding="utf-8")
    program = "from tacit.cli import main; main()"
    with Path("/dev/full").open("wb") as out:
        ended = subprocess.run(
            [sys.executable, "-c", program, "check", str(beliefs)],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 1
    (said,) = ended.stderr.splitlines()
    assert said.startswith(
        "tacit: the output: cannot be written: [Errno 28] No space left on device"
    )
    assert said.endswith(
        "; free some space or choose another location, and run the same command again"
    )
