"""Representative runs find what they found when their digests were recorded."""

import json
from pathlib import Path

import pytest

from tacit.probes.base import declared_tables
from tacit.probes.registry import BUILT_IN, probe
from tests.golden.record import FILE, check, of_consistency

UNMEASURED = {
    "parts": {"discrimination.accuracy", "discrimination.violation", "questions.annotator"},
    "consistency": {"intervention", "answers_in_context"},
    "assumptions": set(),
}
"""Tables and columns of options that no run here has."""


@pytest.mark.parametrize("name", BUILT_IN)
def test_declared_columns_are_measured_in_a_run(name: str) -> None:
    """That measured columns are declared is checked in every run."""
    measured: dict[str, set[str]] = {}
    for case, tables in json.loads(FILE.read_text(encoding="utf-8")).items():
        for table, columns in tables.items() if case.startswith(name) else ():
            measured.setdefault(table.rpartition("/")[2], set()).update(columns)
    missing = {
        f"{table}.{column.name}" if table in measured else table
        for table, spec in declared_tables(probe(name)).items()
        for column in spec.columns
        if not {*column.names} <= measured.get(table, set())
    }
    assert missing == UNMEASURED[name]


@pytest.mark.slow
def test_runs_find_what_they_found(tmp_path: Path) -> None:
    """After a deliberate change, ``python -m tests.golden.record`` records new digests."""
    check(tmp_path, lambda name: not of_consistency(name))
