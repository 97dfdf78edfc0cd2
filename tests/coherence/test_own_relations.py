import ast
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import tacit

DOCS = Path(__file__).parents[2] / "docs"
PAGE = DOCS / "how-to" / "own-relations.md"
Run = Callable[..., str]
FORMATS = DOCS / "reference" / "file-formats.md"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a block of Python, or ``tacit`` with arguments, where the files are."""
    monkeypatch.chdir(folder)

    def printed(program: str, *arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["tacit", *arguments])
        try:
            exec(program, {})  # noqa: S102 - our own page
        except SystemExit as ended:
            if ended.code:
                raise
        return capsys.readouterr().out

    return printed


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "history.yaml").write_text(blocks("yaml")[0], encoding="utf-8")
    (tmp_path / "beliefs.csv").write_text(blocks("csv")[0], encoding="utf-8")
    return tmp_path


def test_the_commands_print_and_write_what_the_page_says(run: Run, folder: Path) -> None:
    """Each command runs, and prints what stands below it; the repaired file is the one shown."""
    printed = []
    for block in blocks("console"):
        command, *expected = block.splitlines()
        program, *arguments = shlex.split(command.removeprefix("$ "))
        assert program == "tacit"
        out = run("from tacit.cli import main; main()", *arguments)
        printed.append(out)
        if expected:
            assert out.splitlines() == expected
    assert len(printed) == 3
    assert (folder / "repaired.csv").read_text(encoding="utf-8") == blocks("csv")[1]
    violated = [line.split()[1] for line in printed[2].splitlines()[6:12]]
    assert set(violated) == {"0"}


def test_the_python_of_the_page_runs(run: Run) -> None:
    """The first block prints the rate of the table and how many statements were turned false."""
    rate, turned = run(blocks("python")[0]).split()
    assert f"{100 * float(rate):.2f}" == "66.67"
    assert turned == "3"


def test_the_frames_of_the_page_give_the_result_that_it_states(run: Run) -> None:
    """Rows, a pandas and a polars frame: one of the two applicable constraints is decided."""
    pytest.importorskip("pandas")
    printed = [ast.literal_eval(line) for line in run(blocks("python")[1]).splitlines()]
    assert printed == [{"violated": 1, "applicable": 2, "undecided": 1, "rate": 1.0}] * 3


def test_the_ontology_that_the_page_builds_in_python_is_used(run: Run) -> None:
    """A parent who is also a child is a conflict, which is printed as a table."""
    printed = run(blocks("python")[2])
    assert [printed.count(f"{relation} of") for relation in ("parent", "child")] == [1, 1]


@pytest.mark.parametrize("verb", ["check", "repair"])
def test_every_key_of_the_json_is_documented(verb: str) -> None:
    """In the order of the output."""
    section = FORMATS.read_text(encoding="utf-8").split(f"### `tacit {verb} --json`\n")[1]
    documented = re.findall(r"^\| `(\w+)` \|", section.partition("\n#")[0], re.MULTILINE)
    row = {"subject": "leaf", "relation": "part of", "object": "tree", "p_true": 0.9}
    result = tacit.check([row]) if verb == "check" else tacit.repair([row])
    assert documented == list(result.to_json())
