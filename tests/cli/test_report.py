from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Tacit
from tests.report.conftest import parts_run


def test_report_writes_one_file(tacit: Tacit, workplace: Path) -> None:
    """``tacit report RUN`` writes report.html in the working folder, and says so."""
    parts_run(workplace / "run")
    done = tacit("report", "run")
    assert (done.code, done.out) == (0, "Written: report.html\n")
    assert (workplace / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_report_of_no_run_is_refused(tacit: Tacit, workplace: Path) -> None:
    """A folder that holds no run is refused with exit code 2."""
    (workplace / "empty").mkdir()
    done = tacit("report", "empty")
    assert done.code == 2
    assert "empty contains no run" in done.err


def test_compare_refuses_and_goes_on_when_forced(tacit: Tacit, workplace: Path) -> None:
    """Runs of other data are refused with exit code 2; --force compares them under a warning."""
    parts_run(workplace / "runs" / "one", "ada")
    parts_run(workplace / "runs" / "two", "bea", data={"things.tsv": "other"})
    refused = tacit("compare", "runs", "--out", "both.html")
    assert refused.code == 2
    assert "the data differ between ada and bea: things.tsv" in refused.err
    assert not (workplace / "both.html").exists()
    assert tacit("compare", "runs", "--out", "both.html", "--force").code == 0
    html = (workplace / "both.html").read_text(encoding="utf-8")
    assert "The runs differ in more than the model, and are compared only because" in html
    assert "Differences between models" in html


def test_report_of_a_file_says_that_it_is_one(tacit: Tacit, workplace: Path) -> None:
    """A run's folder was expected."""
    (workplace / "notes.txt").write_text("x", encoding="utf-8")
    ran = tacit("report", "notes.txt")
    assert ran.code == 2
    assert "notes.txt is a file; expected the folder of a run" in ran.err
