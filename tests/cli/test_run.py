from __future__ import annotations

import html
import json
import shutil
from pathlib import Path

import polars as pl
import pytest

from tacit.api import load_run
from tacit.sources.drawings import demo_drawings
from tests.cli.conftest import Tacit

DEMO = demo_drawings()
PARTS = ("run", "parts", "--model", "demo", "--drawings", DEMO)


def findings(folder: Path) -> dict[str, bytes]:
    """The bytes of a run's questions and findings."""
    files = [folder / "questions.parquet", *sorted((folder / "findings").iterdir())]
    return {file.name: file.read_bytes() for file in files}


def test_a_run_leaves_its_folder_and_prints_a_table(tacit: Tacit, workplace: Path) -> None:
    """The request, a manifest that says finished, the questions, the findings."""
    ran = tacit(*PARTS, "--out", "run", "--things", "peach")
    assert ran.code == 0, ran.err
    assert "agreed by all" in ran.out
    assert "transitive" in ran.out
    assert "…" not in ran.out, "nothing is cut off at 80 columns"
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "finished"
    assert manifest["model"]["name"] == "demo"
    assert manifest["summary"]["skipped"] == 0
    assert {Path(name).name for name in manifest["data"]} == {"annotations-0.tsv", "things.tsv"}
    violation = pl.read_parquet(workplace / "run" / "findings" / "violation.parquet")
    after = violation.filter(pl.col("stage") != "before")
    assert set(after["stage"]) == {"paper", "log-odds", "margin"}
    assert after["violated"].drop_nulls().to_list() == [0] * 15  # four types and micro, each thrice
    questions = pl.read_parquet(workplace / "run" / "questions.parquet")
    assert questions["p_true"].is_between(0, 1).all()


def test_json_gives_the_summary_of_the_manifest(tacit: Tacit, workplace: Path) -> None:
    """With the block, on standard output, which contains nothing else."""
    ran = tacit(*PARTS, "--out", "run", "--limit", "2", "--json")
    block = load_run(workplace / "run").block
    assert block is not None
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert json.loads(ran.out) == {
        "runs": [
            {"model": "demo", "out": "run", "block": list(block.lines), **manifest["summary"]}
        ],
        "comparison": [],
        "slopes": [],
    }
    assert manifest["summary"]["things"] == 2


def test_a_folder_of_another_run_is_refused(tacit: Tacit, workplace: Path) -> None:
    """What differs is named, and the run in it stays as it was."""
    tacit(*PARTS, "--out", "run", "--things", "peach")
    before = findings(workplace / "run")
    ran = tacit(*PARTS, "--out", "run", "--things", "lantern")
    assert (ran.code, findings(workplace / "run")) == (2, before)
    assert "different options (things: 'peach' there, 'lantern' now)" in ran.err


def test_a_folder_of_something_else_is_refused(tacit: Tacit, workplace: Path) -> None:
    """Nothing is put beside a person's files."""
    (workplace / "mine").mkdir()
    (workplace / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    ran = tacit(*PARTS, "--out", "mine")
    assert ran.code == 2
    assert "contains files but no run" in ran.err
    assert [path.name for path in workplace.rglob("*")] == ["mine", "notes.txt"]


def test_a_dry_run_writes_nothing(tacit: Tacit, workplace: Path) -> None:
    """It tells how many questions there are, and about how long they take."""
    ran = tacit(*PARTS, "--out", "run", "--dry-run", "--json")
    (told,) = json.loads(ran.out)["runs"]
    assert (told["prompts"], told["distinct"], told["stored"]) == (1288, 1288, 0)
    assert told["tokens"] > told["prompts"]
    assert told["seconds"] > 0
    assert list(workplace.iterdir()) == []


def test_a_run_that_fails_says_so(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its manifest says failed and why; made again, it finishes."""

    def failing(*_: object, **__: object) -> None:
        raise OSError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("tacit.engine.storage._fill", failing)
        assert tacit(*PARTS, "--out", "run", "--things", "peach").code == 1
    manifest = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["status"] == "failed"
    assert "the disk is full" in manifest["error"]
    assert tacit(*PARTS, "--out", "run", "--things", "peach").code == 0


def test_a_run_whose_data_changed_is_not_replaced(tacit: Tacit, workplace: Path) -> None:
    """The same path with other content is another run; the old one stays."""
    drawings = workplace / "annotations-0.tsv"
    drawings.write_text("me\tpeach\t---\tstone\tinside\tflesh\n", encoding="utf-8")
    told = ("run", "parts", "--model", "demo", "--drawings", drawings, "--out", "run")
    assert tacit(*told).code == 0
    before = findings(workplace / "run")
    drawings.write_text("me\tpeach\t---\tflesh\tinside\tskin\n", encoding="utf-8")
    ran = tacit(*told)
    assert (ran.code, findings(workplace / "run")) == (2, before)
    assert "its model or data have changed since (data)" in ran.err


@pytest.mark.slow
def test_questions_beyond_the_window_are_skipped_and_listed(tacit: Tacit, workplace: Path) -> None:
    """The belief is missing, the manifest counts the prompts, and a table and the report say so."""
    drawings = workplace / "drawings"
    shutil.copytree(DEMO, drawings)
    with (drawings / "annotations-0.tsv").open("a", encoding="utf-8") as file:
        file.write(f"annotator_9\tpeach\t---\t{'very ' * 150}old skin\tsurrounds\tflesh\n")
    asked = ("run", "parts", "--model", "demo", "--drawings", drawings, "--things", "peach")
    ran = tacit(*asked, "--out", "run")
    assert ran.code == 0, ran.err
    told = (
        "28 prompts are longer than the model's context window and therefore skipped (listed in "
        "findings/skipped.parquet); the answers to skipped prompts are missing"
    )
    assert told in " ".join(ran.out.split())
    summary = json.loads((workplace / "run" / "manifest.json").read_text(encoding="utf-8"))
    skipped = pl.read_parquet(workplace / "run" / "findings" / "skipped.parquet")
    assert summary["summary"]["skipped"] == skipped.height == 28
    assert skipped["text"].str.contains("very very").all()
    assert skipped["reason"].str.contains("window of demo is 128 tokens").all()
    questions = pl.read_parquet(workplace / "run" / "questions.parquet")
    assert questions["p_true"].null_count() == 28
    assert tacit("report", "run").code == 0
    page = (workplace / "report.html").read_text(encoding="utf-8")
    assert told in " ".join(html.unescape(page).split())
    strict = tacit(*asked, "--out", "other", "--strict")
    assert strict.code == 2
    assert not (workplace / "other").exists()
