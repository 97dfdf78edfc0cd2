from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.cli.conftest import Tacit


def test_the_demo_runs_all_probes_and_ends_with_five_lines(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each found, what of the planted was found, and where the report is; no page opens."""
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    ran = tacit("demo", "--out", "here", "--no-open")
    assert ran.code == 0, ran.err
    lines = ran.out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "Parts",
        "Consistency",
        "Assumptions",
        "Planted",
        "Report",
    ]
    assert "the 15 withheld words score below the taught ones" in lines[3]
    assert not opened
    assert lines[4] == "Report: here/report.html"
    assert (workplace / "here" / "report.html").is_file()
    statuses = [path.read_text() for path in (workplace / "here").rglob("manifest.json")]
    assert len(statuses) == 4
    assert all('"status": "finished"' in text for text in statuses)
