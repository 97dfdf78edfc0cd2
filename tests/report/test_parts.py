from __future__ import annotations

from pathlib import Path

import polars as pl

from tacit.findings.display import Details
from tacit.report.differences import differences
from tacit.report.sections import details, section, tables
from tacit.runs.folder import RunFolder
from tacit.runs.reading import read_runs
from tests.probes.parts.measured import probe_of
from tests.report.conftest import DRAWINGS

PROBE = probe_of(*DRAWINGS)


def run_of_beliefs(folder: Path, name: str) -> Path:
    """A run with beliefs of each drawing's own, a third of them missing."""
    values = [0.9, 0.2, None]
    p = [values[(number + len(row[1])) % 3] for number, row in enumerate(PROBE.statements.rows())]
    answers = PROBE.statements.with_columns(p_true=pl.Series(p, dtype=pl.Float64))
    run = RunFolder(folder, {"probe": "parts", "model": name})
    run.begin({"model": {"kind": "beliefs", "name": name}, "data": {"things.tsv": "abc"}})
    run.finish(PROBE.measure_beliefs(answers))
    return folder


def tables_in(folder: Path) -> dict[str, Details]:
    """The tables of the parts section of a report on the runs in a folder."""
    runs = read_runs([folder])
    return {each.spec.name: each for each in (*tables(runs), *details(runs))}


def test_undecided_constraints_are_shown_where_there_are_any(tmp_path: Path, runs: Path) -> None:
    """In the tables, in a sentence and between models; not where every belief is there."""
    run_of_beliefs(tmp_path / "one", "mine")
    run_of_beliefs(tmp_path / "two", "yours")
    for folder, undecided in ((runs / "parts-ada", False), (tmp_path, True)):
        found = tables_in(folder)
        for name in ("parts-violation", "parts-violation-by-drawing"):
            shown = found[name].spec.in_table(found[name].table)
            assert ("undecided" in [column.name for column in shown]) == undecided
    some = read_runs([tmp_path])
    said = section(some).blocks[some[0].name].control or ""
    micro = next(row for row in some[0].summary["violation"] if row["constraint"] == "micro")
    assert f"{micro['undecided']} constraints are undecided" in said
    compared = differences(some)
    assert compared is not None
    table, _ = compared.tables
    assert "note" in table.table.columns


def test_a_statement_stands_once_where_each_drawing_has_beliefs_of_its_own(tmp_path: Path) -> None:
    """A question that two drawings share has two beliefs, each beside its own drawing."""
    run_of_beliefs(tmp_path / "one", "mine")
    table = tables_in(tmp_path)["parts-0-statements"]
    assert table.table.height == PROBE.statements.height
