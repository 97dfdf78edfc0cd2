from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tacit.findings.findings import Findings
from tacit.probes.assumptions.published import published_table
from tacit.runs.folder import RunFolder
from tests.cli.conftest import Tacit
from tests.probes.assumptions.small_run import small_run
from tests.report.conftest import parts_run


def finished(folder: Path, changed: Findings | None = None) -> Path:
    """The folder of a finished run of the assumptions probe."""
    run = RunFolder(folder, {"probe": "assumptions", "model": "m"})
    run.begin({"model": {}, "data": {}})
    run.finish(changed or small_run())
    return folder


def test_the_papers_figures_stand_beside_a_run(tacit: Tacit, tmp_path: Path) -> None:
    """As JSON and in a file, the rows of the table."""
    out, given = tmp_path / "sta.parquet", ("--as", "roberta-large", "--json")
    ran = tacit("reproduce", "sta", finished(tmp_path / "run"), *given, "--out", out)
    assert ran.code == 0
    found = small_run()
    table = published_table(found.tables, "roberta-large", found.summary)
    assert json.loads(ran.out) == table.to_dicts() == pl.read_parquet(out).to_dicts()
    ours = {row["row"]: row["ours"] for row in json.loads(ran.out)}
    assert ours["concepts in the norms"] == 16


def test_a_person_reads_tables(
    tacit: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ours, published and the difference; what a run has not is missing, a range is a range."""
    monkeypatch.setenv("COLUMNS", "140")
    ran = tacit("reproduce", "sta", finished(tmp_path / "run"), "--as", "roberta-large")
    assert ran.code == 0
    assert all(title in ran.out for title in ("Table 1", "Table 2", "Table 3", "In the text"))
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    assert "has, prompts 16 564 \N{MINUS SIGN}548" in lines
    assert "bear has horns, probability undefined 0 undefined" in lines
    assert any("0.500 to 0.850" in line for line in lines)


def test_how_a_runs_beliefs_were_obtained_is_told(tacit: Tacit, tmp_path: Path) -> None:
    """Below the tables with what is missing, and in each row."""
    found = small_run().with_summary(elicitation="log-probabilities of whole answers")
    ran = tacit("reproduce", "sta", finished(tmp_path / "run", found.with_summary(missing=3)))
    assert ran.code == 0, ran.err
    assert "\nElicitation: log-probabilities of whole answers\n" in ran.out
    rows = json.loads(tacit("reproduce", "sta", tmp_path / "run", "--json").out)
    assert {row["elicitation"] for row in rows} == {"log-probabilities of whole answers"}


def test_a_run_of_another_probe_is_refused(tacit: Tacit, tmp_path: Path) -> None:
    """With its name and what is expected."""
    ran = tacit("reproduce", "sta", parts_run(tmp_path / "run"))
    assert ran.code == 2
    assert "contains a run of the probe parts" in ran.err
    assert "tacit run assumptions" in ran.err


def test_ranks_among_other_candidates_are_told_apart(
    tacit: Tacit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chance stands beside our figure, and the reason for no difference below the table."""
    monkeypatch.setenv("COLUMNS", "140")
    found = small_run()
    name = "retrieval_by_number"
    few = found.tables[name].with_columns(candidates=34, chance_mrr=0.1211)
    run = finished(tmp_path / "run", replace(found, tables={**found.tables, name: few}))
    ran = tacit("reproduce", "sta", run, "--as", "roberta-large")
    assert ran.code == 0, ran.err
    lines = [" ".join(line.split()) for line in ran.out.splitlines()]
    (row,) = (line for line in lines if line.startswith("MRR at 1 property"))
    assert row.endswith("0.121 among 34 0.230 undefined")
    assert any(line.startswith("Not compared (MRR at 1 property, MRR") for line in lines)
