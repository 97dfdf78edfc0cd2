"""No command overwrites a file that it did not write, unless it is forced."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tacit.sources.demo import FACTS, NORMS, QUESTIONS
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit
from tests.report.conftest import parts_run

DRAWINGS = demo_drawings()
MINE = "subject\trelation\tobject\tp_true\nmy\town\tnotes\t1\n"
BELIEFS = (
    "thing\tsubject\trelation\tobject\tp_true\n"
    "car\twheel\tabove\troof\t0.9\ncar\troof\tabove\twheel\t0.8\n"
)

REPAIR = ("repair", "beliefs.tsv", "--out")
COMMANDS: dict[str, tuple[object, ...]] = {
    "score.jsonl": ("score", "prompts.jsonl", "--model", "demo", "--out"),
    "violations.tsv": ("check", "beliefs.tsv", "--violations"),
    "check-groups.tsv": ("check", "beliefs.tsv", "--by-group"),
    "repaired.tsv": REPAIR,
    "repair-groups.tsv": (*REPAIR, "other.tsv", "--by-group"),
    "assignment.tsv": (*REPAIR, "other.tsv", "--assignment"),
    "labelled.tsv": ("show", "statements", DRAWINGS, "--out"),
    "prompts.tsv": ("show", "prompts", "assumptions", "--norms", NORMS, "--model", "demo", "--out"),
    "facts.kb": ("kb", "import", FACTS, "--out"),
    "background.tsv": ("kb", "facts", "base.kb", "--questions", QUESTIONS, "--out"),
    "parrot.tsv": ("reproduce", "parrot", "--drawings", DRAWINGS, "--out"),
    "report.html": ("report", "runs", "--out"),
    "comparison.html": ("compare", "runs", "--out"),
}


@pytest.fixture
def output_folder(tacit: Tacit, workplace: Path) -> Path:
    """A working folder with what the commands read."""
    (workplace / "beliefs.tsv").write_text(BELIEFS, encoding="utf-8")
    (workplace / "prompts.jsonl").write_text(
        '{"text": "roof is above the", "answers": ["wall"]}\n', encoding="utf-8"
    )
    parts_run(workplace / "runs" / "one", "ada")
    parts_run(workplace / "runs" / "two", "bea")
    assert tacit("kb", "import", FACTS, "--out", "base.kb").code == 0
    return workplace


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.slow
def test_a_foreign_file_stays_unless_forced(tacit: Tacit, output_folder: Path, name: str) -> None:
    """It is refused with exit code 2; what the command wrote itself is overwritten."""
    asked, out = COMMANDS[name], output_folder / name
    out.write_text(MINE, encoding="utf-8")
    before = sorted(output_folder.rglob("*"))
    refused = tacit(*asked, name)
    assert refused.code == 2
    assert f"{name} exists and is not" in refused.err
    assert "overwrite it with --force" in refused.err
    assert out.read_text(encoding="utf-8") == MINE
    assert sorted(output_folder.rglob("*")) == before, "nothing is written"
    assert tacit(*asked, name, "--force").code == 0
    written = out.read_bytes()
    assert written != MINE.encode()
    again = tacit(*asked, name)
    assert again.code == 0, again.err


@pytest.mark.slow
def test_compare_and_report_write_files_of_different_names(
    tacit: Tacit, output_folder: Path
) -> None:
    """Neither overwrites the other's page, not even under its name."""
    assert tacit("report", "runs").code == 0
    page = (output_folder / "report.html").read_bytes()
    assert tacit("compare", "runs").out == "Written: comparison.html\n"
    assert (output_folder / "report.html").read_bytes() == page
    refused = tacit("compare", "runs", "--out", "report.html")
    assert (refused.code, refused.out) == (2, "")
    assert "report.html exists and is not a comparison that Tacit wrote" in refused.err
    assert tacit("report", "runs", "--out", "comparison.html").code == 2


def test_a_report_of_a_page_of_ones_own_is_refused(tacit: Tacit, output_folder: Path) -> None:
    """A page that merely speaks of Tacit is no report."""
    (output_folder / "report.html").write_text("<p>Tacit report 1.0</p>", encoding="utf-8")
    assert tacit("report", "runs").code == 2


def test_other_votes_or_scores_are_overwritten(tacit: Tacit, output_folder: Path) -> None:
    """A file of prompts is neither."""
    shutil.copy(output_folder / "prompts.jsonl", output_folder / "mine.jsonl")
    asked = ("score", "prompts.jsonl", "--model", "demo", "--dry-run", "--out")
    assert tacit(*asked, "mine.jsonl").code == 2
    (output_folder / "votes.jsonl").write_text('{"votes": [], "unparsed": 0}\n', encoding="utf-8")
    assert tacit(*asked, "votes.jsonl").code == 0


@pytest.mark.parametrize("name", ["comparison.parquet", "figures"])
@pytest.mark.slow
def test_several_models_write_beside_no_foreign_files(
    tacit: Tacit, workplace: Path, name: str
) -> None:
    """Their comparison and figures would stand under the names of others'."""
    out = workplace / "out"
    out.mkdir()
    (out / name).touch()
    asked = ("run", "parts", "--drawings", DRAWINGS, "--model", "demo", "--model", "demo-masked")
    refused = tacit(*asked, "--out", "out", "--dry-run")
    assert refused.code == 2
    assert f"{Path('out') / name} exists, but out contains none of these runs" in refused.err
    (out / "demo").mkdir()
    (out / "demo" / "run.yaml").touch()
    assert "contains none of these runs" not in tacit(*asked, "--out", "out", "--dry-run").err


def test_the_demo_keeps_a_foreign_report(tacit: Tacit, workplace: Path) -> None:
    """It is refused before anything is run."""
    (workplace / "report.html").write_text("<p>mine</p>", encoding="utf-8")
    refused = tacit("demo", "--no-open", "--out", ".")
    assert refused.code == 2
    assert [path.name for path in workplace.iterdir()] == ["report.html"]
