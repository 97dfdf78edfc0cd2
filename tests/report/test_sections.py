from __future__ import annotations

from pathlib import Path

import pytest

from tacit.findings.block import Entry
from tacit.findings.display import Headline
from tacit.findings.spec import Column
from tacit.report.sections import Mark, section
from tacit.runs.reading import read_runs
from tests.report.conftest import consistency_run


def test_a_filter_offers_the_values_of_its_columns(tmp_path: Path) -> None:
    """In the tables, these columns have the name of the filter."""
    consistency_run(tmp_path / "run", n=30)
    found = section(read_runs([tmp_path / "run"]))
    assert found.filters == {"relation": ("HasA", "IsA"), "concept": ("object", "part")}
    tables = {each.spec.name: each for each in found.tables}
    for name, values in found.filters.items():
        table = tables[f"consistency-consistency-by-{name}"]
        assert table.spec.column(name).shown
        assert sorted(table.table[name]) == list(values)


def test_a_mark_is_a_value_of_a_table_with_its_chance_level(runs: Path) -> None:
    """The chance level is a column or a number."""
    (run, _) = (each for each in read_runs([runs]) if each.probe == "consistency")
    tiles = {tile.headline.label: tile.marks[0] for tile in section([run]).tiles}
    row = run.tables["consistency"].row(0, named=True)
    first = tiles["Conceptual consistency (CC)"]
    assert first.about == f"chance level {row['chance']:.3f}, n = 12 anchor questions"
    assert first.positions["reference"] == f"left-{round(10_000 * row['chance'])}"
    assert tiles["Background score"].about.endswith("n = 2 relations")
    assert tiles["Background score"].positions["reference"] == "left-5000"
    assert tiles["Lift above chance"].positions["reference"] == "left-5000"


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.25, "left-2500", "right-7500"),
        (1.154, "left-10000", "right-0"),
        (-0.2, "left-0", "right-10000"),
    ],
)
def test_an_interval_beyond_the_scale_ends_with_the_scale(
    value: float, low: str, high: str
) -> None:
    """Student's interval may include values below 0 and above 1."""
    column = Column("x", "x", "percent", ends=("low", "high"))
    entry = Entry({"x": None, "low": value, "high": value}, column)
    mark = Mark("ada", Headline("x", "", "t", "x"), entry)
    assert mark.positions == {"low": low, "high": high}
