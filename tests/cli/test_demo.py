from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from tacit.sources import demo

if TYPE_CHECKING:
    from pathlib import Path

    from tests.cli.conftest import Tacit


def less(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts a few taught and withheld concepts in place of the demo's many."""
    withheld = demo.planted().withheld
    lines = demo.QUESTIONS.read_text().splitlines()
    about = {line: json.loads(line)["question_concept"] in withheld for line in lines}
    some = [line for line in lines if not about[line]][:6] + [
        line for line in lines if about[line]
    ][:4]
    (folder / "questions.jsonl").write_text("\n".join(some) + "\n")

    header, *rows = demo.NORMS.read_text().splitlines()
    concepts = {"dog", "bear", "rabbit", "camel"}
    (folder / "norms.dat").write_text(
        "\n".join([header, *(row for row in rows if concepts & set(row.split("\t")))]) + "\n"
    )

    shutil.copytree(demo.THINGS, folder / "things")
    drawn = folder / "things" / "annotations-0.tsv"
    kept, keep = [], False
    for line in drawn.read_text().splitlines():
        thing = line.split("\t")[1]
        keep = thing in {"egg", "tree", "boat", "lamp"} if thing else keep
        kept += [line] if keep else []
    drawn.write_text("\n".join(kept) + "\n")

    monkeypatch.setattr(demo, "QUESTIONS", folder / "questions.jsonl")
    monkeypatch.setattr(demo, "NORMS", folder / "norms.dat")
    monkeypatch.setattr(demo, "THINGS", folder / "things")


@pytest.mark.slow
def test_the_demo_runs_all_probes_and_ends_with_five_lines(
    tacit: Tacit, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What each found, what of the planted was found, and where the report is; no page opens."""
    less(workplace, monkeypatch)
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setenv("DISPLAY", ":0")
    ran = tacit("demo", "--out", "here", "--no-open")
    assert ran.code == 0, ran.err
    lines = [line for line in ran.out.splitlines() if not line.startswith("  ")]
    assert [line.split(":")[0] for line in lines] == [
        "Parts",
        "Consistency",
        "Assumptions",
        "Planted errors",
        "Report",
    ]
    assert "15 words were left out of the training data" in lines[3]
    assert not opened
    assert lines[4] == "Report: here/report.html"
    assert (workplace / "here" / "report.html").is_file()
    statuses = [path.read_text() for path in (workplace / "here").rglob("manifest.json")]
    assert len(statuses) == 4
    assert all('"status": "finished"' in text for text in statuses)
