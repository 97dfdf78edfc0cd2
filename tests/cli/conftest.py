"""The command line, run in this process."""

import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from tacit.cli import main
from tests.report.conftest import parts_run

TRIPLES = """AtLocation\tdog\tkennel
IsA\tpuppy\tdog
UsedFor\tkennel\tsleep
AtLocation\tbook\tlibrary
UsedFor\tbook\tread
IsA\tlibrary\tbuilding
Eats\tdog\tbone
"""
QUESTIONS = """id,question,choices,answer,concept
q1,Where does a dog sleep?,kennel|tree,kennel,dog
q2,Where is a book to read?,library|sea|pond,library,book
q3,What is blue?,sky|grass,sky,blue
"""


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


class Tacit(Protocol):
    """Runs ``tacit`` with arguments."""

    def __call__(self, *arguments: object) -> Ran: ...


@pytest.fixture
def tacit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Tacit:
    """The command line, as ``tacit(argument, …)``; runs write a report only with ``--report``."""

    def run(*arguments: object) -> Ran:
        if arguments[:1] == ("run",) and len(arguments) > 2 and "--report" not in arguments:
            arguments = (*arguments, "--no-report")
        monkeypatch.setattr(sys, "argv", ["tacit", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as stopped:
            main()
        printed = capsys.readouterr()
        code = stopped.value.code
        return Ran(code if isinstance(code, int) else 0, printed.out, printed.err)

    return run


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, in which the default store would be made."""
    monkeypatch.delenv("TACIT_STORE", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(scope="session")
def finished_pair(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the runs ``ada`` and ``bea`` of the parts probe, which no test may change."""
    folder = tmp_path_factory.mktemp("pair")
    for name in ("ada", "bea"):
        parts_run(folder / name, name)
    return folder


@pytest.fixture
def pair(finished_pair: Path, workplace: Path) -> Path:
    """A working folder with the folders of two finished runs."""
    return shutil.copytree(finished_pair, workplace, dirs_exist_ok=True)


@pytest.fixture
def source(tacit: Tacit, workplace: Path) -> Path:
    (workplace / "triples.tsv").write_text(TRIPLES, encoding="utf-8")
    (workplace / "questions.csv").write_text(QUESTIONS, encoding="utf-8")
    assert tacit("kb", "import", "triples.tsv", "--out", "small.kb").code == 0
    return workplace
