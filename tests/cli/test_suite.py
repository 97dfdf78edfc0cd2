import json
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Tacit
from tests.runs.suite.suites import Counting, written


def test_a_suite_prints_a_line_per_run_and_where_the_report_is(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A second time, it says of each run that it is finished."""
    counting = Counting().install(monkeypatch)
    file = written(workplace, models=["a", "b"])
    ran = tacit("suite", file)
    assert ran.code == 0, ran.err
    assert ran.out.count("\n") == 3
    assert ran.out.startswith("parts, a: Says true to ")
    assert ran.out.endswith("Report: " + str(workplace / "runs" / "report.html") + "\n")
    assert "a: parts" in ran.err
    again = tacit("suite", file)
    assert (again.code, again.out) == (0, ran.out)
    assert again.err.count("already finished") == 2
    assert counting.loaded == ["a", "b"]
    assert tacit("report", workplace / "runs", "--out", "again.html").code == 0
    first = (workplace / "runs" / "report.html").read_bytes()
    assert (workplace / "again.html").read_bytes() == first


def test_json_has_each_run_and_each_failure(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Counting(failing=["b"]).install(monkeypatch)
    file = written(workplace, models=["a", "b"])
    ran = tacit("suite", file, "--json", "--no-report")
    assert ran.code == 1
    found = json.loads(ran.out)
    assert [(one["run"], one["model"]) for one in found["runs"]] == [("parts", "a")]
    assert found["runs"][0]["questions"] > 0
    assert found["failed"] == [
        {"run": "parts", "model": "b", "error": "MemoryError: not enough memory"}
    ]
    assert (found["skipped"], found["report"]) == ([], None)
    assert "tacit: 1 of 2 runs failed\n  parts, b: MemoryError: not enough memory\n" in ran.err
    assert "Run the same command again to repeat what failed." in ran.err


def test_a_dry_run_prints_a_row_per_run(tacit: Tacit, workplace: Path) -> None:
    """Also of models that are elsewhere; nothing is written."""
    file = written(workplace, models=["demo", "some/model"])
    before = sorted(workplace.iterdir())
    ran = tacit("suite", file, "--dry-run")
    assert ran.code == 0, ran.err
    assert "some/model" in ran.out
    assert "the model is not on this machine: parts, some/model" in ran.out
    assert "1 run measured" in ran.out
    assert sorted(workplace.iterdir()) == before


def test_the_papers_suite_is_printed_to_be_edited(tacit: Tacit, workplace: Path) -> None:
    """What is printed is a suite; a dry run of the shipped one needs no model."""
    written(workplace)
    ran = tacit("suite", "papers", "--print")
    assert ran.code == 0
    assert [run["probe"] for run in yaml.safe_load(ran.out)["runs"]] == [
        "consistency",
        "parts",
        "assumptions",
    ]
    given: tuple[str, ...] = (
        *("--only", "parts", "--set", "drawings=things", "--set", "masked-mode=left-to-right"),
        *("--set", "limit=1", "--dry-run"),
    )
    ran = tacit("suite", "papers", *given)
    assert ran.code == 0, ran.err
    assert "allenai/macaw-11b" in ran.out
    assert "names no folder" in tacit("suite", "papers", *given[:-1]).err
