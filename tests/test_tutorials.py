"""The tutorials run as they stand, and what they show is there."""

import ast
import os
import re
import runpy
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from string import Template
from typing import Any

import pytest

from tacit.cli import main
from tests.other_packages import PLUGINS

TUTORIALS = sorted((Path(__file__).parents[1] / "docs" / "tutorials").glob("*.py"))
SHELL = TUTORIALS[0].parent / "first-hour-shell.md"
HOW_TO = TUTORIALS[0].parents[1] / "how-to"


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], dict[str, Any]]:
    """Runs a tutorial from its first cell to its last, in an empty folder."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return lambda stem: runpy.run_path(str(SHELL.with_name(f"{stem}.py")))


def test_the_first_hour_runs(ran: Callable[[str], dict[str, Any]], tmp_path: Path) -> None:
    found = ran("first-hour")
    assert found["parts"].tables["violation"].height
    assert found["consistency"].summary["consistency"]
    assert found["both"].comparison.height
    assert (tmp_path / "parts.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert (tmp_path / "runs" / "assumptions" / "report.html").is_file()


@pytest.mark.slow
def test_the_tutorial_on_quantised_models_runs(
    ran: Callable[[str], dict[str, Any]], tmp_path: Path
) -> None:
    """What it says of its figures holds: 8 bits change nothing, 4 some beliefs, 3 the accuracy."""
    found = ran("quantised-model")
    eight, four, three = found["changed"]["changed_sides"]
    assert eight == 0 < four < three
    before = found["differences"].filter(measure="accuracy, all, before repair")
    assert before["difference"].to_list()[:2] == [0, 0]
    assert before["difference_high"][2] < 0
    assert (tmp_path / "comparison.html").is_file()


@pytest.mark.parametrize("path", TUTORIALS, ids=lambda path: path.stem)
def test_every_cell_shows_something(path: Path) -> None:
    """Each cell of code but the first ends in an expression, which a notebook shows."""
    cells = path.read_text(encoding="utf-8").split("# %%")[2:]
    code = [cell for cell in cells if not cell.startswith(" [markdown]")]
    assert len(code) > 5
    for cell in code[1:]:
        assert isinstance(ast.parse(cell).body[-1], ast.Expr), cell


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Runs a script in an empty folder: ``tacit`` in this process, all else by the shell."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=os.pathsep)
    monkeypatch.chdir(tmp_path)
    names: dict[str, str] = {}

    def by_bash(line: str) -> str:
        command = ["bash", "-eu", "-c", line]
        return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout

    def run(script: str) -> None:
        for line in script.splitlines():
            if line.startswith("tacit "):
                monkeypatch.setattr(sys, "argv", shlex.split(Template(line).substitute(names)))
                with pytest.raises(SystemExit) as stopped:
                    main()
                assert not stopped.value.code, line
            elif assigned := re.fullmatch(r"(\w+)=\$\((.+)\)", line):
                names[assigned[1]] = by_bash(assigned[2]).strip()
            else:
                by_bash(line)

    return run


@pytest.mark.slow
def test_the_shell_tutorial_runs(shell: Callable[[str], None], tmp_path: Path) -> None:
    """Every command of its shell blocks but the demo, which the README's test runs."""
    blocks = re.findall(r"```sh\n(.*?)```", SHELL.read_text(encoding="utf-8"), re.DOTALL)
    demo, *commands = "".join(blocks).splitlines()
    assert demo == "tacit demo --no-open"
    shell("\n".join(commands))
    assert (tmp_path / "comparison.html").is_file()
    assert "part of" in (tmp_path / "repaired.csv").read_text(encoding="utf-8")


def test_the_pages_on_adding_a_probe_and_a_backend_show_those_of_the_tests() -> None:
    """The whole file of the probe but its first line, and three blocks of the back-end's."""
    (probe,), blocks = (
        re.findall(
            r"```python\n(.*?)```", (HOW_TO / f"add-a-{name}.md").read_text("utf-8"), re.DOTALL
        )
        for name in ("probe", "backend")
    )
    assert (PLUGINS / "synonyms.py").read_text(encoding="utf-8").endswith(f"\n\n{probe}")
    backend = (PLUGINS / "letters.py").read_text(encoding="utf-8")
    assert [block in backend for block in blocks] == [True] * 3
