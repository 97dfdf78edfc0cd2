from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "own-relations.md"


def blocks(language: str) -> list[str]:
    """The page's blocks of one language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def run(folder: Path, program: str, *arguments: str) -> str:
    """What a Python program prints in a folder."""
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    return ran.stdout


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files that the page has its reader save."""
    (tmp_path / "history.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    (tmp_path / "beliefs.csv").write_text(blocks("csv")[0], encoding="utf-8")
    return tmp_path


@pytest.mark.slow
def test_the_commands_print_and_write_what_the_page_says(folder: Path) -> None:
    """Each command runs, and prints what stands below it; the repaired file is the one shown."""
    printed = []
    for block in blocks("console"):
        command, *expected = block.splitlines()
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "tacit"
        out = run(folder, "from tacit.cli import main; main()", *arguments)
        printed.append(out)
        if expected:
            assert out.splitlines() == expected
    assert len(printed) == 3
    assert (folder / "repaired.csv").read_text(encoding="utf-8") == blocks("csv")[1]
    rates = [line.split()[1] for line in printed[2].splitlines()[1:6]]
    assert set(rates) == {"0"}


def test_the_python_of_the_page_runs(folder: Path) -> None:
    """The last block prints the rate of the table and how many statements were turned false."""
    rate, turned = run(folder, blocks("python")[0]).split()
    assert f"{100 * float(rate):.2f}" == "66.67"
    assert turned == "3"
